"""A guard: a Job for each generation of an object, the newest of which is kept."""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Waiver, Workload, apply, wait


def migration(script: str) -> dict[str, object]:
    """What the user wants."""
    return {
        "apiVersion": "guards.example.com/v1",
        "kind": "Migration",
        "metadata": {"name": "orders", "namespace": "default"},
        "spec": {"script": script},
    }


REASON = "a generation counts changes, so what is named after it tells of how many there were"

ROW = Row(
    name="a Job for each generation",
    bug="",
    workload=Workload.of(apply(migration("1.sql")), wait(), apply(migration("2.sql"))),
    waivers=(
        Waiver(oracle="O12", resource="jobs.batch", reason=REASON),
        Waiver(oracle="O12", resource="pods", reason=REASON),
        Waiver(oracle="O12", resource="migrations.guards.example.com", field=".status", reason=REASON),
    ),
)
