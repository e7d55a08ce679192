"""The cache: every informer of a manager."""

from __future__ import annotations

import asyncio
import contextvars

from setpoint.api import GroupVersionKind, LabelSelector
from setpoint.cache.informer import Informer
from setpoint.cache.reflector import Server
from setpoint.cache.selection import Selection
from setpoint.objects import KindInfo, Object, kind_of
from setpoint.objects.scheme import Scheme


class Cache:
    """Informers, each declared by somebody who watches, owns or reads its kind. Undeclared kinds cost nothing."""

    def __init__(self, connection: Server, scheme: Scheme) -> None:
        self._server = connection
        self._scheme = scheme
        self._informers: dict[GroupVersionKind, dict[Selection, Informer]] = {}
        self._tasks: dict[Informer, asyncio.Task[None]] = {}
        self._context: contextvars.Context | None = None
        self._ended: asyncio.Future[None] | None = None

    @property
    def informers(self) -> list[Informer]:
        """All of them, in the order in which they were declared."""
        return [informer for of_kind in self._informers.values() for informer in of_kind.values()]

    def informer(self, kind: type[Object], *, labels: str = "", fields: str = "", namespace: str = "") -> Informer:
        """Declares an informer, or gives the one declared before; while the cache runs it starts at once.

        Raises `SelectorError`, `TypeError` for a class without `@kind`, `SchemeConflict` where another class stands for the same kind.
        """
        self._scheme.add(kind)
        selection = Selection.parse(labels=labels, fields=fields, namespace=namespace)
        of_kind = self._informers.setdefault(kind_of(kind).group_version_kind, {})
        informer = of_kind.get(selection)
        if informer is None:
            informer = of_kind[selection] = Informer(self._server, kind, selection)
            if self._ended is not None:
                self._start(informer)
        return informer

    def find(self, kind: type[Object], *, labels: LabelSelector | None = None, namespace: str | None = None) -> Informer | None:
        """An informer that can answer a read of that kind in that namespace (None: in all) with those labels; None if there is none.

        One that has synced goes first, then the one declared first.
        """
        wanted = labels or LabelSelector()
        able = [
            informer
            for selection, informer in self._informers.get(kind_of(kind).group_version_kind, {}).items()
            if selection.covers(namespace=namespace, labels=wanted)
        ]
        return next((informer for informer in able if informer.has_synced), able[0] if able else None)

    def informers_of(self, info: KindInfo) -> list[Informer]:
        """Every informer of a kind: our own writes go to each of them."""
        return list(self._informers.get(info.group_version_kind, {}).values())

    async def forget(self, kind: type[Object]) -> None:
        """Ends and forgets the informers of a kind that is gone, and the kind. Whoever still listens to one of them hears nothing more."""
        for informer in self._informers.pop(kind_of(kind).group_version_kind, {}).values():
            task = self._tasks.pop(informer, None)
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        self._scheme.remove(kind)

    async def run(self) -> None:
        """Keeps every informer in step until cancelled."""
        if self._ended is not None:
            raise RuntimeError("this cache runs already")
        self._ended = asyncio.get_running_loop().create_future()
        self._context = contextvars.copy_context()
        try:
            for informer in self.informers:
                self._start(informer)
            await self._ended
        finally:
            self._ended = None
            tasks, self._tasks = self._tasks, {}
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)

    async def synced(self) -> None:
        """Waits until every informer has had its first complete list, those included that are declared meanwhile."""
        while waiting := [informer for informer in self.informers if not informer.has_synced]:
            for informer in waiting:
                await informer.synced()

    def _start(self, informer: Informer) -> None:
        # In the context of whoever runs the cache: one declared from within a reconciler's run must not carry what belongs to that run.
        assert self._context is not None
        loop = asyncio.get_running_loop()
        name = f"reflector-{informer.info.plural}.{informer.info.group}".rstrip(".")
        task = loop.create_task(informer.run(), name=name, context=self._context.copy())
        task.add_done_callback(self._report)
        self._tasks[informer] = task

    def _report(self, task: asyncio.Task[None]) -> None:
        """A reflector ends when it is told to; if one has ended by itself, that must not stay hidden: its kind would go stale for good."""
        if task in self._tasks.values() and self._ended is not None and not self._ended.done():
            error = RuntimeError(f"{task.get_name()} has ended by itself")
            error.__cause__ = None if task.cancelled() else task.exception()
            self._ended.set_exception(error)
