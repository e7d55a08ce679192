"""How answers show objects: whole, or as the client's `Accept` asks.

https://kubernetes.io/docs/reference/using-api/api-concepts/#alternate-representations-of-resources
"""

from __future__ import annotations

from setpoint.cluster.server.encoding import encode, in_version
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.reading import Listing
from setpoint.cluster.server.storage import Record


class WholeView:
    """Objects as they are."""

    content_type = "application/json"
    shared = "whole"

    def show(self, kind: ServedKind, record: Record) -> bytes:
        """An object, in the version that was asked for."""
        return in_version(record, kind.api_version)

    def show_list(self, kind: ServedKind, listing: Listing) -> bytes:
        """A list of objects."""
        items = b",".join([in_version(record, kind.api_version) for record in listing.records])
        return b'{"apiVersion":%b,"items":[%b],"kind":%b,"metadata":%b}' % (
            encode(kind.api_version),
            items,
            encode(kind.list_kind),
            encode(list_metadata(kind, listing)),
        )

    def bookmark(self, kind: ServedKind, bookmark: bytes) -> bytes:
        """A bookmark as it is."""
        return bookmark


def list_metadata(kind: ServedKind, listing: Listing) -> dict[str, str | int]:
    """The metadata of a list. Lists of custom resources always say `continue`."""
    metadata: dict[str, str | int] = {"resourceVersion": str(listing.revision)}
    if listing.token or kind.strategy.custom:
        metadata["continue"] = listing.token
        if listing.remaining is not None:
            metadata["remainingItemCount"] = listing.remaining
    return metadata
