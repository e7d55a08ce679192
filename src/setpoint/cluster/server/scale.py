"""The scale subresource: how many replicas are wanted and are there, whatever the kind calls them.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/scale-v1/
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from setpoint.api import ApiError
from setpoint.api.status import Status, bad_request, invalid
from setpoint.cluster.server import builtin, write
from setpoint.cluster.server.kinds import ScalePaths, ServedKind, value_at
from setpoint.cluster.server.schema import Json, causes
from setpoint.cluster.server.structured import TypedSchema, in_parent, in_scale
from setpoint.cluster.server.write import Means, Object, Target

_SCHEMA = "io.k8s.api.autoscaling.v1.Scale"
_OLDER = {"apps/v1": ("apps/v1beta1", "apps/v1beta2")}


@lru_cache(maxsize=1)
def _typed() -> TypedSchema:
    return TypedSchema.from_openapi(builtin.schemas()[_SCHEMA], builtin.schemas(), built_in=False)


SCALE_KIND = ServedKind(group="autoscaling", version="v1", kind="Scale", plural="scales", namespaced=True, make_typed=_typed)
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


def rescaled(target: Target, live: Object, scale: Json, means: Means, *, applied: bool = False) -> Object:
    """The object after its Scale was written, or (`applied`) applied, with who now owns its replicas.

    Raises BadRequest, Invalid, and what apply refuses.
    """
    kind, managed = target.kind, live["metadata"].get("managedFields")
    paths = _replicas_paths(kind)
    shown = scale_of(kind, live)
    shown["metadata"]["managedFields"] = in_scale(managed, paths)
    within = Target(SCALE_KIND, target.namespace, target.name, "scale", target.options)
    if applied:
        merged = write.applied_object(within, shown, scale, means)
        if kind.strategy.custom:
            raise _inconvertible(scale)
        scale = merged
        changed = with_replicas(target, live, scale)
    else:
        changed = with_replicas(target, live, scale)
        replicas = value_at(changed, paths_of(kind).spec)
        scale = write.tracked(within, shown, {**scale, "spec": {"replicas": replicas} if replicas else {}}, means)
    owners = in_parent(managed, scale["metadata"].get("managedFields"), paths, kind.api_version)
    metadata = {key: value for key, value in changed["metadata"].items() if key != "managedFields"}
    return {**changed, "metadata": {**metadata, **({"managedFields": owners} if owners else {})}}


def _inconvertible(scale: Object) -> ApiError:
    """The Scale of a custom resource cannot be applied: the real server tries to convert it as if it were one."""
    metadata = scale.get("metadata") or {}
    what = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {SCALE_KIND.api_version}, Kind=Scale"
    why = f"request to convert CR to an invalid group/version: {SCALE_KIND.api_version}"
    return ApiError(Status(code=500, message=f"failed to convert new object ({what}) to proper version: {why}"))


def _replicas_paths(kind: ServedKind) -> Mapping[str, tuple[str, ...] | None]:
    path = paths_of(kind).spec
    return kind.replicas_paths or dict.fromkeys((kind.api_version, *_OLDER.get(kind.api_version, ())), path)


def with_replicas(target: Target, live: Object, scale: Json) -> Object:
    """The object with the replicas that a Scale wants, under the version and UID that the Scale is about. Raises BadRequest and Invalid."""
    if (
        not isinstance(scale, dict)
        or scale.get("kind", "Scale") != "Scale"
        or scale.get("apiVersion", "autoscaling/v1") != "autoscaling/v1"
    ):
        raise bad_request("the body of a request for the scale subresource must be a Scale of autoscaling/v1")
    metadata = scale.get("metadata") or {}
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise bad_request('Scale in version "v1" cannot be handled as a Scale: spec.replicas must be an integer')
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
