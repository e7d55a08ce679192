"""`Request`: which object to reconcile. An identity, and nothing about why."""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True, order=True, gc=False):
    """An object's key. No event, no old object, no reason: a reconciler looks at the state, not at what changed.

    ``namespace`` is "" for a cluster-scoped kind. Ordered by namespace, then name; usable as a dictionary's key.
    """

    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Request:
        """From what `str` gives: ``namespace/name``, or ``name``."""
        namespace, _, name = text.rpartition("/")
        return cls(namespace, name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name
