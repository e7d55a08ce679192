"""Whatever happens, in any order: the base is a prefix of the history, the view adds our own writes, and nothing is lost."""

import time
from collections.abc import Callable

import pytest

from setpoint.cache.machine import Machine
from setpoint.cache.store import Store
from setpoint.cache.view import Own, View

from .story import cut_down, mistake_of

SEEDS = 1000
CPU = 90.0
"""Seconds that they may take."""


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "setpoint.cache")


def test_a_thousand_stories_hold() -> None:
    started, told = time.process_time(), 0
    for seed in range(SEEDS):
        mistake = mistake_of(seed)
        assert not mistake, f"seed {seed}: {mistake}; it takes {cut_down(seed)}"
        told += 1
    assert told == 1000
    assert time.process_time() - started < CPU


def _replacing_without_removing(patch: pytest.MonkeyPatch) -> None:
    """A list adds, and what it lacks stays."""
    replace = Store.replace

    def keeping(self, found, version, *, anew=False):
        return replace(self, {**self._entries, **found}, version, anew=anew)

    patch.setattr(Store, "replace", keeping)


def _ending_own_writes_at_any_event(patch: pytest.MonkeyPatch) -> None:
    """An own write ends with the next event of its object, be it older."""

    def end(self, key):
        return self._overlay.pop(key, None) is not None

    patch.setattr(View, "_end", end)


def _taking_late_answers_for_new(patch: pytest.MonkeyPatch) -> None:
    """An answer that comes after a newer one takes its place."""

    def wrote(self, data):
        key, entry = self._form.read(data)
        if isinstance(entry.version, int) and not self.base.has_reached(entry.version):
            self._lay(key, Own(entry, entry.version))

    patch.setattr(View, "wrote", wrote)


def _skipping_the_first_event(patch: pytest.MonkeyPatch) -> None:
    """A resumed watch passes over what comes first, as if it were known."""
    follow = Machine._follow

    def skipping(self, state, lines):
        return follow(self, state, lines[1:] if state.seen is None and len(lines) > 1 else lines)

    patch.setattr(Machine, "_follow", skipping)


def _forgetting_deletes(patch: pytest.MonkeyPatch) -> None:
    """Our own delete is not seen before the server's word comes."""
    patch.setattr(View, "deleted", lambda self, key, uid: None)


@pytest.mark.parametrize(
    "breaking",
    [
        _replacing_without_removing,
        _ending_own_writes_at_any_event,
        _taking_late_answers_for_new,
        _skipping_the_first_event,
        _forgetting_deletes,
    ],
)
def test_a_cache_that_is_broken_is_found_out(breaking: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch)
    assert any(mistake_of(seed) for seed in range(200))
