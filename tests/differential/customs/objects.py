"""Objects of made-up definitions: some fit, some nearly, some not; and changes of them."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from .schemas import SchemaMaker

Json = Any


class ObjectMaker(SchemaMaker):
    """Makes objects of one version of a definition."""

    def __init__(self, random: Random, faults: float, crd: Json, version: Json) -> None:
        super().__init__(random, faults)
        self.crd = crd
        self.version = version
        self.schema = version["schema"]["openAPIV3Schema"]

    def object(self, depth: int = 0) -> Json:
        """A whole object, or (inside of a schema) one level."""
        return super().object(depth) if depth else self.whole("x1")

    def whole(self, name: str) -> Json:
        """An object with a name."""
        spec = self.crd["spec"]
        body = self.fields(
            {
                **self.schema,
                "properties": {
                    key: value for key, value in self.schema.get("properties", {}).items() if key not in ("apiVersion", "kind", "metadata")
                },
            },
            0,
        )
        metadata: Json = {"name": name}
        if self.wrong(3):
            key, value = self.random.choice(METADATA)
            metadata[key] = value
        return {"apiVersion": f"{spec['group']}/{self.version['name']}", "kind": spec["names"]["kind"], "metadata": metadata, **body}

    def but_for_metadata(self) -> Json:
        """The schema without what every object has."""
        known = self.schema.get("properties", {})
        return {**self.schema, "properties": {key: value for key, value in known.items() if key not in ("apiVersion", "kind", "metadata")}}

    def text(self, obj: Json) -> str:
        """The object as JSON, sometimes with a field said twice."""
        text = json.dumps(obj)
        if self.wrong(3):
            key = self.random.choice(["spec", "metadata", "a", "name", "b"])
            text = text.replace(f'"{key}":', f'"{key}": 1, "{key}":' if self.maybe(0.5) else f'"{key}": null, "{key}":', 1)
        return text

    def patch(self) -> Json:
        """A merge patch."""
        whole = self.fields(
            {
                **self.schema,
                "properties": {
                    key: value for key, value in self.schema.get("properties", {}).items() if key not in ("apiVersion", "kind", "metadata")
                },
            },
            0,
        )
        keep = {key: (None if self.maybe(0.15) else value) for key, value in whole.items() if self.maybe(0.6)}
        return self.thinned(keep)

    def thinned(self, value: Json) -> Json:
        """A value with fewer fields."""
        if isinstance(value, dict):
            return {key: self.thinned(inner) for key, inner in value.items() if self.maybe(0.8)}
        return value


METADATA: tuple[tuple[str, Json], ...] = (
    ("name", 1),
    ("name", "A_"),
    ("name", ""),
    ("name", None),
    ("labels", {"a": 1}),
    ("labels", {"a": "b"}),
    ("labels", {"a": None}),
    ("labels", None),
    ("labels", {"-": "b"}),
    ("labels", {"a": "-"}),
    ("labels", []),
    ("annotations", {"a": "b"}),
    ("annotations", {"a": {}}),
    ("annotations", {"A B": ""}),
    ("x", 1),
    ("generateName", "g-"),
    ("finalizers", ["a"]),
    ("finalizers", ["a/b"]),
    ("finalizers", ["a b"]),
    ("finalizers", [1]),
    ("finalizers", "a"),
    ("creationTimestamp", None),
    ("creationTimestamp", "x"),
    ("creationTimestamp", "2020-01-01T00:00:00Z"),
    ("namespace", "other"),
    ("namespace", ""),
    ("namespace", None),
    ("ownerReferences", [{}]),
    ("ownerReferences", [{"x": 1}]),
    ("ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "u"}]),
    ("ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": 1}]),
    ("managedFields", [{"manager": 1}]),
    ("managedFields", [{"operation": "x"}]),
    ("generation", 7),
    ("generation", "7"),
    ("uid", "abc"),
    ("resourceVersion", "1"),
    ("resourceVersion", 1),
    ("deletionTimestamp", "2020-01-01T00:00:00Z"),
    ("deletionGracePeriodSeconds", 5),
    ("selfLink", "/a"),
    ("clusterName", "c"),
)
