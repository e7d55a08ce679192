"""Objects for the tests."""

from __future__ import annotations

from typing import TypeVar

from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import Object, ObjectMeta, OwnerReference, Resource, Struct, kind, kind_of


class Nothing(Struct):
    size: int = 0


@kind(group="example.com", version="v1")
class Widget(Resource[Nothing, Nothing]):
    """A namespaced kind."""


@kind(group="example.com", version="v1", scope="Cluster")
class Realm(Resource[Nothing, Nothing]):
    """A cluster-scoped kind."""


def meta(name: str, *owners: Object, namespace: str = "default", finalizers: list[str] | None = None) -> ObjectMeta:
    return ObjectMeta(
        name=name, namespace=namespace or None, owner_references=[reference(owner) for owner in owners], finalizers=finalizers or []
    )


def reference(owner: Object, *, uid: str = "") -> OwnerReference:
    info = kind_of(type(owner))
    return OwnerReference(api_version=info.api_version, kind=info.kind, name=owner.name, uid=uid or owner.uid)


def a_map(name: str, *owners: Object, namespace: str = "default", finalizers: list[str] | None = None) -> ConfigMap:
    return ConfigMap(metadata=meta(name, *owners, namespace=namespace, finalizers=finalizers))


def a_widget(name: str, *owners: Object, namespace: str = "default", finalizers: list[str] | None = None) -> Widget:
    return Widget(metadata=meta(name, *owners, namespace=namespace, finalizers=finalizers), spec=Nothing())


def a_realm(name: str, *owners: Object) -> Realm:
    return Realm(metadata=meta(name, *owners, namespace=""), spec=Nothing())


Some = TypeVar("Some", bound=Object)


def blocking(obj: Some) -> Some:
    """The same, as something that its owners, where they are deleted in the foreground, wait for."""
    for owner in obj.metadata.owner_references:
        owner.block_owner_deletion = True
    return obj
