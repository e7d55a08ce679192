"""A guard: several controllers in one app, each of which looks at what the others write."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait


def team(colour: str) -> dict[str, object]:
    """What the user wants of a team."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Team",
        "metadata": {"name": "red", "namespace": "default"},
        "spec": {"colour": colour},
    }


def player(name: str, team: str) -> dict[str, object]:
    """What the user wants of a player."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Player",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"team": team},
    }


ROW = Row(
    name="several controllers in one app",
    bug="",
    workload=Workload.of(
        apply(player("ada", "red")),
        apply(player("grace", "red")),
        apply(team("crimson")),
        wait(),
        apply(team("scarlet")),
        wait(),
        delete(player("ada", "red")),
    ),
)
