"""`Form`: what a cache keeps of each object of a kind, and how: all of it, without some parts, its metadata alone, compressed."""

from __future__ import annotations

import sys

import msgspec

from setpoint.cache.entry import Entry, parse_version
from setpoint.cache.packing import Packing
from setpoint.objects import KindInfo, Request
from setpoint.objects.codec import DecodeError, decode_head
from setpoint.objects.strip import Strip

NOTHING = Strip()


class Form:
    """From an object's bytes, as the server gives them, to its entry. `strip` says what the kept object lacks.

    Every informer of a kind keeps the same of an object, except for those that know only metadata.
    """

    __slots__ = ("metadata_only", "packing", "strip")

    def __init__(self, *, strip: Strip = NOTHING, packing: Packing | None = None, metadata_only: bool = False) -> None:
        self.strip: Strip = strip
        self.packing: Packing | None = packing
        self.metadata_only: bool = metadata_only

    def of_metadata(self) -> Form:
        """The same, of metadata alone. It shares no dictionary: what there is to learn from is something else."""
        return Form(strip=self.strip, metadata_only=True)

    def become(self, other: Form) -> None:
        """Keeps from now on what the other one keeps: before anything has been kept."""
        self.strip, self.packing, self.metadata_only = other.strip, other.packing, other.metadata_only

    def read(self, data: bytes) -> tuple[Request, Entry]:
        """Key and entry of an object. Raises `DecodeError` for what has no readable metadata or no name."""
        head = decode_head(data)
        if not head.name:
            raise DecodeError("object", Request(head.namespace, ""), ".metadata.name", "it has no name")
        if self.metadata_only:
            data = _metadata_of(data)
        if self.strip:
            data = self.strip.of(data)
        if self.packing is not None:
            data = self.packing.pack(data)
        # One string for each namespace, not one for each object in it.
        key = Request(sys.intern(head.namespace), head.name)
        return key, Entry(data, head.uid, parse_version(head.resource_version), self.packing)

    def accept(self, *, listing: bool) -> str:
        """The `Accept` header that asks the server for no more than is kept. A server that does not know of it sends everything.

        https://kubernetes.io/docs/reference/using-api/api-concepts/#partialobjectmetadata
        """
        if not self.metadata_only:
            return "application/json"
        shape = "PartialObjectMetadataList" if listing else "PartialObjectMetadata"
        return f"application/json;as={shape};g=meta.k8s.io;v=v1,application/json"


WHOLE = Form()


def with_kind(data: bytes, info: KindInfo) -> bytes:
    """The object with its `apiVersion` and `kind`, which lists leave out for built-in kinds, so that all bytes of a cache look alike."""
    if data.startswith((b'{"metadata"', b'{"spec"')):
        return b'{"apiVersion":"%b","kind":"%b",%b' % (info.api_version.encode(), info.kind.encode(), data[1:])
    return data


class _Partial(msgspec.Struct):
    metadata: msgspec.Raw


_partial = msgspec.json.Decoder(_Partial).decode


def _metadata_of(data: bytes) -> bytes:
    """As `PartialObjectMetadata`, whatever the object came as: an answer to a write of our own is a whole one."""
    return b'{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":%b}' % bytes(_partial(data).metadata)
