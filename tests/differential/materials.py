"""What steps are made of, whatever the kind: names, metadata, selectors, versions to ask for, and what is rarely sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .steps import NOBODY, REMOVE, Json

Query: TypeAlias = list[tuple[str, str]]

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
CONTENT_TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
NAMES = ("a", "b", "c", "d")
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
    "": {}, "l=1": {"l": "1"}, "l": {"l": "2"}, "!l": {}, "l!=1": {}, "l in (1,2)": {"l": "2"}, "l notin (2)": {},
    "l=1,m=x": {"l": "1", "m": "x"}, "m==y": {"m": "y"},
}  # fmt: skip
"""Labels that each selector selects."""
BAD_SELECTORS = ("l=", "l in", "=x", "l in (1", "-bad-=1", "l=bad value!")
BAD_FIELDS = ("spec.nothing=1", "metadata.name", "metadata.name=a,=")
GENERATED = "generated-"


def _listed(*query: tuple[str, str]) -> Callable[[str], Query]:
    return lambda plural: [(name, value.replace("PLURAL", plural)) for name, value in query]


LIST_VERSIONS = (
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
WATCH_VERSIONS = (
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
RARE_WATCHES: tuple[Query, ...] = (
    [("continue", "x")], [("limit", "2")], [("timeoutSeconds", "x")], [("resourceVersionMatch", "Exact")],
    [("labelSelector", "l in")], [("fieldSelector", "spec.nothing=1")],
)  # fmt: skip
RARE_OPERATIONS: tuple[Json, ...] = (
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
RARE_EDITS: tuple[tuple[str, Json], ...] = (
    ("uid", NOBODY), ("uid", REMOVE), ("name", "other"), ("resourceVersion", "bad"), ("managedFields", []), ("creationTimestamp", REMOVE),
    ("generation", 77),
)  # fmt: skip
"""What is done to the metadata of an object that is sent back."""
