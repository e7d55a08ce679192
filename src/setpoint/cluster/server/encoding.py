"""Objects as bytes: compact JSON with sorted keys, so that equal objects are equal bytes and `apiVersion` usually comes first."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.storage import Record, Storage

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder().decode
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def encode(obj: Json) -> bytes:
    """The bytes of a plain JSON value."""
    return _encode(obj)


def decode(value: bytes) -> dict[str, Json]:
    """An object from its bytes: fresh, the caller's own."""
    obj: dict[str, Json] = _decode(value)
    return obj


def restamped(value: bytes, revision: int) -> bytes:
    """The object's bytes with another resourceVersion."""
    obj = decode(value)
    obj["metadata"]["resourceVersion"] = str(revision)
    return encode(obj)


def in_version(record: Record, api_version: str) -> bytes:
    """A stored object in a version of its kind. Versions differ in their name alone: there is no conversion by webhook."""
    value = record.value
    prefix = b'{"apiVersion":"%b"' % api_version.encode()
    if value.startswith(prefix):
        return value
    obj: dict[str, Any] = decode(value)
    if obj["apiVersion"] == api_version:
        return value
    obj["apiVersion"] = api_version
    return encode(obj)


def nameless(value: bytes) -> bytes:
    """The object's bytes without its apiVersion and kind."""
    fields = _split(value)
    del fields["apiVersion"], fields["kind"]
    return _encode(fields)


def objects_in(storage: Storage, collection: str) -> list[dict[str, Json]]:
    """All objects of a collection, decoded."""
    return [decode(record.value) for record in storage.list(collection).records]
