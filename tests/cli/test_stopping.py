"""Which signals count: the first, and any other one after it; not the echo of the first."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from setpoint.cli import stopping
from setpoint.cli.stopping import AT_ONCE, Ending, on_signal
from setpoint.world import SimulatedClock


class Ended(BaseException):
    """What the process would have ended with."""


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time, to be set."""

    def end(text: str, code: int) -> None:
        raise Ended(text, code)

    monkeypatch.setattr(stopping, "_end", end)
    time = [100.0]
    ending, said = Ending(), []
    with on_signal(ending, said.append, 30, clock=SimulatedClock(lambda: time[0])):
        yield time
    assert ending.asked == bool(said)


def test_the_same_signal_at_once_is_the_same_request(now: list[float]) -> None:
    signal.raise_signal(signal.SIGTERM)
    for _ in range(3):
        now[0] += AT_ONCE / 4
        signal.raise_signal(signal.SIGTERM)
    now[0] += AT_ONCE / 2
    with pytest.raises(Ended):
        signal.raise_signal(signal.SIGTERM)


def test_another_signal_counts_however_soon_it_comes(now: list[float]) -> None:
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(Ended, match="second signal"):
        signal.raise_signal(signal.SIGINT)


def test_the_first_may_come_at_any_time(now: list[float]) -> None:
    now[0] = 0.0
    signal.raise_signal(signal.SIGINT)
