"""Where a run first leaves its reference: the first change of an object that the reference does not have, or has and the run has not.

Objects are compared one by one, since a fault may well let two of them change in another order and do no harm. Points in time and the
server's bookkeeping do not count, nor do the letters that make a generated name unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from setpoint.levelcheck.recording import Changed, Faulted, Key, Recording
from setpoint.levelcheck.report.changes import decoded, is_time, plain


class Divergence(NamedTuple):
    """`here` is the change that the reference does not have, `missing` the one of the reference that does not come; either may be None."""

    here: Changed | None
    missing: Changed | None


def divergence(recording: Recording, reference: Recording) -> Divergence:
    """The first divergence after the first fault; both None where there is none. A run without faults is compared from its beginning."""
    ours, theirs = _by_object(recording), _by_object(reference)
    since = next((moment.at for moment in recording.moments if isinstance(moment, Faulted)), recording.began)
    here: list[Changed] = []
    missing: list[Changed] = []
    for role in {**ours, **theirs}:
        mine, expected = ours.get(role, []), theirs.get(role, [])
        same = 0
        while same < min(len(mine), len(expected)) and _same(mine[same], expected[same]):
            same += 1
        late = [change for change in mine[same:] if change.at >= since]
        here += late[:1]
        if not late:
            missing += expected[same : same + 1]
    first = min(here, key=lambda change: (change.at, change.revision), default=None)
    return Divergence(first, None if first else min(missing, key=lambda change: (change.at, change.revision), default=None))


def role_of(key: Key, state: Mapping[str, Any]) -> Key:
    """The object's key, with a generated name told by what it was generated from."""
    generated = (state.get("metadata") or {}).get("generateName")
    return Key(key.resource, key.namespace, f"{generated}*") if generated else key


def settled(value: Any) -> Any:
    """A state without what may differ between two runs in which the same happens."""
    return _timeless(plain(value))


def _by_object(recording: Recording) -> dict[Key, list[Changed]]:
    found: dict[Key, list[Changed]] = {}
    for change in recording.changes:
        found.setdefault(role_of(change.key, decoded(change.after)), []).append(change)
    return found


def _same(one: Changed, other: Changed) -> bool:
    return one.deleted == other.deleted and _canonical(one) == _canonical(other)


def _canonical(change: Changed) -> bytes:
    state = settled(decoded(change.after))
    if (state.get("metadata") or {}).get("generateName"):
        state = {**state, "metadata": {**state["metadata"], "name": "*"}}
    return msgspec.json.encode(state, order="deterministic")


def _timeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _timeless(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_timeless(each) for each in value]
    return "(a time)" if is_time(value) else value
