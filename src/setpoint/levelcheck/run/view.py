"""`StateView`: the objects on the server as they are now, as plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from setpoint.levelcheck.recording import Key
from setpoint.levelcheck.run.wire import BOOKKEEPING

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution


class StateView:
    """A `State` for invariants, and what a recording keeps."""

    def __init__(self, run: Execution) -> None:
        self._run = run

    @property
    def outside(self) -> Mapping[str, Any]:
        """See `State`."""
        return self._run.outside

    def list(self, resource: str, namespace: str | None = None) -> list[dict[str, Any]]:
        """See `State`."""
        records = self._run.plane.server.storage.list(_collection(resource), prefix="" if namespace is None else f"{namespace}/").records
        return [msgspec.json.decode(record.value) for record in records]

    def get(self, key: Key) -> dict[str, Any] | None:
        """One object, or None."""
        record = self._run.plane.server.storage.get(_collection(key.resource), f"{key.namespace}/{key.name}" if key.namespace else key.name)
        return None if record is None else msgspec.json.decode(record.value)

    def everything(self) -> dict[Key, dict[str, Any]]:
        """All objects, but for bookkeeping."""
        found = {}
        for collection in self._collections():
            group, _, plural = collection.rpartition("/")
            resource = f"{plural}.{group}" if group else plural
            if resource in BOOKKEEPING:
                continue
            for record in self._run.plane.server.storage.list(collection).records:
                namespace, _, name = record.key.rpartition("/")
                found[Key(resource, namespace, name)] = msgspec.json.decode(record.value)
        return found

    def _collections(self) -> Iterable[str]:
        return sorted({kind.collection for kind in self._run.plane.server.kinds})


def _collection(resource: str) -> str:
    plural, _, group = resource.partition(".")
    return f"{group}/{plural}"
