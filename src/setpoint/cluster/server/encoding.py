"""Objects as bytes: compact JSON with sorted keys, so that equal objects are equal bytes and `apiVersion` usually comes first."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.schema import Json, apply_defaults, drop_nulls, prune, tidy_embedded
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


def in_version(record: Record, kind: ServedKind) -> bytes:
    """A stored object in a version of its kind, as the schemas have it today. There is no conversion by webhook.

    The schema of the version that it is stored in may have changed since: what that does not know is left out, and what has a default there
    is filled in, as it is for an object that was stored without its defaults. Of this, another version shows what its own schema knows; its
    defaults are for what is sent to it.
    """
    value = record.value
    bare = record.head.bare
    if bare and not kind.strategy.custom:
        value = encode(kind.strategy.fill(decode(value), kind))
    if kind.form is not None:
        return encode({**kind.as_shown(decode(value)), "apiVersion": kind.api_version})
    fits = kind.fits_since is not None and record.revision > kind.fits_since and not bare
    if fits and value.startswith(kind.beginning):
        return value
    obj: dict[str, Any] = decode(value)
    kept = obj["apiVersion"]
    if fits and kept == kind.api_version:
        return value
    schema = kind.structural_of(kept)
    if not fits and schema is not None:
        obj, _ = prune(obj, schema)
        obj = tidy_embedded(apply_defaults(drop_nulls(obj, schema), schema), schema)
    if kept != kind.api_version:
        obj["apiVersion"] = kind.api_version
        if kind.structural is not None and kind.structural is not schema:
            obj = tidy_embedded(prune(obj, kind.structural)[0], kind.structural)
    return encode(obj)


def is_as_read(record: Record, kind: ServedKind) -> bool:
    """Whether a stored object, `in_version`, is as reading it would make it: then what nobody changes of it need not be read again.

    One that was stored in another version or form has not got the defaults of this one; what holds resources is looked at each time.
    """
    plain = kind.form is None and not (kind.structural is not None and kind.structural.has_embedded)
    return plain and kind.strategy.settles and record.value.startswith(kind.beginning)


def nameless(value: bytes, kind: ServedKind) -> bytes:
    """The bytes of an object of the kind without its apiVersion and kind."""
    names = b'%b,"kind":"%b",' % (kind.beginning, kind.kind.encode())
    if value.startswith(names):  # as most kinds are kept: nothing that they have sorts before
        return b"{" + value[len(names) :]
    fields = _split(value)
    del fields["apiVersion"], fields["kind"]
    return _encode(fields)


def objects_in(storage: Storage, collection: str) -> list[dict[str, Json]]:
    """All objects of a collection, decoded."""
    return [decode(record.value) for record in storage.list(collection).records]
