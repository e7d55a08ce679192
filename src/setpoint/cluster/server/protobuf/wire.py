"""How protobuf messages are written: fields, each a tag (number and wire type) and a value.

https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

VARINT, FIXED64, BYTES, START_GROUP, END_GROUP, FIXED32 = range(6)
EOF = "unexpected EOF"
_WORD = 1 << 64
_SIGN = 1 << 63


class MalformedProtobuf(ValueError):
    """What Go's decoder says of a message that it cannot read."""


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at a place, without sign, and the place behind it. Raises `MalformedProtobuf`."""
    end = len(data)
    if at < end and data[at] < 0x80:
        return data[at], at + 1
    value = shift = 0
    while True:
        if shift >= 64:
            raise MalformedProtobuf("proto: integer overflow")
        if at >= end:
            raise MalformedProtobuf(EOF)
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (_WORD - 1), at
        shift += 7


def delimited(data: bytes, at: int) -> tuple[bytes, int]:
    """The bytes that begin at a place with their length, and the place behind them. Raises `MalformedProtobuf`."""
    length, at = varint(data, at)
    if length >= _SIGN:
        raise MalformedProtobuf("proto: negative length found during unmarshaling")
    end = at + length
    if end > len(data):
        raise MalformedProtobuf(EOF)
    return data[at:end], end


def fixed(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    """The bytes of a number of a fixed size, and the place behind them. Raises `MalformedProtobuf`."""
    if at + size > len(data):
        raise MalformedProtobuf(EOF)
    return data[at : at + size], at + size


def tag(data: bytes, at: int, message: str) -> tuple[int, int, int]:
    """The number and the wire type of the field that begins at a place, and the place of its value. Raises `MalformedProtobuf`."""
    word, at = varint(data, at)
    number, wire = signed(word >> 3, 32), word & 7
    if wire == END_GROUP:
        raise MalformedProtobuf(f"proto: {message}: wiretype end group for non-group")
    if number <= 0:
        raise MalformedProtobuf(f"proto: {message}: illegal tag {number} (wire type {word})")
    return number, wire, at


def skipped(data: bytes, at: int, wire: int) -> int:
    """The place behind a value of a field that nobody knows. Raises `MalformedProtobuf`."""
    depth = 0
    while True:
        if wire == VARINT:
            _, at = varint(data, at)
        elif wire == FIXED64:
            _, at = fixed(data, at, 8)
        elif wire == BYTES:
            _, at = delimited(data, at)
        elif wire == START_GROUP:
            depth += 1
        elif wire == END_GROUP:
            if not depth:
                raise MalformedProtobuf("proto: unexpected end of group")
            depth -= 1
        elif wire == FIXED32:
            _, at = fixed(data, at, 4)
        else:
            raise MalformedProtobuf(f"proto: illegal wireType {wire}")
        if not depth:
            return at
        word, at = varint(data, at)
        wire = word & 7


def signed(value: int, bits: int) -> int:
    """A number as one with a sign, of which only the last bits are kept."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
