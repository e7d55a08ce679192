"""The scale subresource: how many replicas are wanted and are there, whatever the kind calls them.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/scale-v1/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from setpoint.api import ApiError
from setpoint.api.status import BadRequest, Status, bad_request, invalid
from setpoint.cluster.server import bodies, builtin, write
from setpoint.cluster.server.builtin.malformed import malformed
from setpoint.cluster.server.kinds import ScalePaths, ServedKind, Strategy, value_at
from setpoint.cluster.server.schema import Json, Structural, causes, compile_schema
from setpoint.cluster.server.structured import TypedSchema, in_parent, in_scale
from setpoint.cluster.server.write import Means, Object, Target

_SCHEMA = "io.k8s.api.autoscaling.v1.Scale"
_OLDER = {"apps/v1": ("apps/v1beta1", "apps/v1beta2")}


@lru_cache(maxsize=1)
def _typed() -> TypedSchema:
    return TypedSchema.from_openapi(builtin.schemas()[_SCHEMA], builtin.schemas(), built_in=False)


class _ScaleStrategy(Strategy):
    """A Scale passes through its Go struct, and is kept nowhere."""

    custom = False

    def complete(self, obj: Object, kind: ServedKind) -> Object:
        """See `Strategy`."""
        if (problem := malformed(_SCHEMA, obj)) is not None:
            raise bad_request(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {problem}')
        return {key: value for key, value in obj.items() if value is not None}


def _structural() -> Structural:
    return compile_schema(builtin.schemas()[_SCHEMA], builtin.schemas())


SCALE_KIND = ServedKind(
    group="autoscaling",
    version="v1",
    kind="Scale",
    plural="scales",
    namespaced=True,
    strategy=_ScaleStrategy(),
    make_structural=_structural,
    make_typed=_typed,
)
"""What a Scale is, to those who show it; it is served nowhere but below the objects that it is about."""

_SHOWN_METADATA = ("creationTimestamp", "name", "namespace", "resourceVersion", "uid")


def paths_of(kind: ServedKind) -> ScalePaths:
    """Where the kind keeps its numbers."""
    if kind.scale is None:
        raise bad_request(f"{kind.kind} has no scale subresource")
    return kind.scale


def scale_of(kind: ServedKind, obj: Object) -> Object:
    """The Scale that an object shows."""
    paths = paths_of(kind)
    metadata = {key: value for key, value in obj["metadata"].items() if key in _SHOWN_METADATA}
    spec: Object = {}
    if replicas := value_at(obj, paths.spec):
        spec["replicas"] = replicas
    status: Object = {"replicas": value_at(obj, paths.status) or 0}
    selector = value_at(obj, paths.selector) if paths.selector else None
    if selector:
        status["selector"] = selector if isinstance(selector, str) else _selector_text(selector)
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": spec, "status": status}


def owned_scale(kind: ServedKind, obj: Object) -> Object:
    """The same, with who owns its replicas: what a patch is made for."""
    shown = scale_of(kind, obj)
    owners = in_scale(obj["metadata"].get("managedFields"), _replicas_paths(kind))
    return {**shown, "metadata": {**shown["metadata"], **({"managedFields": owners} if owners else {})}}


def scale_target(target: Target) -> Target:
    """The Scale that a request for the subresource of an object is about."""
    return Target(SCALE_KIND, target.namespace, target.name, "scale", target.options, target.warnings)


def read_scale(target: Target, body: Json, repeated: Sequence[str]) -> Object:
    """The Scale that a body holds. Raises BadRequest; of one for a custom resource that cannot be read, a real server tells no more."""
    try:
        return bodies.read_object(scale_target(target), body, repeated)
    except BadRequest:
        if not target.kind.strategy.custom:
            raise
        raise bad_request('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"') from None


def rescaled(target: Target, live: Object, scale: Object, means: Means) -> Object:
    """The object after its Scale was written, with who now owns its replicas. Raises BadRequest and Invalid."""
    changed = with_replicas(target, live, scale)
    replicas = value_at(changed, paths_of(target.kind).spec)
    kept = {**scale, "spec": {"replicas": replicas} if replicas else {}}
    return _owned(target, live, changed, write.tracked(scale_target(target), owned_scale(target.kind, live), kept, means))


def scale_applied(target: Target, live: Object, scale: Json, means: Means) -> Object:
    """The object after a Scale was applied to it. Raises BadRequest, Invalid, and what apply refuses."""
    merged = write.applied_object(scale_target(target), owned_scale(target.kind, live), scale, means)
    if target.kind.strategy.custom:
        raise _inconvertible(scale, f"request to convert CR to an invalid group/version: {SCALE_KIND.api_version}")
    if isinstance((merged.get("spec") or {}).get("replicas"), float):
        what = f"{SCALE_KIND.api_version}, Kind=Scale"
        raise _inconvertible(scale, f"unable to convert unstructured object to {what}: cannot convert float64 to int32")
    return _owned(target, live, with_replicas(target, live, merged), merged)


def _owned(target: Target, live: Object, changed: Object, scale: Object) -> Object:
    """The changed object with the owners that its Scale now has."""
    paths, managed = _replicas_paths(target.kind), live["metadata"].get("managedFields")
    owners = in_parent(managed, scale["metadata"].get("managedFields"), paths, target.kind.api_version)
    metadata = {key: value for key, value in changed["metadata"].items() if key != "managedFields"}
    return {**changed, "metadata": {**metadata, **({"managedFields": owners} if owners else {})}}


def _inconvertible(scale: Object, why: str) -> ApiError:
    """What was applied cannot be made a Scale: that of a custom resource never can, since the real server takes it for one."""
    metadata = scale.get("metadata") or {}
    what = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {SCALE_KIND.api_version}, Kind=Scale"
    return ApiError(Status(code=500, message=f"failed to convert new object ({what}) to proper version: {why}"))


def _replicas_paths(kind: ServedKind) -> Mapping[str, tuple[str, ...] | None]:
    path = paths_of(kind).spec
    return kind.replicas_paths or dict.fromkeys((kind.api_version, *_OLDER.get(kind.api_version, ())), path)


def with_replicas(target: Target, live: Object, scale: Object) -> Object:
    """The object with the replicas that a Scale wants, under the version and UID that the Scale is about. Raises BadRequest and Invalid."""
    metadata = scale.get("metadata") or {}
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if metadata.get("name") not in (None, "", target.name):
        raise bad_request(f"the name of the object ({metadata['name']}) does not match the name on the URL ({target.name})")
    if replicas < 0 and not target.kind.strategy.custom:
        raise invalid(
            "autoscaling", "Scale", target.name, [causes.invalid("spec.replicas", replicas, "must be greater than or equal to 0")]
        )
    kept = {**live["metadata"]}
    kept["resourceVersion"] = metadata.get("resourceVersion") or kept["resourceVersion"]
    kept["uid"] = metadata.get("uid") or kept["uid"]
    changed: Object = _with({**live, "metadata": kept}, paths_of(target.kind).spec, replicas)
    return changed


def _with(obj: Json, path: tuple[str, ...], value: Json) -> Json:
    if not path:
        return value
    inside = obj if isinstance(obj, dict) else {}
    return {**inside, path[0]: _with(inside.get(path[0]), path[1:], value)}


def _selector_text(selector: Object) -> str:
    """A label selector object as text."""
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for requirement in selector.get("matchExpressions") or ():
        key, values = requirement["key"], ",".join(sorted(requirement.get("values") or ()))
        match requirement["operator"]:
            case "In":
                parts.append(f"{key} in ({values})")
            case "NotIn":
                parts.append(f"{key} notin ({values})")
            case "Exists":
                parts.append(key)
            case _:
                parts.append(f"!{key}")
    return ",".join(parts)
