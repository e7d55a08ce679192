"""What the cache keeps of one object: its bytes, and just enough beside them to order, identify and find it.

Nothing here is tracked by the garbage collector, so that a full collection costs the same with one object or with a hundred thousand.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from setpoint.cache.packing import Packing
from setpoint.objects import Request

Version: TypeAlias = int | str
"""A resourceVersion: an integer, which has an order, or whatever else a server calls it, which has none.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
"""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One object at one version; `kept` are its bytes, or what `packing` made of them."""

    kept: bytes
    uid: str
    version: Version
    packing: Packing | None = None

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.kept if self.packing is None else self.packing.unpack(self.kept)

    def is_same(self, other: Entry) -> bool:
        """Whether both are one object at one version.

        Then their bytes are equal, too, unless the server was restored from a backup in between and has used that version once more.
        """
        return self.version == other.version and self.uid == other.uid and (self.kept == other.kept or self.data == other.data)


class Change(msgspec.Struct, frozen=True, gc=False):
    """A transition of the base for one key: `old` and `new` are the object's bytes, None where there is none.

    It holds what the base holds of them, an entry each, and gives their bytes to whoever looks: most changes are passed on and never looked
    at, and what is kept compressed stays so. Who has no entry gives the bytes themselves.

    `initial` marks what is told because somebody starts to listen, not because anything happened. An object that was deleted and made
    again under its name is two changes, a deletion and a creation, also where only the outcome was seen. `left` marks an object whose
    namespace is not looked at any more: it looks like a deletion, and is none.
    """

    key: Request
    before: Entry | bytes | None
    after: Entry | bytes | None
    initial: bool = False
    left: bool = False

    @property
    def old(self) -> bytes | None:
        """The object as it was."""
        return self.before.data if isinstance(self.before, Entry) else self.before

    @property
    def new(self) -> bytes | None:
        """The object as it is."""
        return self.after.data if isinstance(self.after, Entry) else self.after


def parse_version(text: str) -> Version:
    """A resourceVersion as the wire has it."""
    return int(text) if text.isdecimal() else text


def is_older(version: Version, than: Version | None) -> bool:
    """Whether a version is known to come before another; versions that are no integers are never known to."""
    return isinstance(version, int) and isinstance(than, int) and version < than
