"""Custom kinds, and their definitions, which both servers get at the start."""

from typing import Any

from .kind import Json, Kind

GROUP = "diff.example.com"
STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}


def spec_of(**properties: Json) -> Json:
    """A schema with these properties in the spec."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}, "status": STATUS}}


def definition(kind: str, plural: str, schema: Json, *, scope: str = "Namespaced", **names: Any) -> Json:
    """The spec of a definition of one version, for a group that is the sequence's own."""
    return {
        "spec": {
            "group": "NS.example.com",
            "scope": scope,
            "names": {"plural": plural, "kind": kind, **names},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        }
    }


CONDITION: Json = {
    "type": "object", "required": ["type", "status"],
    "properties": {"type": STRING, "status": {"type": "string", "enum": ["True", "False", "Unknown"]}, "reason": STRING, "lastTransitionTime": {"type": "string", "format": "date-time"}},
}  # fmt: skip
STATUS: Json = {
    "type": "object",
    "properties": {
        "phase": STRING, "replicas": INTEGER, "selector": STRING, "observedGeneration": {"type": "integer", "format": "int64"},
        "conditions": {"type": "array", "items": CONDITION, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    },
}  # fmt: skip
PORT: Json = {
    "type": "object", "required": ["port"],
    "properties": {"port": {"type": "integer", "minimum": 1, "maximum": 65535}, "protocol": {"type": "string", "default": "TCP", "enum": ["TCP", "UDP"]}, "name": STRING},
}  # fmt: skip
SCHEMA: Json = {
    **spec_of(
        size={"type": "integer", "minimum": 0, "maximum": 100},
        host={"type": "string", "pattern": "^[a-z.]+$", "maxLength": 20},
        tier={"type": "string", "enum": ["gold", "silver"], "default": "silver"},
        limit={"type": "integer", "nullable": True},
        share={"type": "number", "multipleOf": 0.5},
        since={"type": "string", "format": "date-time"},
        target={"x-kubernetes-int-or-string": True},
        labels={"type": "object", "additionalProperties": STRING},
        byName={"type": "object", "additionalProperties": {"type": "object", "properties": {"workers": {"type": "integer", "default": 1}}}},
        names={"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
        ports={"type": "array", "items": PORT, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]},
        steps={"type": "array", "maxItems": 3, "items": {"type": "object", "required": ["run"], "properties": {"run": STRING, "retries": {"type": "integer", "default": 3}}}},
        selector={"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": STRING},
        tuning={"type": "object", "default": {}, "properties": {"fast": {"type": "boolean", "default": True}, "level": INTEGER}},
        open={"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": STRING}},
        embedded={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
        replicas={"type": "integer", "default": 1},
    ),
}  # fmt: skip
SUBRESOURCES: Json = {
    "status": {},
    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas", "labelSelectorPath": ".status.selector"},
}
COLUMNS: Json = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}, {"name": "Tier", "type": "string", "jsonPath": ".spec.tier", "priority": 1},
    {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'}, {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]  # fmt: skip


def crd(kind: str, plural: str, versions: Json, *, scope: str = "Namespaced") -> Json:
    """A whole definition."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": scope, "names": {"plural": plural, "kind": kind, "singular": kind.lower()}, "versions": versions},
    }


def version(name: str, schema: Json, *, storage: bool = True, **more: Json) -> Json:
    """One version of a definition."""
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


OPEN_SCHEMA: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
OLD_SCHEMA: Json = spec_of(
    size=INTEGER,
    colour=STRING,
    names={"type": "array", "items": STRING, "x-kubernetes-list-type": "set"},
    only={"type": "object", "properties": {"old": STRING}},
)
NEW_SCHEMA: Json = spec_of(
    size={"type": "integer", "default": 7}, colour={"type": "string", "enum": ["red", "blue"]}, names={"type": "array", "items": STRING},
    only={"type": "object", "properties": {"new": STRING}},
)  # fmt: skip

DEFINITIONS: tuple[Json, ...] = (
    crd("Gadget", "gadgets", [version("v1", SCHEMA, subresources=SUBRESOURCES, additionalPrinterColumns=COLUMNS)]),
    crd("Blob", "blobs", [version("v1", OPEN_SCHEMA)]),
    crd("Relic", "relics", [
        version("v1alpha1", OLD_SCHEMA, storage=False, deprecated=True, subresources={"status": {}}),
        version("v1", NEW_SCHEMA, subresources={"status": {}}, additionalPrinterColumns=COLUMNS[:1]),
        version("v1beta1", OLD_SCHEMA, storage=False, deprecated=True, deprecationWarning="use v1", subresources={"status": {}}),
    ]),
    crd("Realm", "realms", [version("v1", SCHEMA, subresources=SUBRESOURCES)], scope="Cluster"),
)  # fmt: skip

STATUSES: tuple[Json, ...] = (
    {"status": {"phase": "Ready"}}, {"status": {"replicas": 2, "selector": "a=b"}}, {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
    {"status": {"conditions": [{"type": "Synced", "status": "False", "reason": "R", "lastTransitionTime": "2001-02-03T04:05:06Z"}], "observedGeneration": 1}},
)  # fmt: skip
SPECS: tuple[Json, ...] = (
    {"spec": {"size": 1}}, {"spec": {"size": 2, "host": "a.b"}}, {"spec": {"tier": "gold", "limit": None}}, {"spec": {"limit": 3, "share": 1.5}},
    {"spec": {"labels": {"a": "b"}}}, {"spec": {"labels": {"c": "d"}}}, {"spec": {"byName": {"first": {}}}}, {"spec": {"byName": {"second": {"workers": 2}}}},
    {"spec": {"names": ["x", "y"]}}, {"spec": {"names": ["y", "z"]}}, {"spec": {"ports": [{"port": 80}]}}, {"spec": {"ports": [{"port": 80, "protocol": "UDP"}, {"port": 443, "name": "tls"}]}},
    {"spec": {"steps": [{"run": "a"}, {"run": "b", "retries": 0}]}}, {"spec": {"selector": {"k": "v"}}}, {"spec": {"selector": {"m": "n"}}}, {"spec": {"tuning": {"level": 3}}},
    {"spec": {"open": {"known": "k", "free": [1, {"a": None}]}}}, {"spec": {"target": "50%"}}, {"spec": {"target": 3}}, {"spec": {"since": "2001-02-03T04:05:06Z"}},
    {"spec": {"embedded": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "in", "labels": {"l": "m"}}, "data": {"a": "b"}}}}, {"spec": {"replicas": 4}},
)  # fmt: skip
BAD_SPECS: tuple[Json, ...] = (
    {"spec": {"size": 101}}, {"spec": {"size": "big"}}, {"spec": {"host": "NOT"}}, {"spec": {"host": "a.very.long.host.name.indeed"}}, {"spec": {"tier": "lead"}}, {"spec": {"tier": None}},
    {"spec": {"share": 0.3}}, {"spec": {"since": "now"}}, {"spec": {"target": 1.5}}, {"spec": {"labels": {"a": 1}}}, {"spec": {"names": ["x", "x"]}},
    {"spec": {"ports": [{"port": 1}, {"port": 1}]}}, {"spec": {"ports": [{"port": 0}]}}, {"spec": {"ports": [{}]}}, {"spec": {"steps": [{}]}}, {"spec": {"steps": [{"run": "1"}, {"run": "2"}, {"run": "3"}, {"run": "4"}]}},
    {"spec": []}, {"spec": {"embedded": {"kind": "X"}}}, {"spec": {"size": 1.0}}, {"spec": {"size": 1.5}}, {"status": {"conditions": [{"type": "A"}]}},
)  # fmt: skip
FREE: tuple[Json, ...] = (
    {"a": 1}, {"a": "text"}, {"b": {"c": [1, 2, {"d": None}]}}, {"b": {"e": True}}, {"list": [1, "two", 3.5]}, {"list": []}, {"b": {}}, {"deep": {"er": {"still": {"x": 1}}}}, {"status": {"x": 1}},
    {"n": 12345678901234, "f": 0.1, "g": 1e3},
)  # fmt: skip

KINDS = (
    Kind(
        "custom", GROUP, ("v1",), "gadgets", "Gadget",
        bases=({}, {"spec": {}}, *SPECS), fragments=SPECS, bad=BAD_SPECS, status=STATUSES, scale=True,
        removals=(("spec", "size"), ("spec", "names"), ("spec", "ports"), ("spec", "tuning"), ("spec", "labels", "a"), ("spec", "tier")),
    ),
    Kind("open", GROUP, ("v1",), "blobs", "Blob", bases=({}, *FREE), fragments=FREE, bad=({"metadata": {"labels": {"a": 1}}}, {"metadata": {"labels": {"bad key!": "a"}}}), removals=(("a",), ("b",), ("list",))),
    Kind(
        "versions", GROUP, ("v1", "v1alpha1", "v1beta1"), "relics", "Relic",
        bases=({}, {"spec": {"size": 1}}, {"spec": {"colour": "red", "names": ["a"]}}, {"spec": {"only": {"old": "o", "new": "n"}}}),
        fragments=({"spec": {"size": 2}}, {"spec": {"colour": "blue"}}, {"spec": {"names": ["b", "c"]}}, {"spec": {"names": ["a"]}}, {"spec": {"only": {"new": "m"}}}, {"spec": {"only": {"old": "p"}}}),
        bad=({"spec": {"colour": "green"}}, {"spec": {"size": "x"}}, {"spec": {"names": ["a", "a"]}}),
        status=STATUSES,
        removals=(("spec", "size"), ("spec", "names"), ("spec", "only")),
    ),
    Kind("realm", GROUP, ("v1",), "realms", "Realm", namespaced=False, bases=({}, *SPECS), fragments=SPECS, bad=BAD_SPECS, status=STATUSES, scale=True, removals=(("spec", "size"), ("spec", "names"), ("spec", "ports"))),
)  # fmt: skip
