"""What the cache keeps of one object: its bytes, and just enough beside them to order, identify and find it.

Nothing here is tracked by the garbage collector, so that a full collection costs the same with one object or with a hundred thousand.
"""

from __future__ import annotations

import sys
from typing import TypeAlias

import msgspec

from setpoint.objects import KindInfo, Request
from setpoint.objects.codec import DecodeError, decode_head

Version: TypeAlias = int | str
"""A resourceVersion: an integer, which has an order, or whatever else a server calls it, which has none.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
"""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One object at one version."""

    data: bytes
    uid: str
    version: Version

    def is_same(self, other: Entry) -> bool:
        """Whether both are one object at one version.

        Then their bytes are equal, too, unless the server was restored from a backup in between and has used that version once more.
        """
        return self.version == other.version and self.uid == other.uid and self.data == other.data


class Change(msgspec.Struct, frozen=True, gc=False):
    """A transition of the base for one key: `old` and `new` are the object's bytes, None where there is none.

    `initial` marks what is told because somebody starts to listen, not because anything happened. An object that was deleted and made
    again under its name is two changes, a deletion and a creation, also where only the outcome was seen.
    """

    key: Request
    old: bytes | None
    new: bytes | None
    initial: bool = False


def parse_version(text: str) -> Version:
    """A resourceVersion as the wire has it."""
    return int(text) if text.isdecimal() else text


def is_older(version: Version, than: Version | None) -> bool:
    """Whether a version is known to come before another; versions that are no integers are never known to."""
    return isinstance(version, int) and isinstance(than, int) and version < than


def read_entry(data: bytes) -> tuple[Request, Entry]:
    """Key and entry of an object's bytes, which are kept as they are. Raises `DecodeError` for what has no readable metadata or no name."""
    head = decode_head(data)
    if not head.name:
        raise DecodeError("object", Request(head.namespace, ""), ".metadata.name", "it has no name")
    # One string for each namespace, not one for each object in it.
    key = Request(sys.intern(head.namespace), head.name)
    return key, Entry(data, head.uid, parse_version(head.resource_version))


def with_kind(data: bytes, info: KindInfo) -> bytes:
    """The object with its `apiVersion` and `kind`, which lists leave out for built-in kinds, so that all bytes of a cache look alike."""
    if data.startswith((b'{"metadata"', b'{"spec"')):
        return b'{"apiVersion":"%b","kind":"%b",%b' % (info.api_version.encode(), info.kind.encode(), data[1:])
    return data
