"""The head of an object: what its key, its version and its selectors need, read from JSON without building the rest of it."""

from __future__ import annotations

import msgspec

from .metadata import OwnerReference
from .naming import api_name
from .request import Request


class Head(msgspec.Struct, frozen=True, kw_only=True, gc=False, rename=api_name):
    """Who an object is, and at which version. Small, and nothing to the garbage collector. What the object does not say is "" or 0."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str = ""

    @property
    def key(self) -> Request:
        """The object's key."""
        return Request(self.namespace, self.name)

    @property
    def is_terminating(self) -> bool:
        """Whether it is being deleted."""
        return self.deletion_timestamp != ""


class Meta(msgspec.Struct, frozen=True, kw_only=True, rename=api_name):
    """What selectors, indexes and owner maps look at."""

    namespace: str = ""
    name: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []

    @property
    def controller(self) -> OwnerReference | None:
        """The one owner that controls this object, None if none does."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class _HasHead(msgspec.Struct, gc=False):
    metadata: Head


class _HasMeta(msgspec.Struct):
    metadata: Meta


_HEAD = msgspec.json.Decoder(_HasHead)
_META = msgspec.json.Decoder(_HasMeta)


def read_head(data: bytes) -> Head:
    """The head, by one scan. Raises `msgspec.MsgspecError` for what is not an object with metadata."""
    return _HEAD.decode(data).metadata


def read_meta(data: bytes) -> Meta:
    """Labels, annotations, owners and finalizers, by one scan. Raises `msgspec.MsgspecError` for what is not an object with metadata."""
    return _META.decode(data).metadata
