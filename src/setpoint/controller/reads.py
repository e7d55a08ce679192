"""Reads: from the cache where an informer covers them, live where none does."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Protocol, TypeAlias, TypeVar

from setpoint.api import LabelSelector
from setpoint.cache import AnyInformer, Selection
from setpoint.client import Client
from setpoint.objects import DecodeError, KindInfo, Object, Request, decode, decode_head, kind_of
from setpoint.objects.indexes import IndexKey

from .events import CacheRead
from .said import Said, log
from .tools import RunState
from .view import View

K = TypeVar("K", bound=Object)
Labels: TypeAlias = LabelSelector | str | Mapping[str, str] | None


class Reader(Protocol):
    """Reads objects. Each object given is the caller's own: changing it changes nothing else."""

    async def get(self, kind: type[K], key: Request | str, /, *, namespace: str | None = None, live: bool = False) -> K | None:
        """The object, None if there is none."""
        ...

    async def list(
        self,
        kind: type[K],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        owner: Object | None = None,
        index: IndexKey[K] | None = None,
        live: bool = False,
    ) -> builtins.list[K]:
        """The objects of a kind, of all namespaces unless one is given."""
        ...


class CachedReader:
    """The `Reader` of mappers, and the reading half of a context.

    A read is served from the cache's view, which includes this process's own writes, if the cache holds everything that the read could
    find. Else it goes to the server, which is said once for each kind. `live=True` goes there in any case. Where the manager watches
    certain namespaces, "all namespaces" are these, also on the server, which may allow no more. A run that has ended reads nothing.
    """

    def __init__(self, client: Client, view: View, said: Said, run: RunState | None = None) -> None:
        self._client = client
        self._view = view
        self._said = said
        self._run = run

    async def get(self, kind: type[K], key: Request | str, /, *, namespace: str | None = None, live: bool = False) -> K | None:
        """The object, None if there is none. A name alone is looked for in `namespace`.

        It is the caller's own, as of the cache, this process's own writes included; `live=True` asks the server. Raises `DecodeError` if it
        cannot be read, `ApiError` if it had to be read live and could not be.
        """
        if self._run is not None:
            self._run.check_open()
        client = self._client
        info = client.info_of(kind)
        where = client.key(info, key, namespace)
        if not live:
            found, certain = self._view.read(kind, info, where)
            if certain:
                self._tell(info, where, 0 if found is None else 1)
                return None if found is None else decode(kind, found)
            # Not in a filtered cache is "not seen", never proof of absence.
            self._say_live(info, where.namespace)
        return await self._asked_live().get(kind, where, live=True)

    async def list(
        self,
        kind: type[K],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        owner: Object | None = None,
        index: IndexKey[K] | None = None,
        live: bool = False,
    ) -> builtins.list[K]:
        """The objects of a kind: of one namespace, or of all that are watched where it is None; with `labels`; those that `owner` controls;
        those that `index` finds. From the cache as `get`; one that cannot be read is left out, and logged, and the others are given.

        Raises `ApiError` if they had to be read live and could not be.
        """
        if self._run is not None:
            self._run.check_open()
        info = self._client.info_of(kind)
        if index is not None and not _finds(index.index.kind, kind, info):
            raise TypeError(f"{index.index!r} is an index of {index.index.kind.__name__}, and finds no {info.kind}")
        selector = labels if isinstance(labels, LabelSelector) else LabelSelector.parse(labels)
        if not live:
            informer = self._view.covering(kind, selector, namespace, index)
            if informer is not None:
                return self._from_cache(informer, kind, namespace, selector, owner, index)
            self._say_live(info, namespace or "")
        names = self._view.scope.names if namespace is None and info.namespaced else None
        found: builtins.list[K] = []
        for name in (namespace,) if names is None else sorted(names):
            found += await self._asked_live().list(kind, namespace=name, labels=selector, owner=owner, index=index, live=True)
        return found

    def _from_cache(
        self,
        informer: AnyInformer,
        kind: type[K],
        namespace: str | None,
        labels: LabelSelector,
        owner: Object | None,
        index: IndexKey[K] | None,
    ) -> builtins.list[K]:
        uid = owner.uid if owner is not None else None
        found: builtins.list[K] = []
        for data in informer.list(namespace=namespace, labels=labels, owner=uid, index=index):
            try:
                found.append(decode(kind, data))
            except DecodeError as error:
                log.error("left out of a list: %s", error)
        self._tell(informer.info, None, len(found))
        return found

    def _tell(self, info: KindInfo, key: Request | None, found: int) -> None:
        """Tells the observer what a run has read; what mappers read is nobody's run."""
        if self._run is not None and (observer := self._client.connection.world.observer).heard:
            observer.emit(CacheRead(run=self._run.name, info=info, key=key, found=found))

    def _asked_live(self) -> Client:
        """Who reads from the server, where the cache does not do."""
        return self._client

    def _say_live(self, info: KindInfo, namespace: str) -> None:
        reads = f"reads of {info.plural} ({info.api_version})"
        if info.namespaced and not self._view.scope.holds(namespace):
            text = f"{reads} in namespace {namespace!r} go to the API server each time: the manager does not watch that namespace"
            return self._said.once("live", f"{info.plural} in {namespace}", text)
        held = self._view.informers(info)
        if held and all(informer.metadata_only for informer in held):
            why = "only their metadata are cached (metadata_only=True)"
        elif held:
            why = f"the cache holds some of them only ({held[0].selection or 'all'}), or is not complete yet, or is behind what was heard"
        else:
            why = "no cache of this controller covers them. Watch the kind (owns=[...] or controller.watch(...)) to have them cached"
        return self._said.once("live", info.plural, f"{reads} go to the API server each time: {why}")


def _finds(indexed: type[Object], kind: type[Object], info: KindInfo) -> bool:
    """Whether an index of the one finds objects of the other: the same kind, maybe as another class, or a class of which it is one."""
    return issubclass(kind, indexed) or kind_of(indexed).group_version_kind == info.group_version_kind


async def keys_from(reader: Reader, kind: type[K], selection: Selection, index: IndexKey[K] | None = None) -> list[Request]:
    """The keys of all objects that are selected, or of those among them that `index` finds.

    Where a cache looks after just these, no object is decoded for that; and what it does not have yet is no loss, since a controller hears
    of it when it comes.
    """
    informer = reader._view.selecting(kind, selection) if isinstance(reader, CachedReader) else None
    if informer is None:
        return [obj.key for obj in await reader.list(kind, labels=selection.labels, index=index)]
    return informer.keys() if index is None else [decode_head(data).key for data in informer.list(index=index)]


async def uid_from(reader: Reader, kind: type[Object], key: Request) -> str | None:
    """The UID of an object; None if there is none, or if a cache does not know it: a request would be too much for that."""
    if isinstance(reader, CachedReader):
        found, _ = reader._view.read(kind, reader._client.info_of(kind), key)
        return None if found is None else decode_head(found).uid
    obj = await reader.get(kind, key)
    return None if obj is None else obj.metadata.uid
