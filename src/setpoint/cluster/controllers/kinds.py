"""The kinds of a cluster as they come and go, for controllers that look after objects of any kind.

Such a controller sees metadata alone, so a kind that no class describes gets one that has nothing else.
"""

from __future__ import annotations

import types
from collections.abc import Awaitable, Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import TypeAlias

from setpoint.api import GroupVersionResource
from setpoint.cache import Cache
from setpoint.client import Client
from setpoint.controller import Context, Controller, ControllerRuntime, Reader, Watch
from setpoint.k8s.apiextensions.v1 import CustomResourceDefinition
from setpoint.objects import KindInfo, Object, Request, Scheme, kind, kind_of

NEEDED = ("delete", "list", "watch")
"""Verbs without which nobody can look after objects of a kind."""


class Kind:
    """A kind that is looked after.

    `watched` is the class by which the cache knows it; `head` reads the same objects, their metadata alone. One that is `asleep` has had no
    objects so far, and is not watched.
    """

    __slots__ = ("asleep", "head", "info", "watched")

    def __init__(self, info: KindInfo, watched: type[Object] | None, *, asleep: bool = False) -> None:
        self.info = info
        self.head = head_class(info)
        self.watched = watched or self.head
        self.asleep = asleep

    @property
    def resource(self) -> str:
        """Its name, whatever the version: `pods`, `deployments.apps`."""
        return self.info.group_version_resource.group_resource


class Kinds:
    """The kinds that are looked after at present."""

    def __init__(self) -> None:
        self._by_resource: dict[str, Kind] = {}
        self._by_kind: dict[tuple[str, str], Kind] = {}

    def add(self, kind: Kind) -> None:
        """One more."""
        self._by_resource[kind.resource] = kind
        self._by_kind[kind.info.group, kind.info.kind] = kind

    def remove(self, kind: Kind) -> None:
        """One less. Does nothing if another has taken its place."""
        if self._by_resource.get(kind.resource) is kind:
            del self._by_resource[kind.resource]
        if self._by_kind.get((kind.info.group, kind.info.kind)) is kind:
            del self._by_kind[kind.info.group, kind.info.kind]

    def find(self, resource: str) -> Kind | None:
        """The kind that a URL names."""
        return self._by_resource.get(resource)

    def named(self, group: str, kind: str) -> Kind | None:
        """The kind that an object names."""
        return self._by_kind.get((group, kind))

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._by_resource.values()))


@lru_cache(1024)
def head_class(info: KindInfo) -> type[Object]:
    """A class that reads the metadata of a kind's objects, and can delete them."""
    declare = kind(group=info.group, version=info.version, scope=info.scope, name=info.kind, plural=info.plural, singular=info.singular)
    return declare(types.new_class(info.kind, (Object,)))


def class_of(info: KindInfo, scheme: Scheme) -> type[Object] | None:
    """The class that stands for a kind: the one that somebody uses already, or the built-in one."""
    known = scheme.find_kind(info.group_version_kind)
    if known is not None:
        return known
    try:
        module = import_module(f"setpoint.k8s.{info.group.partition('.')[0] or 'core'}.{info.version}")
    except ModuleNotFoundError:
        return None
    found = getattr(module, info.kind, None)
    return found if found is not None and kind_of(found).group_version_kind == info.group_version_kind else None


HasObjects: TypeAlias = Callable[[GroupVersionResource, Callable[[], object]], bool]
"""Whether there are objects of a kind; if not, the function is called when there are."""


async def built_in(client: Client) -> list[KindInfo]:
    """The kinds that are there without a definition."""
    defined = {f"{crd.spec.names.plural}.{crd.spec.group}" for crd in await client.list(CustomResourceDefinition)}
    found: dict[str, KindInfo] = {}
    for one in await client.discovery.everything():
        resource = one.info.group_version_resource.group_resource
        if resource not in defined and all(verb in one.verbs for verb in NEEDED):
            found.setdefault(resource, one.info)  # one version of each is enough: the preferred one comes first
    return list(found.values())


