"""What every object carries: its metadata, and with it its name.

Field by field as in ``meta/v1`` of the Kubernetes API. Times are aware `datetime` values of whole seconds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from .request import Request
from .schema_field import Field
from .struct import Struct, absent, field


class OwnerReference(Struct):
    """Names an owner in the same namespace (or a cluster-scoped one). The object is garbage-collected when all its owners are gone."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Struct):
    """Which fields one manager has stated, with one kind of operation. The server keeps these."""

    manager: str | None = None
    operation: str | None = None
    api_version: str | None = None
    time: datetime | None = None
    fields_type: str | None = None
    fields_v1: dict[str, Any] | None = None
    subresource: str | None = None


class ObjectMeta(Struct):
    """Metadata of an object. ``uid``, ``resource_version``, ``generation`` and the times are the server's."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    self_link: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: Annotated[list[OwnerReference], Field(list_map_keys=["uid"])] = []
    finalizers: Annotated[list[str], Field(list_type="set")] = []
    managed_fields: Annotated[list[ManagedFieldsEntry], Field(list_type="atomic")] = []


class ListMeta(Struct):
    """Metadata of a list: the version of the collection, and where to go on if it has not ended."""

    self_link: str | None = None
    resource_version: str | None = None
    continue_: str | None = field(default=None, name="continue")
    remaining_item_count: int | None = None


class Object(Struct):
    """Anything with metadata: a kind of the API is a subclass."""

    metadata: ObjectMeta = absent(ObjectMeta)

    @property
    def name(self) -> str:
        """The name. Raises `ValueError` if there is none yet: with ``generate_name`` the server gives it on create."""
        if name := self.metadata.name:
            return name
        prefix = self.metadata.generate_name
        awaited = f", the server names it on create (generate_name is {prefix!r})" if prefix else ""
        raise ValueError(f"this {type(self).__name__} has no name yet{awaited}")

    @property
    def namespace(self) -> str:
        """The namespace, "" for an object of a cluster-scoped kind (or one that does not say)."""
        return self.metadata.namespace or ""

    @property
    def key(self) -> Request:
        """What a reconciler would be asked with. Raises `ValueError` if there is no name yet."""
        return Request(self.namespace, self.name)

    @property
    def uid(self) -> str:
        """The identity that the server gave: another object of the same name has another. Raises `ValueError` before it was created."""
        if uid := self.metadata.uid:
            return uid
        raise ValueError(f"this {type(self).__name__} has no uid: it was not read from a server")

    @property
    def is_terminating(self) -> bool:
        """Whether it is being deleted and waits for its finalizers (or its grace period)."""
        return self.metadata.deletion_timestamp is not None
