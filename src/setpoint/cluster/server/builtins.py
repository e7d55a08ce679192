"""The built-in kinds as the registry serves them: what `builtin` knows about each, in the form that `Strategy` and `ServedKind` want."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from setpoint.api import ApiError
from setpoint.api.status import bad_request
from setpoint.cluster.server import builtin, names
from setpoint.cluster.server.builtin.defaults import apply_defaults
from setpoint.cluster.server.custom import CrdStrategy
from setpoint.cluster.server.kinds import STANDARD_FINALIZERS, ScalePaths, ServedKind, Strategy
from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.schema import FieldError, Json, Structural, causes, compile_schema, drop_nulls, validate
from setpoint.cluster.server.structured import TypedSchema
from setpoint.cluster.server.write import Object

IMMORTAL = ("default", "kube-system", "kube-public")
"""The namespaces that may not be deleted."""
_DEFAULT_GRACE = 30


class BuiltinStrategy(Strategy):
    """What is special about a built-in kind."""

    custom = False
    unconditional_update = True

    def __init__(self, kind: builtin.BuiltinKind) -> None:
        self._kind = kind
        self.generation = kind.has_generation
        self.create_on_update = kind.kind in ("Lease", "Event")

    def complete(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """See `Strategy`."""
        schema = kind.structural
        if schema is not None:
            obj = drop_nulls(obj, schema)
            for error in validate(without_metadata(obj), schema):
                if error.reason == "FieldValueTypeInvalid":
                    raise _unreadable(kind, obj, error.field)
        obj = dict(obj)
        apply_defaults(self._kind.kind, obj)
        return obj

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """See `Strategy`."""
        errors = super().validate(without_metadata(obj), old, kind)
        for index, finalizer in enumerate(obj["metadata"].get("finalizers") or ()):
            if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
                errors.append(
                    causes.invalid(
                        f"metadata.finalizers[{index}]", finalizer, "name is neither a standard finalizer name nor is it fully qualified"
                    )
                )
        return errors

    def finish(self, obj: dict[str, Json], old: Mapping[str, Json] | None, now: str, warnings: list[str]) -> None:
        """See `Strategy`: nothing to warn of, what would be warned of has been refused."""

    def counts(self, obj: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return bool(obj.get("spec") != old.get("spec"))


def without_metadata(obj: Mapping[str, Json]) -> dict[str, Json]:
    """The object but for its metadata, which has rules of its own."""
    return {key: value for key, value in obj.items() if key != "metadata"}


def _unreadable(kind: ServedKind, obj: Json, where: str) -> ApiError:
    """400 in the words of Go's decoder, which knows no indices and no keys of maps (only their last part is dropped here)."""
    value = obj
    for key in where.replace("]", "").replace("[", ".").split("."):
        value = value[int(key)] if isinstance(value, list) else value.get(key) if isinstance(value, dict) else value
    return bad_request(
        f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
        f"json: cannot unmarshal {go_type(value)} into Go struct field {kind.kind}.{where}"
    )


class NamespaceStrategy(BuiltinStrategy):
    """Namespaces, which are held by a finalizer in their spec."""

    returns_deleted = True
    marks_grace = False
    name_rule = staticmethod(names.dns_label)

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """See `Strategy`."""
        finalizers = list((obj.get("spec") or {}).get("finalizers") or [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        obj["spec"] = {**(obj.get("spec") or {}), "finalizers": finalizers}
        obj["status"] = {"phase": "Active"}
        self._label(obj)

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """See `Strategy`."""
        if subresource == "finalize":
            obj["status"] = old["status"]
        else:
            obj["spec"] = old.get("spec") or {}
        self._label(obj)

    def _label(self, obj: dict[str, Json]) -> None:
        labels = {**(obj["metadata"].get("labels") or {}), "kubernetes.io/metadata.name": obj["metadata"]["name"]}
        obj["metadata"]["labels"] = labels

    def terminate(self, obj: dict[str, Json], now: str) -> None:
        """See `Strategy`."""
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}

    def ready_to_go(self, obj: Mapping[str, Json]) -> bool:
        """See `Strategy`."""
        return not (obj.get("spec") or {}).get("finalizers")

    def deletable(self, obj: Mapping[str, Json]) -> str:
        """See `Strategy`."""
        return "this namespace may not be deleted" if obj["metadata"]["name"] in IMMORTAL else ""

    def field(self, path: str, obj: Mapping[str, Json]) -> str | None:
        """See `Strategy`."""
        return (obj.get("status") or {}).get("phase") or "" if path == "status.phase" else None


class PodStrategy(BuiltinStrategy):
    """Pods, which get time to stop."""

    returns_deleted = True

    def grace(self, obj: Mapping[str, Json], asked: int | None) -> int:
        """See `Strategy`: nobody has to stop a pod that is on no node, or has stopped."""
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
            return 0
        if asked is not None:
            return max(1, asked) if asked < 0 else asked
        given = spec.get("terminationGracePeriodSeconds")
        return _DEFAULT_GRACE if given is None else int(given)


@lru_cache(maxsize=1)
def _data() -> tuple[builtin.BuiltinKind, ...]:
    return builtin.kinds()


@lru_cache(maxsize=64)
def _structural(kind: builtin.BuiltinKind) -> Structural:
    return compile_schema(builtin.schema_of(kind), builtin.schemas(kind.group, kind.version))


@lru_cache(maxsize=64)
def _typed(kind: builtin.BuiltinKind) -> TypedSchema:
    return TypedSchema.from_openapi(builtin.schema_of(kind), builtin.schemas(kind.group, kind.version), built_in=True)


def builtin_kinds(definitions: Callable[[], list[Object]]) -> list[ServedKind]:
    """All built-in kinds; `definitions` gives the custom resource definitions that are stored."""
    return [_served(kind, definitions) for kind in _data()]


def _served(kind: builtin.BuiltinKind, definitions: Callable[[], list[Object]]) -> ServedKind:
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
        verbs=kind.verbs,
        subresources={sub.name: sub.verbs for sub in kind.subresources},
        scale=ScalePaths(("spec", "replicas"), ("status", "replicas"), ("spec", "selector")) if kind.scale is not None else None,
        strategy=_strategy(kind, definitions),
        selectable=_SELECTABLE.get(kind.kind, ()),
        make_structural=lambda: _structural(kind),
        make_typed=lambda: _typed(kind),
        origin=kind,
    )


def _strategy(kind: builtin.BuiltinKind, definitions: Callable[[], list[Object]]) -> Strategy:
    if kind.kind == "CustomResourceDefinition":
        return CrdStrategy(definitions)
    return _STRATEGIES.get(kind.kind, BuiltinStrategy)(kind)


_STRATEGIES: dict[str, type[BuiltinStrategy]] = {"Namespace": NamespaceStrategy, "Pod": PodStrategy}
_SELECTABLE: dict[str, tuple[str, ...]] = {"Namespace": ("status.phase",)}
