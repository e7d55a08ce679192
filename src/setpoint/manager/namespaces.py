"""Which namespaces a manager watches: a fixed set, one that is set at run time, or those with certain labels.

A namespace that comes is listed, and its objects are reconciled like those of a start-up listing. One that goes takes its watches with it:
its requests are passed over, and nothing is run because its objects are out of sight, which is no deletion.
"""

from __future__ import annotations

import asyncio

from setpoint.api import LabelSelector, SelectorError
from setpoint.cache import Cache, Change, Scope
from setpoint.k8s.core.v1 import Namespace


def scope_of(namespace: str, namespaces: tuple[str, ...] | None, labels: str) -> Scope:
    """The scope that a manager begins with. Raises `ValueError` for what contradicts itself, or is no name or selector."""
    names = tuple(name for name in (namespace, *(namespaces or ())) if name)
    if not labels:
        return Scope(None if namespaces is None and not names else names)
    if names:
        raise ValueError(f"namespaces by name ({', '.join(names)}) and by labels ({labels}) exclude each other")
    try:
        LabelSelector.parse(labels)
    except SelectorError as error:
        raise ValueError(f"namespace_labels={labels!r} is no label selector: {error}") from error
    return Scope((), decided=False)


class Followed:
    """Keeps a cache's namespaces at those with the labels, which takes the right to list and watch namespaces, in the whole cluster."""

    def __init__(self, cache: Cache, labels: str) -> None:
        self._cache = cache
        self._informer = cache.informer(Namespace, labels=labels)
        self._names: dict[str, None] = {}

    async def run(self) -> None:
        """Follows them until cancelled."""
        await self._informer.synced()
        keys = self._informer.keys()
        self._names = dict.fromkeys(key.name for key in keys)
        self._cache.set_namespaces(self._names)
        unsubscribe = self._informer.subscribe(self._hear)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            unsubscribe()

    def _hear(self, change: Change) -> None:
        if change.initial:
            return  # known already
        name, is_there = change.key.name, change.after is not None
        if is_there == (name in self._names):
            return  # something else about it has changed
        if is_there:
            self._names[name] = None
        else:
            del self._names[name]
        self._cache.set_namespaces(self._names)
