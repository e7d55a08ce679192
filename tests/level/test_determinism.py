"""The whole stack in simulated time on one loop: the same seed gives the same trace, in any process; another seed gives another one."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("trace_program.py")


def trace(seed: str, hash_seed: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "error", str(PROGRAM), seed], env={"PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=True
    ).stdout


def test_the_same_seed_gives_the_same_trace_under_every_hash_seed_and_another_seed_another_one():
    one, same, other = trace("1", "1"), trace("1", "4242"), trace("2", "1")
    assert len(one.splitlines()) > 200
    for kind in ("sent ", "done ", "Delivered(", "QueueAdded(", "QueueTaken(", "TimerSet(", "RunStarted(", "RunEnded("):
        assert kind in one, f"the trace holds no {kind}"
    assert "after=3600" in one
    assert one == same
    assert one != other
