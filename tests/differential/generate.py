"""Makes steps, one after another, in sight of what the real server has answered: most of them succeed, and some are refused."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from .deletes import Deletes
from .kinds import Kind
from .materials import CONTENT_TYPES, MATCHING, NAMES
from .pen import Draw
from .reads import Reads
from .steps import Memory, Step
from .subresources import Subresources
from .writes import Writes


class Author(Reads, Writes, Subresources, Deletes):
    """Writes the steps of one sequence about one kind. `weights` say how often each verb is wanted, in proportion."""

    def __init__(self, kind: Kind, memory: Memory, weights: Mapping[str, int]) -> None:
        super().__init__(kind, memory)
        self._limits = tuple(accumulate(1 + weights.get(verb, 1) for verb in kind.verbs))

    def write(self, draw: Draw) -> Step:
        """The next step."""
        self._draw = draw
        verb = self.kind.verbs[bisect_right(self._limits, draw(self._limits[-1]))]
        if not self._alive and not verb.startswith(("create", "list", "watch", "patch apply")) and not self._sometimes(3):
            verb = "create"
        elif verb == "create" and len(self._alive) >= len(NAMES) and not self._sometimes(3):
            verb = "delete"  # no name is free
        first, _, second = verb.partition(" ")
        version = self._pick(self.kind.versions)
        if first == "patch":
            return self._patch(verb, second, version)
        if first == "status":
            return self._status(verb, second, version)
        if first == "scale":
            return self._scale(verb, second, version)
        return {
            "create": self._create, "get": self._get, "list": self._list, "watch": self._watch, "update": self._update,
            "delete": self._delete, "deletecollection": self._delete_collection,
        }[first](version)  # fmt: skip

    def marker(self, watch: Step) -> Step:
        """A write that a watch is certain to see."""
        version, mark = self.kind.versions[0], {"marker": watch.mark}
        labels, name = self._marks[watch.mark]
        reference = self._reference(name or self._name(watch.mark))
        if reference in self._alive:
            change, path = {"metadata": {"annotations": mark}}, self.path(reference, version)
            return Step("marker", self.kind.sort, "PATCH", path, (), change, CONTENT_TYPES["merge"], about=reference, mark=watch.mark)
        body = self._whole(reference.partition("/")[2], version, self.kind.bases[0], {"labels": MATCHING[labels], "annotations": mark})
        path = self.kind.collection(version)
        return Step("marker", self.kind.sort, "POST", path, (), body, "application/json", about=reference, mark=watch.mark)
