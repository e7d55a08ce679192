"""How an object in protobuf says what it is: four bytes, then a message with the names of its version and kind, and the object in it."""

from __future__ import annotations

from dataclasses import dataclass

from setpoint.cluster.server.protobuf.special import fields_of, text
from setpoint.cluster.server.protobuf.wire import BYTES, MalformedProtobuf

MAGIC = b"k8s\x00"


@dataclass(frozen=True, slots=True)
class Envelope:
    """What a body holds: the names are empty where they were not said."""

    api_version: str
    kind: str
    raw: bytes


def open_envelope(body: bytes) -> Envelope:
    """What is in a body. Raises `MalformedProtobuf` if it is no envelope."""
    if not body:
        raise MalformedProtobuf("empty data")
    if not body.startswith(MAGIC):
        expected = " ".join(map(str, MAGIC))
        raise MalformedProtobuf(f"provided data does not appear to be a protobuf message, expected prefix [{expected}]")
    if body == MAGIC:
        raise MalformedProtobuf("empty body")
    names = {1: ("TypeMeta", BYTES), 2: ("Raw", BYTES), 3: ("ContentEncoding", BYTES), 4: ("ContentType", BYTES)}
    found = fields_of(body[len(MAGIC) :], "Unknown", names)
    named = fields_of(b"".join(found.get(1, ())), "TypeMeta", {1: ("APIVersion", BYTES), 2: ("Kind", BYTES)})
    raw: bytes = found.get(2, [b""])[-1]
    return Envelope(text(named.get(1, [b""])[-1]), text(named.get(2, [b""])[-1]), raw)