def defined_by(crd: CustomResourceDefinition | None) -> KindInfo | None:
    """The kind that a definition makes the server serve, in the version in which it is kept; None while it does not."""
    if crd is None or not any(c.type == "Established" and c.status == "True" for c in crd.status.conditions):
        return None
    served = [version for version in crd.spec.versions if version.served]
    if not served:
        return None
    version = next((version for version in served if version.storage), served[0])
    names = crd.spec.names
    return KindInfo(
        group=crd.spec.group,
        version=version.name,
        kind=names.kind,
        plural=names.plural,
        singular=names.singular or names.kind.lower(),
        list_kind=names.list_kind or f"{names.kind}List",
        scope="Namespaced" if crd.spec.scope == "Namespaced" else "Cluster",
    )


Watcher = Callable[[Kind], Watch | None]


class Follower:
    """A reconciler of CustomResourceDefinitions: keeps `kinds` in step with them, and lets other controllers, while they run, watch what
    each defines.
    """

    def __init__(self, kinds: Kinds, cache: Cache, scheme: Scheme) -> None:
        self._kinds = kinds
        self._cache = cache
        self._scheme = scheme
        self._watchers: list[tuple[ControllerRuntime, Watcher]] = []
        self.awoken: Callable[[Reader, Kind], Awaitable[None]] | None = None
        """Called with each kind that had been asleep, once it is watched."""

    def controller(self) -> Controller[CustomResourceDefinition]:
        """The controller that runs it. A kind that does not let itself be listed holds up nobody else, and is tried again."""
        return Controller(CustomResourceDefinition, name="kinds", reconciler=self, concurrency=8, deadline=30)

    def let_watch(self, runtime: ControllerRuntime, watcher: Watcher) -> None:
        """From now on each kind that comes is watched by that controller as `watcher` says: None for not at all."""
        self._watchers.append((runtime, watcher))

    def start(self, info: KindInfo, *, asleep: bool) -> Kind:
        """Takes a kind that is there from the start. One that is asleep is watched as soon as a run is asked for its resource's name."""
        kind = Kind(info, None if asleep else class_of(info, self._scheme), asleep=asleep)
        self._kinds.add(kind)
        return kind

    async def __call__(self, ctx: Context, request: Request) -> None:
        """One run: the definition's kind is followed as it is now, or not at all. A kind that is asleep is woken."""
        sleeper = self._kinds.find(request.name)
        if sleeper is not None and sleeper.asleep:
            await self._wake(ctx, sleeper)
            return
        info = defined_by(await ctx.get(CustomResourceDefinition, request))
        known = self._kinds.find(request.name)
        if known is not None and known.info == info:
            return
        elsewhere = known is not None and info is not None and known.info.group_version_kind != info.group_version_kind
        if known is not None and not elsewhere:
            await self._drop(known)
        if info is not None:
            await self._take_up(Kind(info, class_of(info, self._scheme)))
        if known is not None and elsewhere:
            # Kept in another version now: both have been watched for a moment, so that nothing was missed.
            await self._drop(known)

    async def _take_up(self, kind: Kind) -> None:
        self._kinds.add(kind)
        try:
            await self._watch(kind)
        except BaseException:
            await self._drop(kind)
            raise

    async def _wake(self, reader: Reader, kind: Kind) -> None:
        kind.watched = class_of(kind.info, self._scheme) or kind.head
        try:
            await self._watch(kind)
            kind.asleep = False  # in the same turn as the last watcher begins to hear of it
            if self.awoken is not None:
                await self.awoken(reader, kind)
        except BaseException:
            kind.asleep = True
            await self._unwatch(kind)  # and no more than that: others may have watched it all along
            raise

    async def _watch(self, kind: Kind) -> None:
        for runtime, watcher in self._watchers:
            if (watch := watcher(kind)) is not None:
                await runtime.add_watch(watch)

    async def _unwatch(self, kind: Kind) -> None:
        for runtime, _ in self._watchers:
            await runtime.remove_watches(kind.watched)

    async def _drop(self, kind: Kind) -> None:
        self._kinds.remove(kind)
        await self._unwatch(kind)
        await self._cache.forget(kind.watched)
