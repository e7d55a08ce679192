"""What every step is made with: chance, what is there, and how an object of the kind is named, written and spoilt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from .kinds import Kind
from .materials import BAD_FIELDS, BAD_METADATA, BAD_SELECTORS, MANAGERS, METADATA, NAMES, PARTIAL, PARTIAL_LIST, SELECTORS, TABLE, Query
from .settling import CLEANUP
from .shapes import laid
from .steps import Answer, Json, Memory, Step

T = TypeVar("T")
Draw: TypeAlias = Callable[[int], int]
"""Chance: gives a number below the one that it is given."""


class Pen:
    """What writes the steps of one sequence about one kind."""

    def __init__(self, kind: Kind, memory: Memory) -> None:
        self.kind = kind
        self._memory = memory
        self._alive: dict[str, None] = {}
        self._generated = 0
        self._marks: dict[str, tuple[str, str]] = {}
        self._draw: Draw = lambda limit: 0

    def _pick(self, options: Sequence[T]) -> T:
        return options[self._draw(len(options))]

    def _sometimes(self, percent: int) -> bool:
        """True that often. Shrinks to False."""
        return self._draw(100) >= 100 - percent

    def saw(self, step: Step, answer: Answer) -> None:
        """Takes note of what the real server has answered."""
        named = step.about.partition("/")[2]
        if ("dryRun", "All") in step.query or not step.about:
            return
        if named and (answer.status == 404 or (answer.status == 409 and step.method == "POST")):
            # What is not there after all, or is: an answer need not have told.
            self._note(step.about, there=answer.status == 409)
        if not answer.ok:
            return
        if step.what == "deletecollection":
            for meta in _listed(answer.body):
                reference = self._memory.reference(self.kind.plural, meta)
                if not meta.get("finalizers"):
                    self._note(reference, there=False)
        elif step.what == "delete":
            body = answer.body
            meta = body.get("metadata", {})
            stays = "rows" in body or (meta.get("deletionTimestamp") and meta.get("finalizers") != [CLEANUP])
            if body.get("kind") == "Status" or not stays:
                self._note(step.about, there=False)
        elif step.method in ("POST", "PUT", "PATCH") or (step.method == "GET" and named):
            self._note(step.about, there=True)

    def _note(self, reference: str, *, there: bool) -> None:
        if there:
            self._alive[reference] = None
        else:
            self._alive.pop(reference, None)

    @property
    def alive(self) -> list[str]:
        """References of what may be there."""
        return list(self._alive)

    def _reference(self, name: str) -> str:
        return f"{self.kind.plural}/{name}"

    def _there(self) -> str:
        """The reference of something that is there, nearly always."""
        if self._alive and not self._sometimes(4):
            return self._pick(self.alive)
        return self._reference(self._name(self._pick(NAMES)))

    def _absent(self) -> str:
        names = [self._name(name) for name in NAMES]
        absent = [name for name in names if self._reference(name) not in self._alive]
        return self._reference(self._pick(absent if absent and not self._sometimes(4) else names))

    def _name(self, short: str) -> str:
        return self.kind.named(short)

    def path(self, reference: str, version: str, subresource: str = "") -> str:
        """The path of an object."""
        name = reference.partition("/")[2]
        name = f"<name {name}>" if name.startswith("gen") else name
        return f"{self.kind.collection(version)}/{name}" + (f"/{subresource}" if subresource else "")

    def _whole(self, name: str, version: str, base: Json, metadata: Json) -> Json:
        meta = {"name": name, **metadata}
        if not self.kind.namespaced:
            meta["labels"] = {**meta.get("labels", {}), "run": "NS"}
        return laid(
            {"apiVersion": self.kind.api_version(version), "kind": self.kind.kind, "metadata": meta}, self.kind.made_out(base, name)
        )

    def _options(self, *, apply: bool = False) -> Query:
        query: Query = []
        if apply or self._sometimes(50):
            query.append(("fieldManager", self._pick(MANAGERS)))
        if self._sometimes(8):
            query.append(("dryRun", "All"))
        if self._sometimes(30):
            query.append(("fieldValidation", self._pick(("Warn", "Strict", "Ignore"))))
        if self._sometimes(1):
            query.append(self._pick((("dryRun", "Some"), ("fieldValidation", "Nope"), ("fieldManager", "x" * 129), ("force", "true"))))
        return query

    def _accept(self, *, single: bool, rare: int = 8) -> str:
        if not self._sometimes(rare):
            return "application/json"
        return self._pick((TABLE, PARTIAL if single else PARTIAL_LIST))

    def _spoilt(self, body: Json) -> tuple[Json, str]:
        """A body, now and then with something wrong; and a member that is to be said twice."""
        if self._sometimes(6):
            unknown: Json = self._pick(
                ({"unknown": 1}, {"spec": {"unknown": "x"}}, {"metadata": {"unknown": "x"}}, {"unknown": {"deep": []}})
            )
            return laid(body, unknown), ""
        if self._sometimes(3):
            return body, self._pick(tuple(key for key in body if key not in ("apiVersion", "kind")) or ("metadata",))
        if self._sometimes(6):
            return laid(
                body, self._pick(self.kind.bad) if self.kind.bad and self._sometimes(60) else {"metadata": self._pick(BAD_METADATA)}
            ), ""
        return body, ""

    def _metadata(self, percent: int) -> Json:
        return self._pick(METADATA) if self._sometimes(percent) else {}

    def _selection(self) -> Query:
        labels = self._pick(SELECTORS) if self._sometimes(35) else self._pick(BAD_SELECTORS) if self._sometimes(2) else ""
        query = self._labelled(labels)
        if self._sometimes(20):
            name = self._name("a")
            query.append(("fieldSelector", self._pick((f"metadata.name={name}", f"metadata.name!={name}", *self.kind.fields))))
        elif self._sometimes(2):
            query.append(("fieldSelector", self._pick(BAD_FIELDS)))
        return query

    def _labelled(self, labels: str) -> Query:
        """A label selector; one for what is the sequence's own, where all sequences share a collection."""
        if not self.kind.namespaced:
            labels = f"{labels},run=NS" if labels else "run=NS"
        return [("labelSelector", labels)] if labels else []

    def _change(self) -> Json:
        """A partial object that changes another one."""
        if self._sometimes(30):
            return {"metadata": self._pick(METADATA)}
        change = self._pick(self.kind.fragments)
        return laid(change, self._pick(self.kind.fragments)) if self._sometimes(20) else change


def _listed(body: Json) -> list[Json]:
    """The metadata of what a list, in any view, has in it."""
    return [item.get("metadata", {}) for item in body.get("items") or ()] + [
        (row.get("object") or {}).get("metadata", {}) for row in body.get("rows") or ()
    ]
