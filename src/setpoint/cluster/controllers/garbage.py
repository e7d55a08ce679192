"""Garbage collection: what is owned by nothing any more is deleted, whatever its kind.

An object whose owners are all gone is deleted; where some are left, it loses the references to the others. An owner is gone if the server,
asked just then, has no object of that name, or another one: its UID tells. What a cache lacks is a reason to ask and no more.

When an object goes, an index by owner finds what it owned, in all kinds at once, so nothing has to be searched and nothing is polled. When
the definition of a kind goes or changes, what objects of that kind owned is looked at. What was missed while no collector ran is found at
the start, when each object that has owners is looked at once.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from setpoint.api import GroupVersionKind
from setpoint.client import Client
from setpoint.client.errors import NotServed
from setpoint.cluster.controllers.kinds import Kind, Kinds
from setpoint.controller import Context, Controller, Predicate, Reader, Result, Watch
from setpoint.controller.controller import AsyncMapper
from setpoint.controller.predicates import generation_changed
from setpoint.controller.signatures import Mapper
from setpoint.k8s.apiextensions.v1 import CustomResourceDefinition
from setpoint.objects import Index, KindInfo, Object, OwnerReference, Request, decode_head

UNKNOWN_KIND_RETRY = 300.0
"""Seconds after which an object is looked at again whose owner is of a kind that the server does not have."""
NOT_COLLECTED = ("events",)
"""Events are about objects and owned by none; they go by age."""

BY_OWNER: Index[Object] = Index(Object, lambda obj: [owner.uid for owner in obj.metadata.owner_references])
BY_KIND_OF_OWNER: Index[Object] = Index(Object, lambda obj: [_kind_of(owner) for owner in obj.metadata.owner_references])

Owner: TypeAlias = Literal["there", "gone", "unknown", "misplaced"]


def _ownership_changed(old: Object | None, new: Object | None) -> bool:
    return old is None or new is None or old.metadata.owner_references != new.metadata.owner_references


ownership_changed: Predicate[Any] = Predicate(_ownership_changed)


class GarbageCollector:
    """The reconciler. A request names an object of any kind, as `widgets.example.com/name`; see `request_for`."""

    def __init__(self, kinds: Kinds, client: Client) -> None:
        self._kinds = kinds
        self._client = client
        self._undefined: dict[str, None] = {}
        """Kinds whose definitions were there and are gone, and all their objects with them."""

    def controller(self, kinds: list[Kind]) -> Controller[CustomResourceDefinition]:
        """The controller that runs it, watching these kinds from the start.

        A controller has a kind of its own, whose keys come without the kind: definitions, since they have to be watched anyway.
        """
        controller = Controller(CustomResourceDefinition, name="garbage-collector", predicate=ownership_changed, reconciler=self)
        controller.watch(CustomResourceDefinition, map=self._owned_by_kind, predicate=generation_changed)
        for kind in kinds:
            if self.collects(kind):
                controller.watch(kind.watched, map=self._mapper(kind), predicate=ownership_changed, metadata_only=True)
        return controller

    def collects(self, kind: Kind) -> bool:
        """Whether objects of the kind have or are owners at all."""
        return kind.info.plural not in NOT_COLLECTED

    def watch(self, kind: Kind) -> Watch:
        """How a kind that has come is watched."""
        mapper = self._mapper(kind)
        return Watch(kind.watched, Mapper(mapper, True, "owned_by"), predicate=ownership_changed, metadata_only=True)

    async def __call__(self, ctx: Context, request: Request) -> Result | None:
        """One run: looks at one object that has owners."""
        kind, key = self._read(request)
        if kind is None:
            return None
        cached = await ctx.get(kind.head, key)
        if cached is None or cached.is_terminating or await self._all_seen(ctx, kind, cached):
            return None
        live = await ctx.get(kind.head, key, live=True)
        if live is None or live.uid != cached.uid or live.is_terminating or not live.metadata.owner_references:
            return None
        owners = [(owner, await self._ask(kind, live, owner)) for owner in live.metadata.owner_references]
        for owner, state in owners:
            if state == "misplaced":
                note = f'ownerRef [{owner.api_version}/{owner.kind}, name: {owner.name}, uid: {owner.uid}] does not exist in namespace ""'
                ctx.event(live, "OwnerRefInvalidNamespace", note, type="Warning")
        if any(state == "misplaced" for _, state in owners):
            return None
        if any(state == "unknown" for _, state in owners):
            return Result(requeue_after=UNKNOWN_KIND_RETRY)
        left = [owner for owner, state in owners if state == "there"]
        if not left:
            ctx.log.debug("%s %s is deleted: its owners are gone", kind.info.kind, key)
            await ctx.delete(live)
        elif len(left) < len(owners):
            live.metadata.owner_references = left
            await ctx.update(live)
        return None

    # owners

    async def _all_seen(self, ctx: Context, kind: Kind, obj: Object) -> bool:
        """Whether the cache has every owner: then there is nothing to do, and the server need not be asked."""
        for owner in obj.metadata.owner_references:
            known = self._kinds.named(_group(owner), owner.kind)
            if known is None or (known.info.namespaced and not kind.info.namespaced):
                return False
            found = await ctx.get(known.head, _key(owner, known.info, obj))
            if found is None or found.uid != owner.uid:
                return False
        return True

    async def _ask(self, kind: Kind, obj: Object, owner: OwnerReference) -> Owner:
        """Asks the server for an owner. Raises `ApiError` where it does not say."""
        known = self._kinds.named(_group(owner), owner.kind)
        try:
            info = known.info if known is not None else await self._client.find_kind(owner.api_version, owner.kind)
            if info.namespaced and not kind.info.namespaced:
                return "misplaced"
            found = await self._client.get_raw(info, _key(owner, info, obj))
        except NotServed:
            # Served by somebody who is away, perhaps. Only where the kind has lost its definition, nothing can be left of it.
            return "gone" if _kind_of(owner) in self._undefined else "unknown"
        return "there" if found is not None and decode_head(found).uid == owner.uid else "gone"

    # from an object to those that it concerns

    def _mapper(self, kind: Kind) -> AsyncMapper[Object]:
        async def owned_by(obj: Object, reader: Reader) -> list[Request]:
            """The object itself, if it has owners; if it has gone, all that it owned."""
            requests = [request_for(kind, obj)] if obj.metadata.owner_references else []
            now = await reader.get(kind.head, obj.key)
            if now is None or now.uid != obj.uid:
                for other in self._kinds:
                    if self.collects(other):
                        requests += [request_for(other, owned) for owned in await reader.list(other.head, index=BY_OWNER(obj.uid))]
            return requests

        return owned_by

    async def _owned_by_kind(self, definition: CustomResourceDefinition, reader: Reader) -> list[Request]:
        """All that has an owner of that kind."""
        kind = f"{definition.spec.names.kind}.{definition.spec.group}"
        if await reader.get(CustomResourceDefinition, definition.key) is None:
            self._undefined[kind] = None
        else:
            self._undefined.pop(kind, None)
        found = [(other, await reader.list(other.head, index=BY_KIND_OF_OWNER(kind))) for other in self._kinds if self.collects(other)]
        return [request_for(other, owned) for other, objs in found for owned in objs]

    def _read(self, request: Request) -> tuple[Kind | None, Request]:
        resource, slash, name = request.name.partition("/")
        if not slash:
            return self._kinds.named("apiextensions.k8s.io", "CustomResourceDefinition"), request
        return self._kinds.find(resource), Request(request.namespace, name)


def request_for(kind: Kind, obj: Object) -> Request:
    """Names an object of any kind."""
    return Request(obj.namespace, f"{kind.resource}/{obj.name}")


def _kind_of(owner: OwnerReference) -> str:
    return f"{owner.kind}.{_group(owner)}"


def _group(owner: OwnerReference) -> str:
    return GroupVersionKind.parse(owner.api_version, owner.kind).group


def _key(owner: OwnerReference, info: KindInfo, obj: Object) -> Request:
    return Request(obj.namespace if info.namespaced else "", owner.name)
