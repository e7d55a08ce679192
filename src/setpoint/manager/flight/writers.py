"""Who made a change: a controller of this process, whose write was answered with just that version, or the manager that the object names.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
"""

from __future__ import annotations

import msgspec

from setpoint.cache import Change

_KEPT = 8192
"""So many own writes are remembered; their events come back within moments."""


class _Manager(msgspec.Struct, rename="camel", gc=False):
    manager: str = ""
    operation: str = ""
    subresource: str = ""
    time: str = ""
    fields_v1: msgspec.Raw = msgspec.Raw(b"")

    @property
    def place(self) -> tuple[str, str, str]:
        return self.manager, self.operation, self.subresource


class _Metadata(msgspec.Struct, rename="camel"):
    managed_fields: list[_Manager] | None = None


class _Object(msgspec.Struct):
    metadata: _Metadata


_read = msgspec.json.Decoder(_Object).decode


class OwnWrites:
    """The versions that the writes of runs came to, and which run wrote each."""

    def __init__(self) -> None:
        self._writers: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._writers)

    def add(self, uid: str, version: str, writer: str) -> None:
        """A run's write was answered with this version; "" for a deletion, whose version no answer tells."""
        self._writers[f"{uid} {version}"] = writer
        if len(self._writers) > _KEPT:
            del self._writers[next(iter(self._writers))]

    def writer(self, uid: str, version: str) -> str | None:
        """The run that wrote it; None if none of this process is known to have."""
        return self._writers.get(f"{uid} {version}")


def foreign_writer(change: Change) -> str:
    """The field manager that made the change, as the object itself tells; "" where it does not, as after a deletion.

    A manager's entry moves with its writes. Where none has moved (two writes within a second), the one that moved last is taken.
    """
    new, old = change.new, change.old
    if new is None:
        return ""
    now = _managers(new)
    if not now:
        return ""
    before = {entry.place: entry for entry in _managers(old)} if old is not None else {}
    moved = [entry for entry in now if (known := before.get(entry.place)) is None or not _same(known, entry)]
    return max(moved or now, key=lambda entry: entry.time).manager


def _same(one: _Manager, other: _Manager) -> bool:
    return one.time == other.time and bytes(one.fields_v1) == bytes(other.fields_v1)


def _managers(data: bytes) -> list[_Manager]:
    try:
        return _read(data).metadata.managed_fields or []
    except msgspec.DecodeError:
        return []  # a transform has left something else there; who wrote it cannot be told
