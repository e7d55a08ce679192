"""The built-in kinds as the registry serves them: what `builtin` knows about each, in the form that `Strategy` and `ServedKind` want."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeAlias, cast

from setpoint.api import GroupVersionResource, Verb
from setpoint.api.status import bad_request, forbidden
from setpoint.cluster.server import builtin, names
from setpoint.cluster.server.builtin import autoscaler_forms, event_forms
from setpoint.cluster.server.builtin.claims import may_not_grow
from setpoint.cluster.server.builtin.groups import behaviour_of
from setpoint.cluster.server.builtin.pod_admission import Refused, admit_pod
from setpoint.cluster.server.builtin.services import allocate, keep_allocated, validate_service
from setpoint.cluster.server.builtin.structs import Unreadable, as_go_keeps, as_go_reads, empty_field, empty_object
from setpoint.cluster.server.builtin.unenforced import unenforced
from setpoint.cluster.server.crd.custom import COLLECTION as CRD_COLLECTION
from setpoint.cluster.server.crd.custom import CrdStrategy
from setpoint.cluster.server.kinds import STANDARD_FINALIZERS, Form, ScalePaths, ServedKind, Strategy
from setpoint.cluster.server.schema import FieldError, Json, Structural, causes, compiler_of
from setpoint.cluster.server.structured import TypedSchema
from setpoint.cluster.server.write import Object

Verbs: TypeAlias = tuple[Verb, ...]
Read: TypeAlias = Callable[[str], list[Object]]

IMMORTAL = ("default", "kube-system", "kube-public")
"""The namespaces that may not be deleted."""
_DEFAULT_GRACE = 30


class BuiltinStrategy(Strategy):
    """What is special about a built-in kind, as its `Behaviour` says."""

    custom = False
    metadata_judged_twice = False

    def __init__(self, kind: builtin.BuiltinKind, read: Read) -> None:
        self.kind = kind
        self.behaviour = behaviour = behaviour_of(kind.kind)
        self._read = read
        self.generation = behaviour.generation
        self.create_on_update = behaviour.create_on_update
        self.returns_deleted = behaviour.returns_deleted
        self.status_keeps = behaviour.status_keeps
        self.unconditional_update = behaviour.unconditional_update
        self.name_rule = behaviour.name_rule
        self.keeps_first_status = behaviour.keeps_first_status
        self.fills_status = behaviour.fills_status

    def complete(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        about = self.kind
        metadata = obj.get("metadata")
        try:
            written = as_go_reads(about.schema_name, {key: value for key, value in obj.items() if key != "metadata"})
        except Unreadable as problem:
            raise bad_request(f'{about.kind} in version "{kind.version}" cannot be handled as a {about.kind}: {problem}') from problem
        # The order in which a real server writes them.
        result = {"apiVersion": written.pop("apiVersion", ""), "kind": written.pop("kind", ""), "metadata": metadata}
        if metadata is None:
            del result["metadata"]
        written.pop("metadata", None)
        result |= written
        self._default(result, kind)
        return result

    def _default(self, obj: dict[str, Json], kind: ServedKind) -> None:
        self.behaviour.defaults(obj)

    def fill(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`. What passes through Go structs has no nulls."""
        return self.complete(obj, kind)

    def counts(self, obj: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return self.behaviour.counts(obj, old)

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`."""
        if self.kind.has_status and not self.keeps_first_status:
            status = empty_field(self.kind.schema_name, "status")
            if status is None:
                obj.pop("status", None)
            else:
                obj["status"] = status
        self.behaviour.prepare_create(obj)

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`."""
        if self.kind.has_status and subresource in ("", "status"):
            kept = "status" if subresource == "" else "spec"
            if kept in old:
                obj[kept] = old[kept]
            else:
                obj.pop(kept, None)
        self.behaviour.prepare_update(obj, old, subresource)

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        return [*self._finalizers(obj), *self.problems(obj, old)]

    def problems(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None) -> Iterable[FieldError]:
        """What is wrong beyond the metadata."""
        return self.behaviour.validate(obj, old)

    def validate_status(self, obj: Mapping[str, Json], old: Mapping[str, Json], kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        if self.behaviour.validate_status is None:
            return self.validate(obj, old, kind)
        return [*self._finalizers(obj), *self.behaviour.validate_status(obj, old)]

    def finish(self, obj: dict[str, Json], old: Mapping[str, Json] | None, now: str, warnings: list[str]) -> None:
        """See `Strategy`. A finalizer without a domain has been refused, so there is no need to warn of one."""
        self.behaviour.settle(obj, old, now)
        obj.update({**as_go_keeps(self.kind.schema_name, {**obj, "metadata": {}}), "metadata": obj["metadata"]})
        warnings += self.behaviour.warns(obj, old)
        warnings += unenforced(self.kind.kind)
        if self.behaviour.support == "schema":
            warnings.append(
                f"{self.kind.kind}: the embedded server checks it by its schema alone, without the defaults and rules of a real cluster"
            )

    def metadata_alone(self, metadata: Mapping[str, Json]) -> Mapping[str, Json]:
        """See `Strategy`."""
        annotations = metadata.get("annotations") or {}
        if self.behaviour.field_annotation not in annotations:
            return metadata
        left = {name: text for name, text in annotations.items() if name != self.behaviour.field_annotation}
        others = {name: value for name, value in metadata.items() if name != "annotations"}
        return {**others, "annotations": left} if left else others

    def empty(self, kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`. Go writes the zeros of what may not be left out."""
        fields = self.blank(kind)
        if self.behaviour.zero_replicas:
            fields["spec"]["replicas"] = 0
        return fields

    def blank(self, kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        return empty_object(kind.group, kind.version, kind.kind)

    def metadata_of_bookmark(self, metadata: Mapping[str, Json]) -> Mapping[str, Json]:
        """See `Strategy`. A field for which an annotation stands is a zero there."""
        if not self.behaviour.field_annotation:
            return metadata
        return {**metadata, "annotations": {**(metadata.get("annotations") or {}), self.behaviour.field_annotation: "0"}}

    def no_field(self, path: str, kind: ServedKind) -> str:
        """See `Strategy`."""
        return self.behaviour.no_field.format(path) if kind.selectable else super().no_field(path, kind)

    def _finalizers(self, obj: Mapping[str, Json]) -> Iterator[FieldError]:
        finalizers = () if self.behaviour.any_finalizer else obj["metadata"].get("finalizers") or ()
        for index, finalizer in enumerate(finalizers):
            if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
                text = "name is neither a standard finalizer name nor is it fully qualified"
                yield causes.invalid(f"metadata.finalizers[{index}]", finalizer, text)


class ServiceStrategy(BuiltinStrategy):
    """Services, which get addresses and ports that no other service has."""

    def allocate(self, obj: dict[str, Json]) -> None:
        """See `Strategy`."""
        allocate(obj, self._taken())

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`."""
        super().prepare_update(obj, old, kind, subresource)
        if subresource == "":
            keep_allocated(obj, dict(old))
            allocate(obj, self._taken())

    def problems(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None) -> Iterable[FieldError]:
        """See `BuiltinStrategy`."""
        return validate_service(obj, old, self._taken())

    def _taken(self) -> list[str | int]:
        return _addresses(self._read("/services"))


def _addresses(services: Iterable[Mapping[str, Json]]) -> list[str | int]:
    taken: list[str | int] = []
    for service in services:
        spec = service.get("spec") or {}
        taken += spec.get("clusterIPs") or []
        taken += [port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")]
        if spec.get("healthCheckNodePort"):
            taken.append(spec["healthCheckNodePort"])
    return taken


class NewerEventStrategy(BuiltinStrategy):
    """Events in the form of events.k8s.io/v1, which is judged more strictly."""

    def __init__(self, kind: builtin.BuiltinKind, read: Read) -> None:
        super().__init__(kind, read)
        self.behaviour = replace(self.behaviour, any_finalizer=False)
        self.name_rule = names.dns_subdomain

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        new, was = kind.as_kept(obj), None if old is None else kind.as_kept(old)
        errors = [
            FieldError(error.reason, error.message, "reportingController" if error.field == "reportingComponent" else error.field)
            for error in super().validate(new, was, kind)
        ]
        return list(dict.fromkeys([*errors, *event_forms.strictly(new, was)]))


class OlderAutoscalerStrategy(BuiltinStrategy):
    """Autoscalers in the form of autoscaling/v1, whose annotations say what it has no fields for: so they are judged as they are kept."""

    def _default(self, obj: dict[str, Json], kind: ServedKind) -> None:
        kept = kind.as_kept(obj)
        super()._default(kept, kind)
        obj.update(kind.as_shown(kept))

    def counts(self, obj: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return super().counts(autoscaler_forms.to_kept(obj), autoscaler_forms.to_kept(old))

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`."""
        super().prepare_create(obj, kind)
        # An annotation may have told of a status.
        obj.update(kind.as_shown({**kind.as_kept(obj), "status": obj["status"]}))

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`."""
        super().prepare_update(obj, old, kind, subresource)
        taken = "spec" if subresource == "status" else "status"
        obj.update(kind.as_shown({**kind.as_kept(obj), taken: kind.as_kept(old).get(taken)}))

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        return super().validate(kind.as_kept(obj), None if old is None else kind.as_kept(old), kind)

    def validate_status(self, obj: Mapping[str, Json], old: Mapping[str, Json], kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        return super().validate_status(kind.as_kept(obj), kind.as_kept(old), kind)


class NamespaceStrategy(BuiltinStrategy):
    """Namespaces, which are held by a finalizer in their spec."""

    precondition = "Precondition failed"

    def terminate(self, obj: dict[str, Json], now: str) -> None:
        """See `Strategy`."""
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}

    def ready_to_go(self, obj: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return not (obj.get("spec") or {}).get("finalizers")

    def deletable(self, obj: Mapping[str, Json]) -> str:
        """See `Strategy`."""
        return "this namespace may not be deleted" if obj["metadata"]["name"] in IMMORTAL else ""


class ClaimStrategy(BuiltinStrategy):
    """Claims for storage, which grow only where their class says so."""

    def finish(self, obj: dict[str, Json], old: Mapping[str, Json] | None, now: str, warnings: list[str]) -> None:
        """See `Strategy`. Raises Forbidden."""
        if old is not None and (why := may_not_grow(obj, old, lambda: self._read("storage.k8s.io/storageclasses"))):
            raise forbidden(GroupVersionResource(self.kind.group, self.kind.version, self.kind.plural), obj["metadata"]["name"], why)
        super().finish(obj, old, now, warnings)


class PriorityClassStrategy(BuiltinStrategy):
    """Priority classes, of which one alone may be the default."""

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`. Raises Forbidden."""
        super().prepare_create(obj, kind)
        self._admit(obj, kind)

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`. Raises Forbidden."""
        super().prepare_update(obj, old, kind, subresource)
        self._admit(obj, kind)

    def deletable(self, obj: Mapping[str, Json]) -> str:
        """See `Strategy`. Nobody but the system has a class with such a name."""
        return "this is a system priority class and cannot be deleted" if obj["metadata"]["name"].startswith("system-") else ""

    def _admit(self, obj: Mapping[str, Json], kind: ServedKind) -> None:
        if obj.get("globalDefault"):
            name = obj["metadata"].get("name", "")
            for other in self._read(kind.collection):
                if other.get("globalDefault") and (marked := other["metadata"]["name"]) != name:
                    why = f"PriorityClass {marked} is already marked as default. Only one default can exist"
                    raise forbidden(kind.resource, name, why)


class PodStrategy(BuiltinStrategy):
    """Pods, which are admitted by classes of priority and runtime, and get time to stop."""

    graceful = True

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`. Raises Forbidden for a pod whose classes are not there, or that contradicts them."""
        try:
            admit_pod(obj, lambda: self._read("scheduling.k8s.io/priorityclasses"), lambda: self._read("node.k8s.io/runtimeclasses"))
        except Refused as why:
            raise forbidden(kind.resource, obj["metadata"].get("name", ""), str(why)) from why
        super().prepare_create(obj, kind)

    def grace(self, obj: Mapping[str, Json], asked: int | None) -> int:
        """See `Strategy`: nobody has to stop a pod that is on no node, or has stopped."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
            return 0
        if asked is not None:
            return 1 if asked < 0 else asked
        given = spec.get("terminationGracePeriodSeconds")
        return _DEFAULT_GRACE if given is None else int(given)


@lru_cache(maxsize=64)
def _structural(kind: builtin.BuiltinKind) -> Structural:
    return _compiler()(builtin.schema_of(kind))


@lru_cache(maxsize=1)
def _compiler() -> Callable[[Mapping[str, Any]], Structural]:
    return compiler_of(builtin.schemas())


@lru_cache(maxsize=64)
def _typed(kind: builtin.BuiltinKind) -> TypedSchema:
    return TypedSchema.from_openapi(builtin.schema_of(kind), builtin.schemas(), built_in=True)


def builtin_kinds(read: Read) -> dict[GroupVersionResource, Callable[[], ServedKind]]:
    """What makes each built-in kind; `read` gives the objects that are stored in a collection."""
    return {GroupVersionResource(kind.group, kind.version, kind.plural): partial(_served, kind, read) for kind in builtin.kinds()}


def _served(kind: builtin.BuiltinKind, read: Read) -> ServedKind:
    newer = kind.group == "events.k8s.io"
    older = (kind.group, kind.version, kind.kind) == OLDER_AUTOSCALER
    return ServedKind(
        group=kind.group,
        version=kind.version,
        kind=kind.kind,
        plural=kind.plural,
        singular=kind.singular,
        list_kind=kind.list_kind,
        namespaced=kind.namespaced,
        short_names=kind.short_names,
        categories=kind.categories,
        verbs=cast(Verbs, kind.verbs),
        subresources={sub.name: cast(Verbs, sub.verbs) for sub in kind.subresources},
        scale=ScalePaths(("spec", "replicas"), ("status", "replicas"), ("spec", "selector")) if kind.scale is not None else None,
        strategy=_strategy(kind, read),
        selectable=event_forms.SELECTABLE if newer else behaviour_of(kind.kind).selectable,
        form=_NEWER_EVENTS if newer else _OLDER_AUTOSCALERS if older else None,
        kept_fields=behaviour_of(kind.kind).selectable if newer else (),
        deprecation=behaviour_of(kind.kind).deprecation,
        make_structural=lambda: _structural(kind),
        make_typed=lambda: _typed(kind),
        origin=kind,
    )


def _strategy(kind: builtin.BuiltinKind, read: Read) -> Strategy:
    if kind.kind == "CustomResourceDefinition":
        return CrdStrategy(lambda: read(CRD_COLLECTION), lambda: _typed(kind))
    if kind.group == "events.k8s.io":
        return NewerEventStrategy(kind, read)
    if (kind.group, kind.version, kind.kind) == OLDER_AUTOSCALER:
        return OlderAutoscalerStrategy(kind, read)
    return _STRATEGIES.get(kind.kind, BuiltinStrategy)(kind, read)


_NEWER_EVENTS = Form(
    resource=GroupVersionResource("", "v1", "events"),
    to_kept=event_forms.to_kept,
    to_shown=event_forms.to_shown,
    names=event_forms.KEPT_NAMES,
)
_OLDER_AUTOSCALERS = Form(
    resource=GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers"),
    to_kept=autoscaler_forms.to_kept,
    to_shown=autoscaler_forms.to_shown,
    tells_all=False,
)
OLDER_AUTOSCALER = ("autoscaling", "v1", "HorizontalPodAutoscaler")
_STRATEGIES: dict[str, type[BuiltinStrategy]] = {
    "Namespace": NamespaceStrategy,
    "PersistentVolumeClaim": ClaimStrategy,
    "Pod": PodStrategy,
    "PriorityClass": PriorityClassStrategy,
    "Service": ServiceStrategy,
}
"""What a kind needs beyond its `Behaviour`: what depends on other objects, and how it ends."""
