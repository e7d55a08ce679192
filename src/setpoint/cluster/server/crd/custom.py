"""Custom resource definitions at work: their kinds are served from the write that establishes them to the one that removes them.

A deleted definition is held by a finalizer of the server's own until the last of its objects is gone.

https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import cache, partial

from setpoint.api import GroupVersionResource, Verb
from setpoint.api.names import api_version
from setpoint.api.status import bad_request
from setpoint.cluster.server.builtin.malformed import malformed
from setpoint.cluster.server.builtin.structs import as_go_writes, empty_object
from setpoint.cluster.server.crd.definitions import CustomKind, crd_warnings, custom_kinds, default_crd, prepare_crd, validate_crd
from setpoint.cluster.server.crd.names import accept_names, has_its_names, is_established, terminating
from setpoint.cluster.server.encoding import decode, objects_in
from setpoint.cluster.server.kinds import Kinds, ScalePaths, ServedKind, Strategy
from setpoint.cluster.server.options import DeleteOptions, WriteOptions
from setpoint.cluster.server.registry import Registry
from setpoint.cluster.server.schema import FieldError, Json, Structural, compile_schema
from setpoint.cluster.server.storage import Change, Storage
from setpoint.cluster.server.structured import TypedSchema, track_update
from setpoint.cluster.server.structured.values import same
from setpoint.cluster.server.watch import Hub
from setpoint.cluster.server.write import Object, Target

CRDS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CRD_STRUCT = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"
COLLECTION = "apiextensions.k8s.io/customresourcedefinitions"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
CUSTOM_VERBS: tuple[Verb, ...] = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
"""What can be done with custom resources, in the order in which discovery tells it."""
SERVER = "kube-apiserver"
"""The manager as which the real server writes what it makes of a definition."""
_RETRY = 5.0
"""Seconds."""


class CrdStrategy(Strategy):
    """What is special about CustomResourceDefinitions."""

    custom = False
    heeds_policy = False
    tables_of_status = False
    precondition = "precondition failed"
    settles = False
    status_keeps = ()

    def __init__(self, others: Callable[[], list[Object]], typed: Callable[[], TypedSchema]) -> None:
        self._others = others
        self._typed = typed

    def complete(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        if (problem := malformed(CRD_STRUCT, obj)) is not None:
            raise bad_request(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {problem}')
        written = {part: as_go_writes(f"{CRD_STRUCT}{part.capitalize()}", obj.get(part) or {}) for part in ("spec", "status")}
        return default_crd({**super().complete(obj, kind), **written})

    def fill(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`. What passes through Go structs has no nulls."""
        return self.complete(obj, kind)

    def blank(self, kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        return empty_object(kind.group, kind.version, kind.kind)

    def counts(self, obj: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return bool(obj.get("spec") != old.get("spec"))

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`."""
        obj.update(prepare_crd(obj))

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`."""
        if subresource != "status":
            obj.update(prepare_crd(obj, old))

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        return validate_crd(obj, old)

    def validate_status(self, obj: Mapping[str, Json], old: Mapping[str, Json], kind: ServedKind) -> list[FieldError]:
        """See `Strategy`. A status is taken as it comes; the next write of the definition judges its storedVersions."""
        return []

    def finish(self, obj: dict[str, Json], old: Mapping[str, Json] | None, now: str, warnings: list[str]) -> None:
        """Established in the same write; but what somebody writes into the status himself stands until the server's next write."""
        if old is None or not _overwrites(obj.get("status") or {}, old.get("status") or {}):
            obj.update(self.named(obj, self._others(), now))
        known = () if old is None else crd_warnings(old)
        warnings += [text for text in crd_warnings(obj) if text not in known]

    def named(self, obj: Object, everything: Sequence[Object], now: str) -> Object:
        """A definition with the names that it can have beside all others, and with the server as who says so."""
        named = accept_names(obj, everything, now)
        return track_update(
            obj,
            obj if same(named["status"], obj["status"]) else named,
            self._typed(),
            manager=SERVER,
            api_version=obj["apiVersion"],
            subresource="status",
            now=now,
            reset=(("metadata",), ("spec",)),
        )

    def ready_to_go(self, obj: Mapping[str, Json]) -> bool:
        """A definition that has never been marked is not removed at once: its objects go first."""
        return "deletionTimestamp" in obj["metadata"]

    def terminate(self, obj: dict[str, Json], now: str) -> None:
        """See `Strategy`."""
        finalizers = obj["metadata"].get("finalizers") or []
        if CLEANUP not in finalizers:
            obj["metadata"]["finalizers"] = [*finalizers, CLEANUP]
        obj.update(terminating(obj, done=False, now=now))


def _overwrites(status: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
    """Whether a status says otherwise than before what the server says in it."""
    return any(not same(status.get(name), old.get(name)) for name in ("conditions", "acceptedNames"))


class CustomKinds:
    """Follows the definitions in storage, and keeps `Kinds` in step with them."""

    def __init__(self, storage: Storage, kinds: Kinds, registry: Registry, hub: Hub) -> None:
        self._storage = storage
        self._kinds = kinds
        self._registry = registry
        self._hub = hub
        self._context = copy_context()
        self._closing: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        """The definitions that wait for their names, since others of the group have them or since their status was overwritten; and the
        groups.
        """
        storage.subscribe(self._changed)
        storage.subscribe_durable(self._told)
        for crd in objects_in(storage, COLLECTION):
            self._serve(crd)
            self._note(crd)
        if self._waiting:
            self._soon("")

    def _changed(self, change: Change) -> None:
        # What the server does of its own accord, and had to be undone, is tried again in a while.
        delay = _RETRY if change.undone else 0.0
        if change.collection == COLLECTION:
            crd = decode(change.record.value)
            if change.deleted:
                self._withdraw(crd)
            else:
                self._serve(crd, delay)
            self._note(crd, gone=change.deleted)
            if change.undone or crd["spec"]["group"] in self._waiting.values():
                self._soon("", delay)
        elif (change.deleted or change.undone) and change.collection in self._closing:
            self._soon(self._closing[change.collection], delay)

    def _note(self, crd: Object, *, gone: bool = False) -> None:
        self._waiting.pop(crd["metadata"]["name"], None)
        if not gone and not has_its_names(crd):
            self._waiting[crd["metadata"]["name"]] = crd["spec"]["group"]

    def _told(self, change: Change) -> None:
        """Watches end when the end of their kind is durable, after the last event that they get."""
        if change.deleted and change.collection == COLLECTION:
            spec = decode(change.record.value)["spec"]
            self._hub.end(f"{spec['group']}/{spec['names']['plural']}")

    def _serve(self, crd: Object, delay: float = 0.0) -> None:
        spec = crd["spec"]
        collection = f"{spec['group']}/{spec['names']['plural']}"
        closing = "deletionTimestamp" in crd["metadata"]
        if is_established(crd):
            customs = custom_kinds(crd)
            schemas = {custom.version: cache(partial(compile_schema, custom.schema)) for custom in customs}
            wanted = [served(custom, customs, self._fits_since(customs), schemas) for custom in customs if custom.served]
            versions = [kind.version for kind in wanted]
            for old in self._kinds.of_group(spec["group"]):
                if old.plural == spec["names"]["plural"] and old.version not in versions:
                    self._kinds.remove(old.resource)
            for kind in wanted:
                kind.closing = closing
                self._kinds.add(kind)
        if closing:
            self._closing[collection] = crd["metadata"]["name"]
            self._soon(crd["metadata"]["name"], delay)

    def _fits_since(self, customs: Sequence[CustomKind]) -> int:
        """Since when stored objects are as the schema of their version has them: since the schemas are what they are."""
        befores = [self._kinds.find(GroupVersionResource(custom.group, custom.version, custom.plural)) for custom in customs]
        for custom, before in zip(customs, befores, strict=True):
            if before is None or before.fits_since is None or before.origin.schema != custom.schema:
                return self._storage.revision
        return max(before.fits_since for before in befores if before is not None and before.fits_since is not None)

    def _withdraw(self, crd: Object) -> None:
        spec = crd["spec"]
        collection = f"{spec['group']}/{spec['names']['plural']}"
        self._closing.pop(collection, None)
        for kind in self._kinds.of_group(spec["group"]):
            if kind.plural == spec["names"]["plural"]:
                self._kinds.remove(kind.resource)

    def _soon(self, name: str, delay: float = 0.0) -> None:
        """Goes on after the write that is under way, or in so many seconds."""
        step = (lambda: self._empty(name)) if name else self._name_others
        loop = asyncio.get_running_loop()
        if delay:
            loop.call_later(delay, step, context=self._context)
        else:
            loop.call_soon(step, context=self._context)

    def _crd_kind(self) -> ServedKind:
        kind = self._kinds.find(CRDS)
        assert kind is not None, "the kind of definitions is built in"
        return kind

    def _empty(self, name: str) -> None:
        """Deletes the objects of a definition, and once there are none lets the definition go."""
        record = self._storage.get(COLLECTION, name)
        if record is None:
            return
        crd = decode(record.value)
        spec = crd["spec"]
        finalizers = crd["metadata"].get("finalizers") or []
        if "deletionTimestamp" not in crd["metadata"] or CLEANUP not in finalizers:
            return
        collection = f"{spec['group']}/{spec['names']['plural']}"
        kind = next((kind for kind in self._kinds.of_group(spec["group"]) if kind.plural == spec["names"]["plural"]), None)
        if kind is not None and is_established(crd):
            for found in self._storage.list(collection).records:
                live = decode(found.value)
                if "deletionTimestamp" not in live["metadata"]:
                    meta = live["metadata"]
                    target = Target(kind, meta.get("namespace", ""), meta["name"], "", WriteOptions())
                    self._registry.remove(target, live, DeleteOptions())
            if self._storage.list(collection, limit=1).records:
                return
        left = [finalizer for finalizer in finalizers if finalizer != CLEANUP]
        metadata = {**crd["metadata"], "finalizers": left}
        if not left:
            del metadata["finalizers"]
        done = terminating({**crd, "metadata": metadata}, done=True, now=self._registry.means().now)
        self._registry.store(self._crd_kind(), done, crd, gone=not left)

    def _name_others(self) -> None:
        """Names may have become free: whoever waited for them gets them, each name one of those who did."""
        kind, everything = self._crd_kind(), objects_in(self._storage, COLLECTION)
        assert isinstance(kind.strategy, CrdStrategy)
        for at, crd in enumerate(everything):
            if crd["metadata"]["name"] in self._waiting:
                named = kind.strategy.named(crd, everything, self._registry.means().now)
                if named != crd:
                    everything[at] = decode(self._registry.store(kind, named, crd).value)


def served(
    custom: CustomKind, customs: Sequence[CustomKind], fits_since: int | None, schemas: Mapping[str, Callable[[], Structural]]
) -> ServedKind:
    """A custom kind as the registry serves it; `customs` are all versions of it, and `schemas` gives their schemas, read."""
    stored = next(each for each in customs if each.storage)
    subresources: dict[str, tuple[Verb, ...]] = {}
    if custom.has_status:
        subresources["status"] = ("get", "patch", "update")
    if custom.scale is not None:
        subresources["scale"] = ("get", "patch", "update")

    def typed(each: CustomKind = custom) -> TypedSchema:
        return TypedSchema.from_openapi(each.schema)

    return ServedKind(
        group=custom.group,
        version=custom.version,
        kind=custom.kind,
        plural=custom.plural,
        singular=custom.singular,
        list_kind=custom.list_kind,
        namespaced=custom.namespaced,
        short_names=custom.short_names,
        categories=custom.categories,
        verbs=CUSTOM_VERBS,
        subresources=subresources,
        scale=None
        if custom.scale is None
        else ScalePaths(
            _path(custom.scale.spec_replicas),
            _path(custom.scale.status_replicas),
            _path(custom.scale.label_selector) if custom.scale.label_selector else None,
        ),
        replicas_paths={
            api_version(each.group, each.version): None if each.scale is None else _path(each.scale.spec_replicas) for each in customs
        },
        strategy=Strategy(),
        selectable=custom.selectable,
        kept_fields=tuple(dict.fromkeys(path for each in customs for path in each.selectable)),
        storage_version=stored.version,
        deprecation=custom.deprecation_warning or "",
        make_structural=schemas[custom.version],
        structural_versions={
            api_version(each.group, each.version): schemas[each.version] for each in customs if each.schema != custom.schema
        },
        make_stored=schemas[stored.version] if stored.schema != custom.schema else None,
        fits_since=fits_since,
        make_typed=typed,
        typed_versions={api_version(each.group, each.version): partial(typed, each) for each in customs},
        origin=custom,
    )


def _path(simple: str) -> tuple[str, ...]:
    """The keys of a simple JSONPath such as `.spec.replicas`."""
    return tuple(simple.strip(".").split("."))
