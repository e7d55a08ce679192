"""Makes steps, one after another, in sight of what the real server has answered: most of them succeed, and some are refused."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st

from .kinds import Kind, verbs_of
from .steps import NOBODY, REMOVE, Answer, Edit, Json, Memory, Step

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]
Query = list[tuple[str, str]]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
CONTENT_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
NAMES = ("a", "b", "c")
MANAGERS = ("m1", "m2", "m3")
LABELS: tuple[Json, ...] = ({"l": "1"}, {"l": "2"}, {"l": "1", "m": "x"}, {"m": "y"})
METADATA: tuple[Json, ...] = (
    *({"labels": labels} for labels in LABELS),
    {"annotations": {"note": "one"}},
    {"annotations": {"note": "two", "other": "x"}},
    {"finalizers": ["example.com/f"]},
    {"finalizers": ["example.com/g", "example.com/f"]},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": NOBODY}]},
)
BAD_METADATA: tuple[Json, ...] = (
    {"labels": {"bad key!": "x"}},
    {"labels": {"l": "bad value!"}},
    {"labels": {"l": 1}},
    {"annotations": {"Bad Key": "x"}},
    {"finalizers": ["unqualified"]},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "", "uid": ""}]},
    {"namespace": "elsewhere"},
    {"uid": NOBODY},
    {"name": "other"},
    {"generation": 9, "creationTimestamp": "2001-02-03T04:05:06Z"},
    {"deletionTimestamp": "2001-02-03T04:05:06Z"},
)
SELECTORS = ("l=1", "l", "!l", "l!=1", "l in (1,2)", "l notin (2)", "l=1,m=x", "m==y")
MATCHING: dict[str, Json] = {
    "": {}, "l=1": {"l": "1"}, "l": {"l": "2"}, "!l": {}, "l!=1": {}, "l in (1,2)": {"l": "2"}, "l notin (2)": {}, "l=1,m=x": {"l": "1", "m": "x"}, "m==y": {"m": "y"},
}  # fmt: skip
"""Labels that each selector selects."""
BAD_SELECTORS = ("l=", "l in", "=x", "l in (1", "-bad-=1", "l=bad value!")
BAD_FIELDS = ("spec.nothing=1", "metadata.name", "metadata.name=a,=")
GENERATED = "generated-"


@lru_cache(maxsize=None)
def _one_of(options: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(range(len(options)))


_PERCENT = st.integers(0, 99)


class Author:
    """Writes the steps of one sequence about one kind. `weights` say how often each verb is wanted."""

    def __init__(self, kind: Kind, memory: Memory, weights: Mapping[str, int]) -> None:
        self.kind = kind
        self._memory = memory
        self._alive: dict[str, None] = {}
        self._generated = 0
        self._marks: dict[str, tuple[str, str]] = {}
        self._verbs = tuple(verb for verb in verbs_of(kind) for _ in range(1 + min(weights.get(verb, 1), 40)))
        self._draw: Draw = lambda strategy: strategy.example()

    # drawing

    def _pick(self, options: Sequence[T]) -> T:
        kept = tuple(range(len(options)))
        chosen: T = options[self._draw(_one_of(kept))]
        return chosen

    def _sometimes(self, percent: int) -> bool:
        """True that often. Shrinks to False."""
        return bool(self._draw(_PERCENT) >= 100 - percent)

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
        elif step.method in ("POST", "PUT", "PATCH"):
            self._alive[step.about] = None
        elif step.method == "GET" and step.about.partition("/")[2]:
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
            "create": self._create, "get": self._get, "list": self._list, "watch": self._watch, "update": self._update, "delete": self._delete,
            "deletecollection": self._delete_collection,
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
        return _laid({"apiVersion": self.kind.api_version(version), "kind": self.kind.kind, "metadata": meta}, base)

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
            return _laid(body, unknown), ""
        if self._sometimes(3):
            return body, self._pick(tuple(key for key in body if key not in ("apiVersion", "kind")) or ("metadata",))
        if self._sometimes(6):
            return _laid(
                body, self._pick(self.kind.bad) if self.kind.bad and self._sometimes(60) else {"metadata": self._pick(BAD_METADATA)}
            ), ""
        return body, ""

    def _metadata(self, percent: int) -> Json:
        return self._pick(METADATA) if self._sometimes(percent) else {}

    def _create(self, version: str) -> Step:
        base = self._pick(self.kind.bases)
        metadata = _laid(self._metadata(50), self._metadata(25))
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
            body = _laid(
                body,
                self._pick(
                    ({"kind": "Other"}, {"apiVersion": "v9"}, {"metadata": {"resourceVersion": "5"}}, {"kind": ""}, {"metadata": None})
                ),
            )
        return Step(
            "create", self.kind.sort, "POST", self.kind.collection(version), tuple(query), body, "application/json", self._accept(single=True, rare=2),
            about=reference, twice=twice,
        )  # fmt: skip

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
        elif self._sometimes(25):
            query.append(("limit", self._pick(("1", "2", "500"))))
            if self._sometimes(15):
                query.append(("resourceVersion", "0"))
        elif self._sometimes(25):
            query += self._pick(_LIST_VERSIONS if last else _LIST_VERSIONS[4:])(self.kind.plural)
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
        query += self._pick(_WATCH_VERSIONS if self.kind.plural in self._memory.lists else _WATCH_VERSIONS[3:])(self.kind.plural)
        if self._sometimes(30):
            query.append(("allowWatchBookmarks", "true"))
        if self._sometimes(2):
            query += self._pick(_RARE_WATCHES)
        accept = self._pick((TABLE, PARTIAL)) if self._sometimes(15) else "application/json"
        about, path = f"{self.kind.plural}/", self.kind.collection(version)
        return Step("watch", self.kind.sort, "GET", path, tuple(query), accept=accept, about=about, mark=mark)

    def _change(self) -> Json:
        """A partial object that changes another one."""
        if self._sometimes(30):
            return {"metadata": self._pick(METADATA)}
        change = self._pick(self.kind.fragments)
        return _laid(change, self._pick(self.kind.fragments)) if self._sometimes(20) else change

    def _update(self, version: str) -> Step:
        creates = self._sometimes(5)
        reference = self._absent() if creates else self._there()
        path, query = self.path(reference, version), tuple(self._options())
        if creates or self._memory.last(reference) is None:
            body = self._whole(reference.partition("/")[2], version, self._pick(self.kind.bases), {})
            return Step("update", self.kind.sort, "PUT", path, query, body, "application/json", about=reference)
        change, twice = self._spoilt(self._change())
        edits = [*_edits(change), Edit(("apiVersion",), self.kind.api_version(version)), Edit(("kind",), self.kind.kind)]
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
            edits += self._pick((
                [Edit(("metadata", "uid"), NOBODY)], [Edit(("metadata", "uid"), REMOVE)], [Edit(("metadata", "name"), "other")], [Edit(("metadata", "resourceVersion"), "bad")],
                [Edit(("metadata", "managedFields"), [])], [Edit(("metadata", "creationTimestamp"), REMOVE)], [Edit(("metadata", "generation"), 77)],
            ))  # fmt: skip
        return Step(
            "update", self.kind.sort, "PUT", path, query, None, "application/json", self._accept(single=True, rare=2), reference, reference, age, tuple(edits), twice
        )  # fmt: skip

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
            change = _laid(change, _nested(self._pick(self.kind.removals), None))
        if self._sometimes(6):
            change = _laid(change, {"metadata": {self._pick(("finalizers", "labels", "annotations", "ownerReferences")): None}})
        if self._sometimes(6):
            change = _laid(change, {"metadata": {"resourceVersion": f"<rv {reference}{self._pick(('', ' -1'))}>"}})
        if self._sometimes(3):
            change = _laid(change, {"metadata": {"uid": self._pick((f"<uid {reference}>", NOBODY))}})
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
        operations += _operations(live, change)
        present = [
            path for path in (*self.kind.removals, ("metadata", "labels"), ("metadata", "finalizers")) if _at(live, path) is not None
        ]
        if present and self._sometimes(15):
            operations.append({"op": "remove", "path": _pointer(self._pick(present))})
        if self._sometimes(8):
            operations.append(self._pick(_RARE_OPERATIONS))
        return operations

    def _apply(self, version: str) -> Step:
        absent = self._sometimes(10)
        reference = self._absent() if absent else self._there()
        name = reference.partition("/")[2]
        body = self._whole(f"<name {name}>" if name.startswith("gen") else name, version, self._change(), {})
        if absent or reference not in self._alive:
            body = _laid(body, self._pick(self.kind.bases))
        if self._sometimes(20):
            body = _laid(body, {"metadata": self._pick(METADATA)})
        query = self._options(apply=True)
        if self._sometimes(70):
            query.append(("force", "true"))
        body, twice = self._spoilt(body)
        if self._sometimes(2):
            body = _laid(
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
            status = _laid(status, self._change())
        if sort == "update" and self._memory.last(reference) is not None:
            edits = [*_edits(status), Edit(("apiVersion",), kind.api_version(version)), Edit(("kind",), kind.kind)]
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
        body = _operations(self._memory.last(reference) or {}, status) if sort == "json" else status
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
            options["preconditions"] = self._pick((
                {"uid": f"<uid {reference}>"}, {"resourceVersion": f"<rv {reference}>"}, {"uid": f"<uid {reference}>", "resourceVersion": f"<rv {reference}>"},
                {"uid": NOBODY}, {"resourceVersion": f"<rv {reference} -1>"},
            ))  # fmt: skip
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


def _listed(*query: tuple[str, str]) -> Callable[[str], Query]:
    return lambda plural: [(name, value.replace("PLURAL", plural)) for name, value in query]


_LIST_VERSIONS = (
    _listed(("resourceVersion", "<list PLURAL>")),
    _listed(("resourceVersion", "<list PLURAL>"), ("resourceVersionMatch", "Exact")),
    _listed(("resourceVersion", "<list PLURAL>"), ("resourceVersionMatch", "NotOlderThan")),
    _listed(("resourceVersion", "<list PLURAL>"), ("resourceVersionMatch", "Sometimes")),
    _listed(("resourceVersion", "0")),
    _listed(("resourceVersion", "0"), ("resourceVersionMatch", "NotOlderThan")),
    _listed(("resourceVersion", "0"), ("resourceVersionMatch", "Exact")),
    _listed(("resourceVersionMatch", "Exact")),
    _listed(("resourceVersion", "bad")),
)
"""The first four need an earlier list."""
_STREAMED = ("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan"), ("allowWatchBookmarks", "true")
_WATCH_VERSIONS = (
    _listed(("resourceVersion", "<list PLURAL>")),
    _listed(*_STREAMED, ("resourceVersion", "<list PLURAL>")),
    _listed(("sendInitialEvents", "false"), ("resourceVersionMatch", "NotOlderThan"), ("resourceVersion", "<list PLURAL>")),
    _listed(),
    _listed(("resourceVersion", "0")),
    _listed(*_STREAMED),
    _listed(*_STREAMED, ("resourceVersion", "0")),
    _listed(("sendInitialEvents", "true")),
    _listed(("sendInitialEvents", "false"), ("resourceVersionMatch", "NotOlderThan")),
    _listed(("resourceVersion", "bad")),
)
"""The first three need an earlier list."""
_RARE_WATCHES: tuple[Query, ...] = (
    [("continue", "x")], [("limit", "2")], [("timeoutSeconds", "x")], [("resourceVersionMatch", "Exact")],
    [("labelSelector", "l in")], [("fieldSelector", "spec.nothing=1")],
)  # fmt: skip
_RARE_OPERATIONS: tuple[Json, ...] = (
    {"op": "test", "path": "/metadata/nothing", "value": None},
    {"op": "test", "path": "/metadata/name", "value": "wrong"},
    {"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"},
    {"op": "move", "from": "/metadata/annotations", "path": "/metadata/labels"},
    {"op": "remove", "path": "/metadata/nothing"},
    {"op": "replace", "path": "/nowhere/x", "value": 1},
    {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/z"},
    {"op": "add", "path": "/metadata/finalizers/0", "value": "example.com/y"},
    {"op": "remove", "path": "/metadata/finalizers/-1"},
    {"op": "replace", "path": "/metadata/finalizers/9", "value": "example.com/q"},
    {"op": "frobnicate", "path": "/metadata/labels"},
    {"path": "/metadata/labels"},
    {"op": "replace", "path": "metadata", "value": {}},
    {"op": "replace", "path": "", "value": {}},
)


def _laid(base: Json, change: Json) -> Json:
    """A map with another laid over it; lists are replaced."""
    if not isinstance(base, dict) or not isinstance(change, dict):
        return copy.deepcopy(change)
    return {**base, **{key: _laid(base.get(key), value) if key in base else copy.deepcopy(value) for key, value in change.items()}}


def _edits(change: Json, path: tuple[str | int, ...] = ()) -> list[Edit]:
    if isinstance(change, dict) and change:
        return [edit for key, value in change.items() for edit in _edits(value, (*path, key))]
    return [Edit(path, change)] if path else []


def _operations(live: Json, change: Json, path: tuple[str | int, ...] = ()) -> list[Json]:
    """A JSON patch that lays a change over a live object."""
    found: list[Json] = []
    for key, value in change.items():
        here = (*path, key)
        inner = live.get(key) if isinstance(live, dict) else None
        if isinstance(value, dict) and isinstance(inner, dict) and inner:
            found += _operations(inner, value, here)
        else:
            found.append({"op": "add" if inner is None else "replace", "path": _pointer(here), "value": value})
    return found


def _pointer(path: Sequence[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _nested(path: Sequence[str | int], value: Json) -> Json:
    for key in reversed(path):
        value = {key: value}
    return value


def _at(value: Json, path: Sequence[str | int]) -> Json:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
