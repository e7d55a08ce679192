"""Owner references: who controls an object, and is followed by it into deletion.

https://kubernetes.io/docs/concepts/overview/working-with-objects/owners-dependents/
"""

from __future__ import annotations

from typing import Any

from setpoint.client.errors import OwnerRefused
from setpoint.objects import KindInfo, Object, Request, Untyped, decode_meta, kind_of


def owner_reference(owner: Object) -> dict[str, Any]:
    """The reference by which `owner` controls another object. Raises `OwnerRefused` for an owner that no server has named yet."""
    if isinstance(owner, Untyped):
        api_version, kind = owner.api_version, owner.kind
    else:
        info = kind_of(type(owner))
        api_version, kind = info.api_version, info.kind
    if not owner.metadata.uid or not owner.metadata.name:
        raise OwnerRefused(f"a {kind} without a uid cannot own anything: use what ctx.get or create returned, not a new object")
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def with_owner(content: dict[str, Any], owner: Object, info: KindInfo, key: Request) -> dict[str, Any]:
    """`content` with a reference to its controller; the argument is not changed.

    Raises `OwnerRefused` for an owner in another namespace, which Kubernetes would take for one that is gone and delete the object, and
    for an object that says itself that another owner controls it.
    """
    reference = owner_reference(owner)
    if owner.namespace and owner.namespace != key.namespace:
        where = f"in namespace {key.namespace!r}" if info.namespaced else "cluster-scoped"
        raise OwnerRefused(
            f"{reference['kind']} {owner.key} cannot own {info.kind} {key.name!r}, which is {where}: owner references do not cross "
            "namespaces. Mark what belongs together with a label instead, find it by the label or an index, and remove what is left "
            "over with ctx.prune"
        )
    metadata = content.get("metadata") or {}
    others = [other for other in metadata.get("ownerReferences") or () if other.get("uid") != reference["uid"]]
    for other in others:
        if other.get("controller"):
            raise _already_controlled(info, key, f"{other.get('kind')} {other.get('name')!r}", str(other.get("uid")), owner, reference)
    return {**content, "metadata": {**metadata, "ownerReferences": [*others, reference]}}


def refuse_another_controller(live: bytes, owner: Object, info: KindInfo, key: Request) -> None:
    """Raises `OwnerRefused` if an object, as a cache has it, is controlled by another owner."""
    other = decode_meta(live).controller
    if other is not None and other.uid != owner.metadata.uid:
        raise _already_controlled(info, key, f"{other.kind} {other.name!r}", other.uid, owner, owner_reference(owner))


def _already_controlled(info: KindInfo, key: Request, other: str, uid: str, owner: Object, reference: dict[str, Any]) -> OwnerRefused:
    return OwnerRefused(
        f"{info.kind} {key} is controlled by {other} (uid {uid}) already, so {reference['kind']} {owner.key} (uid {owner.uid}) cannot "
        "own it: two controllers must not write one object"
    )
