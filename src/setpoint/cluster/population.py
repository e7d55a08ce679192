"""Of which kinds there are objects, and when the first one of a kind comes.

Who looks after objects of every kind need not watch those of which there are none. A cluster serves some sixty kinds; a simulation has
objects of a dozen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context

from setpoint.api import GroupVersionResource
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.storage import Change


class Population:
    """What lives on one server. Make it inside a running event loop, outside of any simulated process."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._waiting: dict[str, list[Callable[[], object]]] = {}
        self._context = copy_context()
        self._unsubscribe = server.storage.subscribe_durable(self._changed)

    def has(self, resource: GroupVersionResource, told: Callable[[], object]) -> bool:
        """Whether there are objects of a kind that is served. If not, `told` is called soon after there is the first one, once."""
        kind = self._server.kinds.find(resource)
        if kind is None or self._server.storage.list(kind.collection, limit=1).records:
            return True
        self._waiting.setdefault(kind.collection, []).append(told)
        return False

    def close(self) -> None:
        """Tells nobody any more."""
        self._waiting.clear()
        self._unsubscribe()

    def _changed(self, change: Change) -> None:
        for told in self._waiting.pop(change.collection, ()):
            # In a turn of its own: who made the change, and may be killed for it, has no part in what follows from that.
            asyncio.get_running_loop().call_soon(told, context=self._context)
