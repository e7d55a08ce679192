"""Watch frames: one JSON document per event.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
"""The annotation of the bookmark that ends the initial events of a WatchList."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One event: its type, and the object's bytes (a private copy; a Status when the type is ERROR)."""

    type: str
    object: bytes


class _Wire(msgspec.Struct):
    type: str
    object: msgspec.Raw


_decode = msgspec.json.Decoder(_Wire).decode
_PREFIXES: dict[bytes, str] = {
    f'{{"type":"{kind}","object":'.encode(): kind for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}
_LENGTHS = {prefix[9:11]: (prefix, len(prefix), kind) for prefix, kind in _PREFIXES.items()}


def encode_frame(type: EventType, object: bytes) -> bytes:
    """The wire form of an event, without the newline that ends it."""
    return b'{"type":"%b","object":%b}' % (type.encode(), object)


def decode_frame(line: bytes) -> Frame:
    """One event from its line. Servers write the type first, so the object is a slice; any other order is read in full.

    Raises `msgspec.DecodeError` if the line is no event.
    """
    known = _LENGTHS.get(line[9:11])
    if known is not None and line.startswith(known[0]):
        return Frame(known[2], line[known[1] : line.rfind(b"}")])
    wire = _decode(line)
    return Frame(wire.type, bytes(wire.object))
