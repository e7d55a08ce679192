"""Parts of an object that have been read before, as most of an object has when a patch changes it: none of the walks looks into them.

A part that stands behind `Settled` is neither map nor list, so that pruning, defaulting and reading take it as it is.
"""

from __future__ import annotations

from setpoint.cluster.server.schema.structural import Json


class Settled:
    """Stands for a map or a list that is to be kept as it is."""

    __slots__ = ("part",)

    def __init__(self, part: Json) -> None:
        self.part = part

    def opened(self) -> Json:
        """The part, of which the top level is the caller's own."""
        return dict(self.part) if type(self.part) is dict else list(self.part)


def settle(obj: dict[str, Json], read: dict[str, Json]) -> dict[str, Json]:
    """An object, where those of its fields are `Settled` that it has in common with one that has been read. The metadata are not."""
    return {
        key: Settled(part) if (type(part) is dict or type(part) is list) and part is read.get(key) and key != "metadata" else part
        for key, part in obj.items()
    }


def unsettle(obj: dict[str, Json]) -> dict[str, Json]:
    """The object again, with what has been read."""
    return {key: part.opened() if type(part) is Settled else part for key, part in obj.items()}
