"""Garbage collection: what is owned by nothing any more is deleted, whatever its kind.

An object whose owners are all gone is deleted; where some are left, it loses the references to the others. An owner is gone if the server,
asked just then, has no object of that name, or another one: its UID tells. What a cache lacks is a reason to ask and no more.

When an object goes, an index by owner finds what it owned, in all kinds at once, so nothing has to be searched and nothing is polled. When
the definition of a kind goes or changes, what objects of that kind owned is looked at. What was missed while no collector ran is found at
the start, when each object that has owners is looked at once.

An object that is deleted in the foreground is let go when nothing is left that blocks its owner's deletion; one that leaves behind what it
owns, when nothing refers to it any more.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from setpoint.client import Client
from setpoint.client.errors import NotServed
from setpoint.cluster.controllers.dependents import (
    FOREGROUND,
    ORPHAN,
    Dependents,
    collects,
    owner_group,
    owner_kind,
    references,
    waits_for,
    wish_of,
)
from setpoint.cluster.controllers.kinds import Kind, Kinds
from setpoint.controller import Context, Controller, Predicate, Reader, Result, Watch
from setpoint.controller.controller import AsyncMapper
from setpoint.controller.predicates import generation_changed
from setpoint.controller.signatures import Mapper
from setpoint.k8s.apiextensions.v1 import CustomResourceDefinition
from setpoint.objects import KindInfo, Object, OwnerReference, Request, decode_head, decode_meta

UNKNOWN_KIND_RETRY = 300.0
"""Seconds after which an object is looked at again whose owner is of a kind that the server does not have."""
UNSEEN_RETRY = 1.0
"""Seconds after which an owner is looked at again that waits for something which the caches have not heard of."""

Owner: TypeAlias = Literal["there", "waiting", "gone", "unknown", "misplaced"]
"""`waiting`: it is there, and is deleted in the foreground."""


def _ownership_changed(old: Object | None, new: Object | None) -> bool:
    if old is None or new is None:
        return True
    return old.metadata.owner_references != new.metadata.owner_references or wish_of(old) != wish_of(new)


ownership_changed: Predicate[Any] = Predicate(_ownership_changed)


class GarbageCollector:
    """The reconciler. A request names an object of any kind, as `widgets.example.com/name`; see `request_for`."""

    def __init__(self, kinds: Kinds, client: Client) -> None:
        self._kinds = kinds
        self._client = client
        self._dependents = Dependents(kinds)
        self._undefined: dict[str, None] = {}
        """Kinds whose definitions were there and are gone, and all their objects with them."""

    def controller(self, kinds: list[Kind]) -> Controller[CustomResourceDefinition]:
        """The controller that runs it, watching these kinds from the start.

        A controller has a kind of its own, whose keys come without the kind: definitions, since they have to be watched anyway.
        """
        controller = Controller(CustomResourceDefinition, name="garbage-collector", predicate=ownership_changed, reconciler=self)
        controller.watch(CustomResourceDefinition, map=self._owned_by_kind, predicate=generation_changed)
        for kind in kinds:
            if collects(kind):
                controller.watch(kind.watched, map=self._mapper(kind), predicate=ownership_changed, metadata_only=True)
        return controller

    def watch(self, kind: Kind) -> Watch | None:
        """How a kind that has come is watched."""
        if not collects(kind):
            return None
        mapper = self._mapper(kind)
        return Watch(kind.watched, Mapper(mapper, True, "owned_by"), predicate=ownership_changed, metadata_only=True)

    async def __call__(self, ctx: Context, request: Request) -> Result | None:
        """One run: looks at one object that has owners, or that says what is to become of what it owns."""
        kind, key = self._read(request)
        if kind is None:
            return None
        cached = await ctx.get(kind.head, key)
        if cached is None:
            return None
        if cached.is_terminating:
            return await self._let_go(ctx, kind, cached)
        if await self._all_seen(ctx, kind, cached):
            return None
        live = await ctx.get(kind.head, key, live=True)
        if live is None or live.uid != cached.uid or live.is_terminating or not live.metadata.owner_references:
            return None
        owners = [(owner, await self._ask(kind, live, owner)) for owner in live.metadata.owner_references]
        for owner, state in owners:
            if state == "misplaced":
                who = f"{owner.api_version}/{owner.kind}, namespace: , name: {owner.name}, uid: {owner.uid}"
                note = f'ownerRef [{who}] does not exist in namespace ""'
                ctx.event(live, "OwnerRefInvalidNamespace", note, type="Warning")
        if any(state == "misplaced" for _, state in owners):
            return None
        if any(state == "unknown" for _, state in owners):
            return Result(requeue_after=UNKNOWN_KIND_RETRY)
        left = [owner for owner, state in owners if state == "there"]
        if not left:
            await self._collect(ctx, kind, live, [owner for owner, state in owners if state == "waiting"])
        elif len(left) < len(owners):
            live.metadata.owner_references = left
            await ctx.update(live)
        return None

    async def _collect(self, ctx: Context, kind: Kind, obj: Object, waiting: Sequence[OwnerReference]) -> None:
        """Deletes an object whose owners are gone, or wait for it to go; in the latter case it waits for what it owns in turn."""
        ctx.log.debug("%s %s is deleted: its owners are gone", kind.info.kind, obj.key)
        owned = await self._dependents.known(ctx, obj.uid) if waiting else []
        if owned:
            if any(wish_of(dependent) == "foreground" for _, dependent in owned):
                # One of its owners may wait for it, and it for that owner: so it blocks nobody any more.
                obj.metadata.owner_references = [
                    msgspec.structs.replace(owner, block_owner_deletion=False) if owner.block_owner_deletion else owner
                    for owner in obj.metadata.owner_references
                ]
                await ctx.update(obj)
            await ctx.delete(obj, propagation="Foreground")
        elif ORPHAN in obj.metadata.finalizers:
            await ctx.delete(obj, propagation="Orphan")
        else:
            await ctx.delete(obj, propagation="Foreground" if FOREGROUND in obj.metadata.finalizers else "Background")

    async def _let_go(self, ctx: Context, kind: Kind, owner: Object) -> Result | None:
        """Does what the deletion of an owner waits for, and ends the wait when that is done."""
        wish = wish_of(owner)
        if wish == "orphan":
            for _, dependent in await self._dependents.there(ctx, kind, owner):
                dependent.metadata.owner_references = references(dependent.metadata, without=owner.uid)
                await ctx.update(dependent)
            await ctx.remove_finalizer(owner, ORPHAN)
        elif wish == "foreground":
            # Those that the caches know look after themselves, and the owner hears when they go.
            if any(waits_for(owner, dependent) for _, dependent in await self._dependents.known(ctx, owner.uid)):
                return None
            if any(waits_for(owner, dependent) for _, dependent in await self._dependents.there(ctx, kind, owner)):
                return Result(requeue_after=UNSEEN_RETRY)
            await ctx.remove_finalizer(owner, FOREGROUND)
        return None

    # owners

    async def _all_seen(self, ctx: Context, kind: Kind, obj: Object) -> bool:
        """Whether the cache has every owner, and none waits: then there is nothing to do, and the server need not be asked."""
        for owner in obj.metadata.owner_references:
            found = await self._cached_owner(ctx, kind, obj, owner)
            if found is None or wish_of(found[1]) == "foreground":
                return False
        return True

    async def _cached_owner(self, reader: Reader, kind: Kind, obj: Object, owner: OwnerReference) -> tuple[Kind, Object] | None:
        known = self._kinds.named(owner_group(owner), owner.kind)
        if known is None or known.asleep or (known.info.namespaced and not kind.info.namespaced):
            return None
        found = await reader.get(known.head, _key(owner, known.info, obj))
        return (known, found) if found is not None and found.uid == owner.uid else None

    async def _ask(self, kind: Kind, obj: Object, owner: OwnerReference) -> Owner:
        """Asks the server for an owner. Raises `ApiError` where it does not say."""
        known = self._kinds.named(owner_group(owner), owner.kind)
        try:
            info = known.info if known is not None else await self._client.find_kind(owner.api_version, owner.kind)
            if info.namespaced and not kind.info.namespaced:
                return "misplaced"
            found = await self._client.get_raw(info, _key(owner, info, obj))
        except NotServed:
            # Served by somebody who is away, perhaps. Only where the kind has lost its definition, nothing can be left of it.
            return "gone" if owner_kind(owner) in self._undefined else "unknown"
        if found is None or (head := decode_head(found)).uid != owner.uid:
            return "gone"
        return "waiting" if head.is_terminating and FOREGROUND in decode_meta(found).finalizers else "there"

    # from an object to those that it concerns

    def _mapper(self, kind: Kind) -> AsyncMapper[Object]:
        async def owned_by(obj: Object, reader: Reader) -> list[Request]:
            """The object itself, if it has owners or a wish; those of its owners that wait; and all that it owned, if it is going."""
            now = await reader.get(kind.head, obj.key)
            gone = now is None or now.uid != obj.uid
            wish = "" if now is None or gone else wish_of(now)
            requests = [request_for(kind, obj)] if obj.metadata.owner_references or wish else []
            for owner in obj.metadata.owner_references:
                found = await self._cached_owner(reader, kind, obj, owner)
                if found is not None and wish_of(found[1]) == "foreground":
                    requests.append(request_for(*found))
            if gone or wish == "foreground":
                requests += [request_for(other, owned) for other, owned in await self._dependents.known(reader, obj.uid)]
            return requests

        return owned_by

    async def _owned_by_kind(self, definition: CustomResourceDefinition, reader: Reader) -> list[Request]:
        """All that has an owner of that kind."""
        kind = f"{definition.spec.names.kind}.{definition.spec.group}"
        if await reader.get(CustomResourceDefinition, definition.key) is None:
            self._undefined[kind] = None
        else:
            self._undefined.pop(kind, None)
        return [request_for(other, owned) for other, owned in await self._dependents.of_kind(reader, kind)]

    async def owned_by_kind(self, reader: Reader, kind: Kind) -> list[Request]:
        """All that has an owner of a kind that was not watched till now: one may have come and gone unseen."""
        named = f"{kind.info.kind}.{kind.info.group}"
        return [request_for(other, owned) for other, owned in await self._dependents.of_kind(reader, named)]

    def _read(self, request: Request) -> tuple[Kind | None, Request]:
        resource, slash, name = request.name.partition("/")
        if not slash:
            return self._kinds.named("apiextensions.k8s.io", "CustomResourceDefinition"), request
        return self._kinds.find(resource), Request(request.namespace, name)


def request_for(kind: Kind, obj: Object) -> Request:
    """Names an object of any kind."""
    return Request(obj.namespace, f"{kind.resource}/{obj.name}")


def _key(owner: OwnerReference, info: KindInfo, obj: Object) -> Request:
    return Request(obj.namespace if info.namespaced else "", owner.name)
