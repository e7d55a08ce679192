"""O11: no loop of writes that leads nowhere."""

from __future__ import annotations

import msgspec
from tests.levelcheck.oracles.build import Tape, obj

from setpoint.levelcheck.oracles.hot_loop import hot_loops
from setpoint.levelcheck.recording import Recording


def _quicker(recording: Recording, times: float) -> Recording:
    return msgspec.structs.replace(
        recording, moments=[msgspec.structs.replace(moment, at=moment.at / times) for moment in recording.moments]
    )


def _stamps(number: int, *, by: str = "") -> Tape:
    tape = Tape()
    for second in range(number):
        tape.begin()
        tape.put(obj("shops.example.com default/web", 1, status={"seen": f"2026-01-01T00:00:{second:02}Z"}), by=by, line="shop.py:9")
        tape.end()
    return tape


def test_a_time_stamp_written_again_and_again_is_a_loop() -> None:
    (found,) = hot_loops(_stamps(12).recording())
    assert (found.oracle, found.role, found.line, found.warning) == ("O11", "default/web", "shop.py:9", False)
    assert "comes back to the same state 10 times within a minute (shop.py:9)" in found.sentence


def test_progress_is_no_loop_nor_is_a_slow_beat_nor_what_others_write() -> None:
    tape = Tape()
    for step in range(30):
        tape.put(obj("shops.example.com default/web", 1, status={"done": step}))
    assert hot_loops(tape.recording()) == []
    assert hot_loops(_quicker(_stamps(12).recording(), 1 / 20)) == []
    assert hot_loops(_stamps(12, by="environment").recording()) == []


def test_children_made_and_taken_away_again_and_again_are_a_loop() -> None:
    tape = Tape()
    for number in range(25):
        name = f"pods default/web-b{number:04d}".replace("0", "x").replace("1", "z").replace("3", "w")
        tape.put(obj(name, number + 1, metadata={"generateName": "web-"}))
        tape.drop(name)
    (found,) = hot_loops(_quicker(tape.recording(), 10))
    assert found.sentence.startswith("pods default/web-* is created and deleted again and again")


def test_runs_without_writes_are_a_warning() -> None:
    tape = Tape()
    for _ in range(400):
        tape.begin()
        tape.end()
    (found,) = hot_loops(_quicker(tape.recording(), 100))
    assert found.warning


def _cascade(*, stale: int) -> Recording:
    """A fleet makes a ship, and the ship its log; both are taken away each time."""
    tape = Tape()
    for _ in range(25):
        tape.begin("fleet", "default/south")
        tape.read("shops.example.com", stale=stale)
        tape.put(obj("services default/clara", 1))
        tape.end()
        tape.begin("ship", "default/clara")
        tape.read("services")
        tape.put(obj("configmaps default/log", 2))
        tape.drop("configmaps default/log")
        tape.drop("services default/clara")
        tape.end()
    return _quicker(tape.recording(), 50)


def test_what_follows_from_old_news_is_no_loop_so_long_as_they_are_old() -> None:
    assert {found.resource for found in hot_loops(_cascade(stale=0))} == {"services", "configmaps"}
    assert hot_loops(_cascade(stale=1)) == []
