"""O14: what a status says is so. O15: what is read is watched."""

from __future__ import annotations

from tests.levelcheck.oracles.build import Tape, obj

from setpoint.levelcheck.oracles.honest import dishonest, honesty, unwatched
from setpoint.levelcheck.plan import Site
from setpoint.levelcheck.recording import Recording, TimerSet


def _observed(observed: int, generation: int, *, by: str = "", **metadata: object) -> Recording:
    tape = Tape()
    tape.put(obj("shops.example.com default/web", 1), by="user")
    tape.put(obj("shops.example.com default/web", 1, metadata={"generation": 1}, status={"observedGeneration": 1}), by=by)
    now = obj("shops.example.com default/web", 1, metadata={"generation": generation, **metadata}, status={"observedGeneration": observed})
    tape.put(now, by=by)
    tape.rest()
    return tape.recording()


def test_an_observed_generation_that_is_not_the_generation_at_rest_is_a_finding() -> None:
    (found,) = honesty(_observed(2, 2), _observed(1, 2))
    assert (found.oracle, found.field) == ("O14", ".status.observedGeneration")
    assert found.sentence == "shops default/web says that it has observed generation 1, and is at 2"


def test_unless_the_reference_has_it_or_somebody_else_writes_it_or_the_object_is_being_deleted() -> None:
    assert honesty(_observed(1, 2), _observed(1, 2)) == []
    assert dishonest(_observed(1, 2, by="environment")) == []
    assert dishonest(_observed(1, 2, deletionTimestamp="2026-01-01T00:00:00Z")) == []
    assert dishonest(_observed(2, 2)) == []


def test_ready_with_a_child_that_is_not_is_a_warning() -> None:
    shop = obj("shops.example.com default/web", 1, status={"conditions": [{"type": "Ready", "status": "True"}]})
    tape = Tape()
    tape.put(obj("shops.example.com default/web", 1), by="user")
    tape.put(shop)
    tape.put(obj("deployments.apps default/web", 2, owner=shop, spec={"replicas": 2}, status={"readyReplicas": 1}), by="environment")
    tape.rest()
    (found,) = dishonest(tape.recording())
    assert found.warning
    assert found.sentence == "shops default/web says that it is Ready, and deployments default/web is not ready"


def test_what_is_read_and_neither_watched_nor_polled_is_warned_of() -> None:
    tape = Tape()
    tape.begin()
    tape.read("secrets default/key")
    tape.end()
    (found,) = unwatched(tape.recording(watched=("configmaps",)))
    assert (found.oracle, found.warning, found.resource) == ("O15", True, "secrets")
    assert found.sentence == "runs read secrets (shop.py:10), and neither a watch nor a timer tells of their changes"
    assert unwatched(tape.recording(watched=("secrets",))) == []
    tape.moments.append(TimerSet(at=9.0, process="p1", site=Site("timer", "shop", "default/web"), after=60.0, cause="timer"))
    assert unwatched(tape.recording()) == []
