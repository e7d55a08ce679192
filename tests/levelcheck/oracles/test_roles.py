"""O9: of each role an owner has one live child."""

from __future__ import annotations

from tests.levelcheck.oracles.build import Tape, obj

from setpoint.levelcheck import Workload
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.oracles.roles import duplicates, duplicates_without_faults
from setpoint.levelcheck.recording import Recording

CASE = Case(target="x:y", workload=Workload(()), roles={"pods": lambda pod: pod["spec"].get("role")})


def _pods(
    *, lasting: bool, roles: tuple[str, str] = ("main", "main"), owners: tuple[int, int] = (1, 1), terminating: bool = False
) -> Recording:
    tape = Tape()
    for number, (role, owner) in enumerate(zip(roles, owners, strict=True), 2):
        first = terminating and number == 2
        metadata = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if first else {}
        shop = obj("shops.example.com default/web", owner)
        tape.put(obj(f"pods default/web-{number}", number, owner=shop, metadata=metadata, spec={"role": role}))
    if not lasting:
        tape.drop("pods default/web-2")
    tape.rest()
    return tape.recording()


_NOTHING = _pods(lasting=True, roles=("main", "other"))


def test_two_in_one_role_are_a_finding_whether_they_last_or_not() -> None:
    (found,) = duplicates(CASE, _NOTHING, _pods(lasting=True))
    assert (found.oracle, found.resource, found.role, found.warning) == ("O9", "pods", "main", False)
    assert found.sentence == "2 pods in the role main are there at rest: default/web-2 and default/web-3"
    (found,) = duplicates(CASE, _NOTHING, _pods(lasting=False))
    assert found.sentence == "2 pods in the role main are there at a time: default/web-2 and default/web-3"
    assert not found.warning


def test_a_hand_over_that_the_reference_has_too_is_a_warning() -> None:
    (found,) = duplicates(CASE, _pods(lasting=False), _pods(lasting=False))
    assert found.warning
    (found,) = duplicates_without_faults(CASE, _pods(lasting=False))
    assert found.warning
    (found,) = duplicates(CASE, _pods(lasting=False), _pods(lasting=True))
    assert not found.warning


def test_other_roles_other_owners_and_what_is_on_its_way_out_are_none() -> None:
    for recording in (_NOTHING, _pods(lasting=True, owners=(1, 2)), _pods(lasting=True, terminating=True)):
        assert duplicates(CASE, _NOTHING, recording) == []


def test_without_declared_roles_nothing_is_said() -> None:
    assert duplicates(Case(target="x:y", workload=Workload(())), _NOTHING, _pods(lasting=True)) == []
