"""Makes steps, one after another, in sight of what the real server has answered: most of them succeed, and some are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from .kinds import Kind
from .materials import (
    BAD_FIELDS,
    BAD_METADATA,
    BAD_SELECTORS,
    CONTENT_TYPES,
    GENERATED,
    LIST_VERSIONS,
    MANAGERS,
    MATCHING,
    METADATA,
    NAMES,
    PARTIAL,
    PARTIAL_LIST,
    RARE_EDITS,
    RARE_OPERATIONS,
    RARE_WATCHES,
    SELECTORS,
    TABLE,
    WATCH_VERSIONS,
    Query,
)
from .shapes import edits_of, laid, nested, operations_of, pointer, value_at
from .steps import NOBODY, REMOVE, Answer, Edit, Json, Memory, Step

T = TypeVar("T")
Draw: TypeAlias = Callable[[int], int]
"""Chance: gives a number below the one that it is given."""


class Author:
    """Writes the steps of one sequence about one kind. `weights` say how often each verb is wanted."""

    def __init__(self, kind: Kind, memory: Memory, weights: Mapping[str, int]) -> None:
        self.kind = kind
        self._memory = memory
        self._alive: dict[str, None] = {}
        self._generated = 0
        self._marks: dict[str, tuple[str, str]] = {}
        self._verbs = tuple(verb for verb in kind.verbs for _ in range(1 + min(weights.get(verb, 1), 40)))
        self._draw: Draw = lambda limit: 0

    # drawing

    def _pick(self, options: Sequence[T]) -> T:
        return options[self._draw(len(options))]

    def _sometimes(self, percent: int) -> bool:
        """True that often. Shrinks to False."""
        return self._draw(100) >= 100 - percent

    # what there is

    def saw(self, step: Step, answer: Answer) -> None:
        """Takes note of what the real server has answered."""
        if not answer.ok or ("dryRun", "All") in step.query or not step.about:
            return
        if step.what == "deletecollection":
            for reference in list(self._alive):
                if "finalizers" not in (self._memory.last(reference) or {"metadata": {}})["metadata"]:
                    del self._alive[reference]
        elif step.what == "delete":
            if answer.body.get("kind") == "Status" or "deletionTimestamp" not in answer.body.get("metadata", {}):
                self._alive.pop(step.about, None)
        elif step.method in ("POST", "PUT", "PATCH") or (step.method == "GET" and step.about.partition("/")[2]):
            self._alive[step.about] = None
        if answer.status == 404:
            self._alive.pop(step.about, None)

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
        return short if self.kind.namespaced else f"NS-{short}"

    def path(self, reference: str, version: str, subresource: str = "") -> str:
        """The path of an object."""
        name = reference.partition("/")[2]
        name = f"<name {name}>" if name.startswith("gen") else name
        return f"{self.kind.collection(version)}/{name}" + (f"/{subresource}" if subresource else "")

    # steps

    def write(self, draw: Draw) -> Step:
        """The next step."""
        self._draw = draw
        verb = self._pick(self._verbs)
        if not self._alive and not verb.startswith(("create", "list", "watch", "patch apply")) and not self._sometimes(3):
            verb = "create"
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

    def _whole(self, name: str, version: str, base: Json, metadata: Json) -> Json:
        meta = {"name": name, **metadata}
        if not self.kind.namespaced:
            meta["labels"] = {**meta.get("labels", {}), "run": "NS"}
        return laid({"apiVersion": self.kind.api_version(version), "kind": self.kind.kind, "metadata": meta}, base)

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

    def _create(self, version: str) -> Step:
        base = self._pick(self.kind.bases)
        metadata = laid(self._metadata(50), self._metadata(25))
        query = self._options()
        if self._sometimes(12) and "generateName" not in self.kind.without:
            self._generated += 1
            symbol = f"gen{self._generated}"
            body = self._whole("", version, base, metadata)
            del body["metadata"]["name"]
            body["metadata"]["generateName"] = f"{'' if self.kind.namespaced else 'NS-'}{GENERATED}{self._generated}-"
            return Step(
                "create",
                self.kind.sort,
                "POST",
                self.kind.collection(version),
                tuple(query),
                body,
                "application/json",
                about=self._reference(symbol),
                generates=symbol,
            )
        reference = self._absent()
        body, twice = self._spoilt(self._whole(reference.partition("/")[2], version, base, metadata))
        if self._sometimes(2):
            body = laid(
                body,
                self._pick(({"kind": "Other"}, {"apiVersion": "v9"}, {"metadata": {"resourceVersion": "5"}}, {"kind": ""})),
            )
        accept, path = self._accept(single=True, rare=2), self.kind.collection(version)
        return Step("create", self.kind.sort, "POST", path, tuple(query), body, "application/json", accept, reference, twice=twice)

    def _get(self, version: str) -> Step:
        reference = self._there()
        query: Query = []
        if self._sometimes(20):
            query.append(("resourceVersion", self._pick(("0", f"<rv {reference}>", f"<rv {reference} -1>", "bad"))))
        return Step(
            "get",
            self.kind.sort,
            "GET",
            self.path(reference, version),
            tuple(query),
            accept=self._accept(single=True, rare=15),
            about=reference,
        )

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

    def _list(self, version: str) -> Step:
        about = f"{self.kind.plural}/"
        query = self._selection()
        last = self._memory.lists.get(self.kind.plural, {})
        if last.get("continue") and self._sometimes(50):
            query += [("limit", self._pick(("1", "2", "500"))), ("continue", f"<token {self.kind.plural}>")]
        elif "limit" not in self.kind.without and self._sometimes(25):
            query.append(("limit", self._pick(("1", "2", "500"))))
            if self._sometimes(15):
                query.append(("resourceVersion", "0"))
        elif self._sometimes(25):
            query += self._pick(LIST_VERSIONS if last else LIST_VERSIONS[4:])(self.kind.plural)
        if self._sometimes(2):
            query += self._pick(([("continue", "bad")], [("limit", "x")], [("limit", "-1")], [("timeoutSeconds", "x")]))
        accept = self._accept(single=False, rare=25)
        if accept == TABLE and self._sometimes(30):
            query.append(("includeObject", self._pick(("None", "Object", "Metadata", "Bad"))))
        return Step("list", self.kind.sort, "GET", self.kind.collection(version), tuple(query), accept=accept, about=about)

    def _watch(self, version: str) -> Step:
        mark = f"mark{len(self._marks) + 1}"
        labels = self._pick(SELECTORS) if self._sometimes(35) else ""
        query = [("watch", self._pick(("true", "1"))), *self._labelled(labels)]
        name = self._name("a") if self._sometimes(12) else ""
        if name or self._sometimes(8):
            query.append(("fieldSelector", f"metadata.name={name}" if name else "metadata.name!=x"))
        self._marks[mark] = labels, name
        query += self._pick(WATCH_VERSIONS if self.kind.plural in self._memory.lists else WATCH_VERSIONS[3:])(self.kind.plural)
        if self._sometimes(30):
            query.append(("allowWatchBookmarks", "true"))
        if self._sometimes(2):
            query += self._pick(RARE_WATCHES)
        accept = self._pick((TABLE, PARTIAL)) if self._sometimes(15) else "application/json"
        about, path = f"{self.kind.plural}/", self.kind.collection(version)
        return Step("watch", self.kind.sort, "GET", path, tuple(query), accept=accept, about=about, mark=mark)

    def _change(self) -> Json:
        """A partial object that changes another one."""
        if self._sometimes(30):
            return {"metadata": self._pick(METADATA)}
        change = self._pick(self.kind.fragments)
        return laid(change, self._pick(self.kind.fragments)) if self._sometimes(20) else change

    def _update(self, version: str) -> Step:
        creates = self._sometimes(5)
        reference = self._absent() if creates else self._there()
        path, query = self.path(reference, version), tuple(self._options())
        if creates or self._memory.last(reference) is None:
            body = self._whole(reference.partition("/")[2], version, self._pick(self.kind.bases), {})
            return Step("update", self.kind.sort, "PUT", path, query, body, "application/json", about=reference)
        change, twice = self._spoilt(self._change())
        edits = [*edits_of(change), Edit(("apiVersion",), self.kind.api_version(version)), Edit(("kind",), self.kind.kind)]
        if self.kind.removals and self._sometimes(15):
            edits.append(Edit(self._pick(self.kind.removals), REMOVE))
        if self._sometimes(8):
            edits.append(
                Edit(("metadata", self._pick(("finalizers", "labels", "annotations", "ownerReferences", "managedFields"))), REMOVE)
            )
        age = 1 if self._sometimes(6) else 0
        if self._sometimes(20):
            edits.append(Edit(("metadata", "resourceVersion"), REMOVE))
        elif self._sometimes(5):
            member, value = self._pick(RARE_EDITS)
            edits.append(Edit(("metadata", member), value))
        return Step(
            "update",
            self.kind.sort,
            "PUT",
            path,
            query,
            content_type="application/json",
            accept=self._accept(single=True, rare=2),
            about=reference,
            base=reference,
            age=age,
            edits=tuple(edits),
            twice=twice,
        )

    def _patch(self, what: str, sort: str, version: str) -> Step:
        if sort == "apply":
            return self._apply(version)
        reference = self._there()
        path, query = self.path(reference, version), tuple(self._options())
        body, twice = self._patch_body(sort, reference)
        return Step(
            what, self.kind.sort, "PATCH", path, query, body, CONTENT_TYPES[sort], self._accept(single=True, rare=2), reference, twice=twice
        )

    def _patch_body(self, sort: str, reference: str) -> tuple[Json, str]:
        live = self._memory.last(reference) or {}
        if self._sometimes(1):
            return self._pick(("not json", "[1]", "{", "null", '{"spec": null}', "[]", '"x"')), ""
        if sort == "json":
            return self._json_patch(live, reference), ""
        if sort == "strategic" and self.kind.strategic and self._sometimes(30):
            return self._pick(self.kind.strategic), ""
        change, twice = self._spoilt(self._change())
        if self.kind.removals and self._sometimes(12):
            change = laid(change, nested(self._pick(self.kind.removals), None))
        if self._sometimes(6):
            change = laid(change, {"metadata": {self._pick(("finalizers", "labels", "annotations", "ownerReferences")): None}})
        if self._sometimes(6):
            change = laid(change, {"metadata": {"resourceVersion": f"<rv {reference}{self._pick(('', ' -1'))}>"}})
        if self._sometimes(3):
            change = laid(change, {"metadata": {"uid": self._pick((f"<uid {reference}>", NOBODY))}})
        return change, twice

    def _json_patch(self, live: Json, reference: str) -> Json:
        operations: list[Json] = []
        if self._sometimes(15):
            operations.append(
                {"op": "test", "path": "/metadata/resourceVersion", "value": f"<rv {reference}{' -1' if self._sometimes(20) else ''}>"}
            )
        change = self._change()
        if self._sometimes(6):
            change = self._pick(self.kind.bad) if self.kind.bad and self._sometimes(60) else {"metadata": self._pick(BAD_METADATA)}
        operations += operations_of(live, change)
        present = [
            path for path in (*self.kind.removals, ("metadata", "labels"), ("metadata", "finalizers")) if value_at(live, path) is not None
        ]
        if present and self._sometimes(15):
            operations.append({"op": "remove", "path": pointer(self._pick(present))})
        if self._sometimes(8):
            operations.append(self._pick(RARE_OPERATIONS))
        return operations

    def _apply(self, version: str) -> Step:
        absent = self._sometimes(10)
        reference = self._absent() if absent else self._there()
        name = reference.partition("/")[2]
        body = self._whole(f"<name {name}>" if name.startswith("gen") else name, version, self._change(), {})
        if absent or reference not in self._alive:
            body = laid(body, self._pick(self.kind.bases))
        if self._sometimes(20):
            body = laid(body, {"metadata": self._pick(METADATA)})
        query = self._options(apply=True)
        if self._sometimes(70):
            query.append(("force", "true"))
        body, twice = self._spoilt(body)
        if self._sometimes(2):
            body = laid(
                body,
                self._pick(
                    (
                        {"metadata": {"managedFields": []}},
                        {"metadata": {"resourceVersion": "3"}},
                        {"metadata": {"resourceVersion": f"<rv {reference}>"}},
                        {"kind": "Other"},
                    )
                ),
            )
        return Step(
            "patch apply",
            self.kind.sort,
            "PATCH",
            self.path(reference, version),
            tuple(query),
            body,
            CONTENT_TYPES["apply"],
            about=reference,
            twice=twice,
        )

    def _status(self, what: str, sort: str, version: str) -> Step:
        reference = self._there()
        path, kind = self.path(reference, version, "status"), self.kind
        if sort == "get":
            return Step(what, kind.sort, "GET", path, accept=self._accept(single=True), about=reference)
        status = self._pick(kind.status)
        if self._sometimes(10):
            status = laid(status, self._change())
        if sort == "update" and self._memory.last(reference) is not None:
            edits = [*edits_of(status), Edit(("apiVersion",), kind.api_version(version)), Edit(("kind",), kind.kind)]
            if self._sometimes(20):
                edits.append(Edit(("metadata", "resourceVersion"), REMOVE))
            return Step(
                what,
                kind.sort,
                "PUT",
                path,
                tuple(self._options()),
                None,
                "application/json",
                about=reference,
                base=reference,
                age=int(self._sometimes(4)),
                edits=tuple(edits),
            )
        name = reference.partition("/")[2]
        whole = self._whole(f"<name {name}>" if name.startswith("gen") else name, version, status, {})
        if sort == "update":
            return Step(what, kind.sort, "PUT", path, tuple(self._options()), whole, "application/json", about=reference)
        if sort == "apply":
            query = self._options(apply=True) + ([("force", "true")] if self._sometimes(70) else [])
            return Step(what, kind.sort, "PATCH", path, tuple(query), whole, CONTENT_TYPES["apply"], about=reference)
        body = operations_of(self._memory.last(reference) or {}, status) if sort == "json" else status
        return Step(what, kind.sort, "PATCH", path, tuple(self._options()), body, CONTENT_TYPES[sort], about=reference)

    def _scale(self, what: str, sort: str, version: str) -> Step:
        reference = self._there()
        path, kind = self.path(reference, version, "scale"), self.kind
        if sort == "get":
            return Step(what, kind.sort, "GET", path, about=reference)
        count = self._pick((1, 2, 5, 0, -1)) if self._sometimes(90) else self._pick(("x", 1.5, None))
        name = reference.partition("/")[2]
        meta: Json = {"name": f"<name {name}>" if name.startswith("gen") else name, **({"namespace": "NS"} if kind.namespaced else {})}
        if self._sometimes(15) and sort != "apply":
            meta["resourceVersion"] = f"<rv {reference}{self._pick(('', ' -1'))}>"
        whole = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": meta, "spec": {"replicas": count}}
        if sort == "update":
            return Step(what, kind.sort, "PUT", path, tuple(self._options()), whole, "application/json", about=reference)
        if sort == "apply":
            query = self._options(apply=True) + ([("force", "true")] if self._sometimes(70) else [])
            return Step(what, kind.sort, "PATCH", path, tuple(query), whole, CONTENT_TYPES["apply"], about=reference)
        body: Json = [{"op": "replace", "path": "/spec/replicas", "value": count}] if sort == "json" else {"spec": {"replicas": count}}
        return Step(what, kind.sort, "PATCH", path, tuple(self._options()), body, CONTENT_TYPES[sort], about=reference)

    def _deleting(self) -> tuple[Query, Json]:
        query: Query = []
        options: Json = {}
        if self._sometimes(6):
            query.append(("dryRun", "All"))
        if self._sometimes(20):
            query.append(("propagationPolicy", self._pick(("Background", "Orphan", "Foreground", "Sideways"))))
        elif self._sometimes(20):
            options["propagationPolicy"] = self._pick(("Background", "Orphan", "Foreground"))
        if self._sometimes(15):
            query.append(("gracePeriodSeconds", self._pick(("0", "5", "1"))))
        elif self._sometimes(10):
            options["gracePeriodSeconds"] = self._pick((0, 3))
        return query, options

    def _delete(self, version: str) -> Step:
        reference = self._there()
        query, options = self._deleting()
        if self._sometimes(20):
            uid, rv = {"uid": f"<uid {reference}>"}, {"resourceVersion": f"<rv {reference}>"}
            options["preconditions"] = self._pick((uid, rv, {**uid, **rv}, {"uid": NOBODY}, {"resourceVersion": f"<rv {reference} -1>"}))
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None
        return Step(
            "delete",
            self.kind.sort,
            "DELETE",
            self.path(reference, version),
            tuple(query),
            body,
            "application/json" if body else "",
            about=reference,
        )

    def _delete_collection(self, version: str) -> Step:
        query, options = self._deleting()
        query += self._selection()
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None
        path = self.kind.collection(version)
        return Step(
            "deletecollection",
            self.kind.sort,
            "DELETE",
            path,
            tuple(query),
            body,
            "application/json" if body else "",
            about=f"{self.kind.plural}/",
        )
