"""The built-in kinds as the registry serves them: what `builtin` knows about each, in the form that `Strategy` and `ServedKind` want."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias, cast

from setpoint.api import GroupVersionResource, Verb
from setpoint.api.status import bad_request
from setpoint.cluster.server import builtin, names
from setpoint.cluster.server.builtin import event_forms, strategy
from setpoint.cluster.server.builtin.defaults import apply_defaults
from setpoint.cluster.server.builtin.malformed import malformed
from setpoint.cluster.server.custom import COLLECTION as CRD_COLLECTION
from setpoint.cluster.server.custom import CrdStrategy
from setpoint.cluster.server.kinds import STANDARD_FINALIZERS, ScalePaths, ServedKind, Strategy
from setpoint.cluster.server.schema import FieldError, Json, Structural, causes, compile_schema
from setpoint.cluster.server.structured import TypedSchema
from setpoint.cluster.server.write import Object

Verbs: TypeAlias = tuple[Verb, ...]
Read: TypeAlias = Callable[[str], list[Object]]

IMMORTAL = ("default", "kube-system", "kube-public")
"""The namespaces that may not be deleted."""
_DEFAULT_GRACE = 30


class BuiltinStrategy(Strategy):
    """What is special about a built-in kind."""

    custom = False

    def __init__(self, kind: builtin.BuiltinKind, read: Read) -> None:
        self._name = kind.kind
        self._read = read
        self.generation = kind.has_generation
        self.create_on_update = kind.kind in ("Lease", "Event", "Service")
        self.returns_deleted = kind.kind in ("Namespace", "Pod", "Service", "ServiceAccount")
        self.status_keeps = _STATUS_KEEPS.get(kind.kind, ())
        self.unconditional_update = kind.kind != "Lease"
        self.name_rule = _NAME_RULES.get(kind.kind, names.dns_subdomain)

    def complete(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        if (problem := malformed(self._name, obj)) is not None:
            raise bad_request(f'{self._name} in version "{kind.version}" cannot be handled as a {self._name}: {problem}')
        obj = dict(obj)
        apply_defaults(self._name, obj)
        return obj

    def fill(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`. What passes through Go structs has no nulls."""
        return self.complete(obj, kind)

    def counts(self, obj: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return strategy.wants_new_generation(self._name, obj, old)

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`."""
        strategy.prepare_create(self._name, obj, self._taken())

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`."""
        strategy.prepare_update(self._name, obj, old, subresource, self._taken())

    def _taken(self) -> list[str | int]:
        """The addresses and ports that services have, where they matter."""
        return _addresses(self._read("/services")) if self._name == "Service" else []

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        errors: list[FieldError] = []
        for index, finalizer in enumerate(obj["metadata"].get("finalizers") or ()):
            if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
                text = "name is neither a standard finalizer name nor is it fully qualified"
                errors.append(causes.invalid(f"metadata.finalizers[{index}]", finalizer, text))
        return errors + strategy.validate(self._name, obj, old)

    def validate_status(self, obj: Mapping[str, Json], old: Mapping[str, Json], kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        return self.validate(obj, old, kind)

    def finish(self, obj: dict[str, Json], old: Mapping[str, Json] | None, now: str, warnings: list[str]) -> None:
        """See `Strategy`: there is nothing to warn of, since it has been refused."""


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

    def complete(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        return kind.as_shown(super().complete(kind.as_kept(obj), kind))

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        new, was = kind.as_kept(obj), None if old is None else kind.as_kept(old)
        errors = [
            FieldError(error.reason, error.message, "reportingController" if error.field == "reportingComponent" else error.field)
            for error in super().validate(new, was, kind)
        ]
        return errors + list(event_forms.strictly(new, was))


class NamespaceStrategy(BuiltinStrategy):
    """Namespaces, which are held by a finalizer in their spec."""

    def terminate(self, obj: dict[str, Json], now: str) -> None:
        """See `Strategy`."""
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}

    def ready_to_go(self, obj: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return not (obj.get("spec") or {}).get("finalizers")

    def deletable(self, obj: Mapping[str, Json]) -> str:
        """See `Strategy`."""
        return "this namespace may not be deleted" if obj["metadata"]["name"] in IMMORTAL else ""


class PodStrategy(BuiltinStrategy):
    """Pods, which get time to stop."""

    graceful = True

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
    return compile_schema(builtin.schema_of(kind), builtin.schemas(kind.group, kind.version))


@lru_cache(maxsize=64)
def _typed(kind: builtin.BuiltinKind) -> TypedSchema:
    return TypedSchema.from_openapi(builtin.schema_of(kind), builtin.schemas(kind.group, kind.version), built_in=True)


def builtin_kinds(read: Read) -> list[ServedKind]:
    """All built-in kinds; `read` gives the objects that are stored in a collection."""
    return [_served(kind, read) for kind in builtin.kinds()]


def _served(kind: builtin.BuiltinKind, read: Read) -> ServedKind:
    newer = kind.group == "events.k8s.io"
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
        subresources={sub.name: cast(Verbs, sub.verbs) for sub in kind.subresources if sub.name in _SUBRESOURCES},
        scale=ScalePaths(("spec", "replicas"), ("status", "replicas"), ("spec", "selector")) if kind.scale is not None else None,
        strategy=_strategy(kind, read),
        selectable=event_forms.SELECTABLE if newer else _SELECTABLE.get(kind.kind, ()),
        kept_as=GroupVersionResource("", "v1", "events") if newer else None,
        newer_names=event_forms.NEWER_NAMES if newer else {},
        kept_fields=_SELECTABLE["Event"] if newer else (),
        make_structural=lambda: _structural(kind),
        make_typed=lambda: _typed(kind),
        origin=kind,
    )


def _strategy(kind: builtin.BuiltinKind, read: Read) -> Strategy:
    if kind.kind == "CustomResourceDefinition":
        return CrdStrategy(lambda: read(CRD_COLLECTION))
    if kind.group == "events.k8s.io":
        return NewerEventStrategy(kind, read)
    return _STRATEGIES.get(kind.kind, BuiltinStrategy)(kind, read)


_SUBRESOURCES = ("status", "scale", "finalize")
"""Those that are served; a pod's log or a service's proxy are not."""
_STRATEGIES: dict[str, type[BuiltinStrategy]] = {"Namespace": NamespaceStrategy, "Pod": PodStrategy}
_STATUS_KEEPS: dict[str, tuple[str, ...]] = {"Deployment": ("labels",), "Pod": ("ownerReferences",)}
_NAME_RULES: dict[str, names.NameRule] = {"Namespace": names.dns_label, "Service": names.dns_label}
_SELECTABLE: dict[str, tuple[str, ...]] = {
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "Namespace": ("status.phase",),
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "spec.host",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "Secret": ("type",),
    "Service": ("spec.clusterIP", "spec.type"),
}
