"""The cache: every informer of a manager."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Iterable
from typing import TypeAlias

from setpoint.api import GroupVersionKind, LabelSelector
from setpoint.cache.form import WHOLE, Form
from setpoint.cache.informer import Informer
from setpoint.cache.namespaced import AnyInformer, NamespacedInformer
from setpoint.cache.packing import Packing
from setpoint.cache.reflector import Server
from setpoint.cache.scope import Scope
from setpoint.cache.selection import Selection
from setpoint.objects import KindInfo, Object, kind_of
from setpoint.objects.scheme import Scheme
from setpoint.objects.strip import Strip

_Place: TypeAlias = tuple[Selection, bool]
"""Under which selection, and whether of metadata only."""


class Cache:
    """Informers, each declared by somebody who watches, owns or reads its kind. Undeclared kinds cost nothing.

    `scope` says which namespaces are looked at: kinds that have namespaces are listed and watched in each of them, and nowhere else.
    """

    def __init__(self, connection: Server, scheme: Scheme, *, scope: Scope | None = None) -> None:
        self.scope: Scope = scope or Scope(None)
        self.own_writes: bool = True
        """Whether reads see this process's own writes before their events come. The level checker asks what happens where they do not."""
        self._server = connection
        self._scheme = scheme
        self._forms: dict[GroupVersionKind, Form] = {}
        self._informers: dict[GroupVersionKind, dict[_Place, AnyInformer]] = {}
        self._tasks: dict[Informer, asyncio.Task[None]] = {}
        self._ending: dict[asyncio.Task[None], None] = {}
        self._claims: dict[AnyInformer, int] = {}
        self._context: contextvars.Context | None = None
        self._ended: asyncio.Future[None] | None = None

    @property
    def informers(self) -> list[Informer]:
        """All of them, in the order in which they were declared; of a kind in several namespaces, one for each."""
        return [informer for declared in self._declared() for informer in _parts(declared)]

    def configure(self, kind: type[Object], *, strip: Iterable[str] = (), compress: bool = False) -> None:
        """Says what is kept of the objects of a kind, before anything of it is declared.

        `strip` names parts that are left out, such as `data`, `metadata.managedFields` or `metadata.annotations["example.com/x"]`: reads
        give objects without them. An update that touches one of them reads the object live first. `compress` keeps them compressed by
        zstd.

        Raises `ValueError` for what is no path, or cannot be left out; `ImportError` where there is no zstd; `RuntimeError` where the kind
        is watched already.
        """
        known = kind_of(kind).group_version_kind
        if self._informers.get(known):
            raise RuntimeError(f"{kind.__name__} is watched already: configure the cache before controllers are added")
        self._forms[known] = Form(strip=Strip(strip), packing=Packing() if compress else None)

    def form_of(self, info: KindInfo) -> Form:
        """What is kept of the objects of a kind."""
        return self._forms.get(info.group_version_kind, WHOLE)

    def informer(
        self, kind: type[Object], *, labels: str = "", fields: str = "", namespace: str = "", metadata_only: bool = False
    ) -> AnyInformer:
        """Declares an informer, or gives the one declared before; while the cache runs it starts at once, and runs until `release`.

        It holds the objects of all namespaces that the cache looks at, or of `namespace` alone. With `metadata_only` their metadata are
        enough: where all of the same objects is kept anyway, that informer is given.

        Raises `SelectorError`, `TypeError` for a class without `@kind`, `SchemeConflict` where another class stands for the same kind.
        """
        self._scheme.add(kind)
        info = kind_of(kind)
        selection = Selection.parse(labels=labels, fields=fields, namespace=namespace)
        of_kind = self._informers.setdefault(info.group_version_kind, {})
        informer = of_kind.get((selection, False))
        if informer is None and (narrow := of_kind.get((selection, True))) is not None:
            if metadata_only:
                informer = narrow
            elif self._ended is None:  # so that one copy serves both, whoever was declared first
                informer = of_kind[selection, False] = of_kind.pop((selection, True))
                informer.become_whole(self._form(info, metadata_only=False))
        if informer is None:
            informer = of_kind[selection, metadata_only] = self._make(kind, selection, metadata_only)
        self.claim(informer)
        return informer

    def claim(self, informer: AnyInformer) -> None:
        """One more needs it, as whoever has declared it does."""
        self._claims[informer] = self._claims.get(informer, 0) + 1

    async def release(self, informer: AnyInformer) -> None:
        """One less needs it. When nobody does any more, its watch is closed, and whoever listens to it hears nothing more."""
        left = self._claims.get(informer, 0) - 1
        if left > 0:
            self._claims[informer] = left
        elif self._claims.pop(informer, None) is not None:
            of_kind = self._informers[informer.info.group_version_kind]
            for place in [place for place, known in of_kind.items() if known is informer]:
                del of_kind[place]
            await self._end_all(_parts(informer))

    def covers(self, informer: AnyInformer, namespace: str | None, labels: LabelSelector, name: str = "") -> bool:
        """Whether an informer holds, once it is whole, everything that such a read may find: else what it lacks may exist."""
        if namespace is not None and not isinstance(informer, Informer) and not self.scope.holds(namespace):
            return False
        return informer.selection.covers(namespace=namespace, labels=labels, name=name)

    def informers_of(self, info: KindInfo) -> list[Informer]:
        """Every informer of a kind: our own writes go to each of them."""
        return [informer for declared in self._informers.get(info.group_version_kind, {}).values() for informer in _parts(declared)]

    def declared(self, info: KindInfo) -> list[AnyInformer]:
        """The informers of a kind; one for all namespaces that are looked at."""
        return list(self._informers.get(info.group_version_kind, {}).values())

    def holding(self, info: KindInfo) -> list[AnyInformer]:
        """The informers of a kind that hold its objects, and not just their metadata; one for all namespaces that are looked at."""
        return [informer for informer in self.declared(info) if not informer.metadata_only]

    # namespaces

    def set_namespaces(self, names: Iterable[str]) -> None:
        """Looks at these namespaces from now on. What has come is listed, and its objects heard of. The watches of what has gone are
        closed, and its objects have left, which is no deletion.

        Raises `ValueError` for what is no name of a namespace, and where all are looked at.
        """
        gone, come = self.scope.set(names)
        spread = [informer for informer in self._declared() if isinstance(informer, NamespacedInformer)]
        for namespace in gone:
            for informer in spread:
                self._end(informer.leave(namespace))
        for namespace in come:
            for informer in spread:
                self._enter(informer, namespace)

    def _enter(self, informer: NamespacedInformer, namespace: str) -> None:
        selection = Selection(namespace, informer.selection.labels, informer.selection.fields)
        part = Informer(self._server, informer.kind, selection, self._form(informer.info, informer.metadata_only))
        informer.enter(namespace, part)
        if self._ended is not None:
            self._start(part)

    # its life

    async def forget(self, kind: type[Object]) -> None:
        """Ends and forgets the informers of a kind that is gone, and the kind. Whoever still listens to one of them hears nothing more."""
        for declared in self._informers.pop(kind_of(kind).group_version_kind, {}).values():
            self._claims.pop(declared, None)
            await self._end_all(_parts(declared))
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
            await asyncio.gather(*tasks.values(), *self._ending, return_exceptions=True)

    async def synced(self) -> None:
        """Waits until every informer has had its first complete list, those included that are declared meanwhile."""
        while waiting := [informer for informer in self._declared() if not informer.has_synced]:
            for informer in waiting:
                await informer.synced()

    def _declared(self) -> list[AnyInformer]:
        return [informer for of_kind in self._informers.values() for informer in of_kind.values()]

    def _form(self, info: KindInfo, metadata_only: bool) -> Form:
        form = self.form_of(info)
        return form.of_metadata() if metadata_only else form

    def _make(self, kind: type[Object], selection: Selection, metadata_only: bool) -> AnyInformer:
        info = kind_of(kind)
        if self.scope.names is None or selection.namespace or not info.namespaced:
            informer = Informer(self._server, kind, selection, self._form(info, metadata_only))
            if self._ended is not None:
                self._start(informer)
            return informer
        spread = NamespacedInformer(kind, selection, self.scope, metadata_only=metadata_only)
        for namespace in self.scope.names:
            self._enter(spread, namespace)
        return spread

    def _start(self, informer: Informer) -> None:
        # In the context of whoever runs the cache: one declared from within a reconciler's run must not carry what belongs to that run.
        assert self._context is not None
        loop = asyncio.get_running_loop()
        name = f"reflector-{informer.info.plural}.{informer.info.group}".rstrip(".")
        task = loop.create_task(informer.run(), name=name, context=self._context.copy())
        task.add_done_callback(self._report)
        self._tasks[informer] = task

    async def _end_all(self, informers: Iterable[Informer]) -> None:
        for informer in informers:
            self._end(informer)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _end(self, informer: Informer) -> None:
        informer.end()  # whoever waits for it to have come so far would wait for ever
        task = self._tasks.pop(informer, None)
        if task is not None:
            self._ending[task] = None
            task.add_done_callback(lambda ended: self._ending.pop(ended, None))
            task.cancel()

    def _report(self, task: asyncio.Task[None]) -> None:
        """A reflector ends when it is told to; if one has ended by itself, that must not stay hidden: its kind would go stale for good."""
        if task in self._tasks.values() and self._ended is not None and not self._ended.done():
            error = RuntimeError(f"{task.get_name()} has ended by itself")
            error.__cause__ = None if task.cancelled() else task.exception()
            self._ended.set_exception(error)


def _parts(informer: AnyInformer) -> list[Informer]:
    return [informer] if isinstance(informer, Informer) else informer.parts
