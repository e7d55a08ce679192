"""What is done to objects on a real API server, step by step, to learn what it answers.

`record_scenarios.py` runs it, `test_recorded.py` replays.
A step is (verb, field manager, body or function of the live object to the body, options). Paths and kinds come from KINDS.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.test.setpoint.dev"},
    "spec": {
        "group": "test.setpoint.dev",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer"},
                                    "ratio": {"type": "number"},
                                    "note": {"type": "string", "nullable": True},
                                    "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                                    "steps": {"type": "array", "items": {"type": "string"}},
                                    "selector": {
                                        "type": "object",
                                        "x-kubernetes-map-type": "atomic",
                                        "additionalProperties": {"type": "string"},
                                    },
                                    "limits": {"type": "object", "additionalProperties": {"type": "string"}},
                                    "parts": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["name", "kind"],
                                        "items": {
                                            "type": "object",
                                            "required": ["name"],
                                            "properties": {
                                                "name": {"type": "string"},
                                                "kind": {"type": "string", "default": "plain"},
                                                "weight": {"type": "integer"},
                                                "colour": {"type": "string"},
                                            },
                                        },
                                    },
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                    "port": {"x-kubernetes-int-or-string": True},
                                },
                            },
                            "status": {
                                "type": "object",
                                "properties": {
                                    "ready": {"type": "boolean"},
                                    "conditions": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["type"],
                                        "items": {
                                            "type": "object",
                                            "required": ["type"],
                                            "properties": {"type": {"type": "string"}, "status": {"type": "string"}},
                                        },
                                    },
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}

# kind: (path of the collection, apiVersion, name in the OpenAPI document, OpenAPI document)
KINDS: dict[str, tuple[str, str, str, str]] = {
    "ConfigMap": ("/api/v1/namespaces/default/configmaps", "v1", "io.k8s.api.core.v1.ConfigMap", "api/v1"),
    "Service": ("/api/v1/namespaces/default/services", "v1", "io.k8s.api.core.v1.Service", "api/v1"),
    "Deployment": ("/apis/apps/v1/namespaces/default/deployments", "apps/v1", "io.k8s.api.apps.v1.Deployment", "apis/apps/v1"),
    "Widget": ("/apis/test.setpoint.dev/v1/namespaces/default/widgets", "test.setpoint.dev/v1", "", ""),
}


def thing(kind: str, metadata: Json | None = None, **rest: Any) -> Json:
    return {"apiVersion": KINDS[kind][1], "kind": kind, "metadata": metadata or {}, **rest}


def config(metadata: Json | None = None, **rest: Any) -> Json:
    return thing("ConfigMap", metadata, **rest)


def widget(metadata: Json | None = None, **spec: Any) -> Json:
    return thing("Widget", metadata, spec=spec)


def deployment(containers: list[Json], metadata: Json | None = None, **spec: Any) -> Json:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
    return thing("Deployment", metadata, spec={"selector": {"matchLabels": labels}, "template": template, **spec})


def service(*ports: Json, **spec: Any) -> Json:
    return thing("Service", spec={"ports": list(ports), **spec})


def edit(path: str, value: Any) -> Callable[[Json], Json]:
    """A put of the live object with one value set (or, with ..., deleted)."""

    def put(live: Json) -> Json:
        body = copy.deepcopy(live)
        *parents, last = path.split("/")
        node: Any = body
        for name in parents:
            node = node[int(name)] if isinstance(node, list) else node.setdefault(name, {})
        if value is ...:
            del node[last]
        else:
            node[int(last) if isinstance(node, list) else last] = value
        return body

    return put


def as_last_applied(body: Json) -> Json:
    body = copy.deepcopy(body)
    text = json.dumps(body)
    body["metadata"].setdefault("annotations", {})["kubectl.kubernetes.io/last-applied-configuration"] = text
    return body


C1 = {"name": "one", "image": "image:1", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]}
C2 = {"name": "two", "image": "image:2", "env": [{"name": "A", "value": "a"}, {"name": "B", "value": "b"}]}
META_FULL = {"labels": {"a": "1"}, "annotations": {"b": "2"}, "finalizers": ["test.dev/x"]}
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "11111111-2222-3333-4444-555555555555"}

Step = tuple[Any, ...]
SCENARIOS: dict[str, tuple[str, list[Step]]] = {
    "config map: two appliers": (
        "ConfigMap",
        [
            ("apply", "a", config(data={"x": "1", "y": "1"})),
            ("apply", "b", config(data={"y": "1", "z": "1"})),
            ("apply", "b", config(data={"y": "2", "z": "1"})),
            ("apply", "b", config(data={"y": "2", "z": "1"}), {"force": True}),
            ("apply", "a", config(data={"x": "1"})),
            ("apply", "a", config(data={"x": "1"})),
            ("apply", "a", config()),
            ("apply", "b", config()),
        ],
    ),
    "config map: same value again is shared": (
        "ConfigMap",
        [
            ("apply", "a", config(data={"x": "1", "y": "1"})),
            ("apply", "b", config(data={"x": "1", "y": "1"})),
            ("apply", "a", config(data={"x": "1"})),
            ("apply", "b", config(data={"x": "1"})),
        ],
    ),
    "config map: create, put, patches": (
        "ConfigMap",
        [
            ("create", "creator", config(META_FULL, data={"x": "1"}, binaryData={"b": "AAAA"})),
            ("put", "creator", edit("data/x", "2")),
            ("put", "second", edit("data/y", "1")),
            ("put", "second", edit("data/y", "1")),
            ("merge", "third", {"data": {"x": None}, "metadata": {"labels": {"l": "1"}, "finalizers": None}}),
            ("json", "fourth", [{"op": "replace", "path": "/data/y", "value": "9"}]),
            ("strategic", "fifth", {"metadata": {"ownerReferences": [OWNER]}, "immutable": False}),
            ("put", "creator", edit("data", ...)),
            ("apply", "applier", config({"labels": {"l": "2"}})),
            ("apply", "applier", config({"labels": {"l": "2"}}), {"force": True}),
        ],
    ),
    "config map: managedFields reset, then applied": (
        "ConfigMap",
        [
            ("create", "creator", config(data={"x": "1"})),
            ("put", "editor", edit("metadata/managedFields", [])),
            ("put", "editor", edit("data/y", "1")),
            ("apply", "applier", config(data={"x": "2"})),
            ("apply", "applier", config(data={"x": "2"}), {"force": True}),
            ("put", "editor", edit("metadata/managedFields", [{}])),
            ("apply", "applier", config(data={"x": "2", "z": "1"})),
        ],
    ),
    "config map: managedFields edited": (
        "ConfigMap",
        [
            ("apply", "applier", config(data={"x": "1"})),
            ("put", "editor", edit("metadata/managedFields/0/manager", "other")),
            ("put", "editor", edit("metadata/managedFields/0/operation", "Nonsense")),
            ("put", "editor", edit("metadata/managedFields", ...)),
            ("put", "editor", lambda live: config({"name": live["metadata"]["name"]}, data={"x": "3"})),
        ],
    ),
    "config map: many updaters": (
        "ConfigMap",
        [
            ("create", "creator", config(data={"x": "0"})),
            *(("put", f"updater-{n:02}", edit(f"data/u{n}", "1")) for n in range(13)),
        ],
    ),
    "config map: kubectl comes from client-side apply": (
        "ConfigMap",
        [
            ("create", "kubectl-client-side-apply", as_last_applied(config({"annotations": {"a": "<b>"}}, data={"x": "1", "y": "1"}))),
            ("put", "editor", edit("data/y", "edited")),
            ("apply", "kubectl", config({"annotations": {"a": "<c>"}}, data={"x": "2", "y": "2"})),
            ("apply", "kubectl", config({"annotations": {"a": "<c>"}}, data={"x": "2"})),
            ("apply", "kubectl", config({"annotations": {"a": "<c>"}}, data={"x": "2"})),
        ],
    ),
    "config map: null and empty": (
        "ConfigMap",
        [
            ("apply", "a", config({"labels": {}}, data={})),
            ("apply", "a", config({"labels": None}, data={"x": "1"})),
            ("apply", "b", config({"annotations": {}}, data={})),
        ],
    ),
    "config map: owner references and finalizers": (
        "ConfigMap",
        [
            ("apply", "a", config({"finalizers": ["test.dev/a"], "ownerReferences": [OWNER]})),
            ("apply", "b", config({"finalizers": ["test.dev/b"], "ownerReferences": [{**OWNER, "uid": OWNER["uid"][:-1] + "6"}]})),
            ("apply", "b", config({"ownerReferences": [{**OWNER, "controller": True}]})),
            ("apply", "b", config({"ownerReferences": [OWNER]})),
            ("apply", "a", config({"finalizers": []})),
            ("apply", "b", config()),
        ],
    ),
    "deployment: create, put and status": (
        "Deployment",
        [
            ("create", "creator", deployment([C1], {"labels": {"a": "1"}})),
            ("put", "scaler", edit("spec/replicas", 5)),
            ("put", "images", edit("spec/template/spec/containers/0/image", "image:9")),
            ("merge", "controller", {"status": {"replicas": 5, "observedGeneration": 1}}, {"subresource": "status"}),
            (
                "merge",
                "controller",
                {"status": {"replicas": 5, "conditions": [{"type": "A", "status": "True"}]}},
                {"subresource": "status"},
            ),
            ("merge", "controller", {"status": {"replicas": 5}, "metadata": {"labels": {"s": "1"}}}, {"subresource": "status"}),
            ("merge", "m", {"status": {"replicas": 9}, "metadata": {"labels": {"s": "1"}}}),
            ("apply", "a", {**deployment([C1]), "status": {"replicas": 7}}, {"force": True}),
        ],
    ),
    "deployment: appliers": (
        "Deployment",
        [
            ("apply", "a", deployment([C1, C2], replicas=2)),
            ("apply", "b", deployment([{"name": "two", "image": "image:3"}], replicas=3)),
            ("apply", "b", deployment([{"name": "two", "image": "image:3"}], replicas=3), {"force": True}),
            ("apply", "b", deployment([{"name": "three", "image": "image:3"}, {"name": "one"}])),
            ("apply", "a", deployment([C2, {**C1, "ports": [{"containerPort": 80, "name": "http"}]}])),
            ("apply", "a", deployment([{**C2, "env": [{"name": "B", "value": "b"}, {"name": "A", "value": "z"}]}, {"name": "three"}])),
            ("strategic", "kubectl", {"spec": {"template": {"spec": {"containers": [{"name": "two", "image": "image:7"}]}}}}),
            ("apply", "a", deployment([C2])),
        ],
    ),
    "deployment: strategy, volumes, resources": (
        "Deployment",
        [
            (
                "apply",
                "a",
                {
                    **(body := deployment([{**C1, "resources": {"limits": {"cpu": "1000m"}}}], strategy={"type": "Recreate"})),
                    "spec": {
                        **body["spec"],
                        "template": {
                            **body["spec"]["template"],
                            "spec": {
                                **body["spec"]["template"]["spec"],
                                "volumes": [{"name": "v", "configMap": {"name": "c"}}],
                                "tolerations": [{"key": "k", "operator": "Exists"}],
                                "nodeSelector": {"a": "b"},
                            },
                        },
                    },
                },
            ),
            ("apply", "a", deployment([{**C1, "resources": {"limits": {"cpu": "1"}}}])),
            ("apply", "a", deployment([{**C1, "resources": {"limits": {"cpu": "1"}}}])),
            ("put", "updater", edit("spec/template/spec/nodeSelector", {"x": "y"})),
        ],
    ),
    "deployment: what cannot be applied": (
        "Deployment",
        [
            ("apply", "a", deployment([C1], unknown=1)),
            ("apply", "a", deployment([C1], replicas="many")),
            ("apply", "a", deployment([C1, C1])),
            ("apply", "a", deployment([{**C1, "image": 5}])),
            ("apply", "a", deployment([{**C1, "ports": [{"name": "x"}]}])),
            ("apply", "a", deployment([{**C1, "env": ["x"]}])),
            ("apply", "a", deployment([C1], {"labels": ["x"]})),
            ("apply", "a", deployment([C1], {"finalizers": [{"x": 1}]})),
        ],
    ),
    "service: ports": (
        "Service",
        [
            ("apply", "a", service({"port": 80, "name": "http"}, {"port": 443, "name": "https"}, selector={"app": "a"})),
            ("apply", "b", service({"port": 53, "protocol": "UDP", "name": "dns"}, {"port": 80, "protocol": "TCP"})),
            ("apply", "b", service({"port": 80, "name": "web"})),
            ("apply", "b", service({"port": 80, "name": "web"}), {"force": True}),
            ("apply", "a", service({"port": 443, "name": "https"}, selector={"app": "b"})),
            ("put", "updater", edit("spec/ports/0/targetPort", "named")),
            ("apply", "b", service({"port": 443, "targetPort": 8443})),
        ],
    ),
    "service: create": (
        "Service",
        [
            ("create", "c", service({"port": 80, "name": "http"}, selector={"app": "a"}, type="ClusterIP")),
            ("put", "c", edit("spec/selector/more", "1")),
            ("put", "d", edit("spec/ports/0/port", 81)),
        ],
    ),
    "widget: create, put, status": (
        "Widget",
        [
            ("create", "c", widget({"labels": {"a": "1"}}, size=1, tags=["x", "y"], parts=[{"name": "p"}], free={"deep": {"er": [1]}})),
            ("put", "d", edit("spec/tags", ["y", "z"])),
            ("put", "d", edit("spec/parts", [{"name": "q", "weight": 2}, {"name": "p", "kind": "plain"}])),
            ("put", "d", edit("spec/free/deep/er", [1, 2])),
            ("put", "d", edit("spec", {})),
            ("put", "d", edit("status", {"ready": True})),
            ("put", "s", edit("status", {"ready": True, "conditions": [{"type": "A", "status": "x"}]}), {"subresource": "status"}),
            ("put", "s", edit("spec/size", 7), {"subresource": "status"}),
            ("apply", "t", thing("Widget", status={"conditions": [{"type": "B", "status": "y"}]}), {"subresource": "status"}),
            ("apply", "s", thing("Widget", status={"conditions": [{"type": "A", "status": "z"}]}), {"subresource": "status"}),
            (
                "apply",
                "s",
                thing("Widget", status={"conditions": [{"type": "A", "status": "z"}], "ready": False}),
                {"subresource": "status"},
            ),
        ],
    ),
    "widget: sets, atomics, maps": (
        "Widget",
        [
            ("apply", "a", widget(tags=["x", "y"], steps=["1", "2"], selector={"k": "v"}, limits={"cpu": "1", "mem": "2"})),
            ("apply", "b", widget(tags=["z", "x"], limits={"cpu": "1", "io": "3"})),
            ("apply", "b", widget(tags=["z", "x"], steps=["3"], selector={"k2": "v"}, limits={"cpu": "2"})),
            ("apply", "b", widget(tags=["z", "x"], steps=["3"], selector={"k2": "v"}, limits={"cpu": "2"}), {"force": True}),
            ("apply", "a", widget(tags=["y"])),
            ("apply", "b", widget()),
            ("apply", "a", widget()),
        ],
    ),
    "widget: list order": (
        "Widget",
        [
            ("apply", "a", widget(parts=[{"name": n} for n in "abcde"])),
            ("apply", "b", widget(parts=[{"name": n} for n in ("d", "x", "b")])),
            ("apply", "b", widget(parts=[{"name": n} for n in ("y", "b", "d", "z")])),
            ("apply", "c", widget(parts=[{"name": "c", "kind": "other", "weight": 1}, {"name": "c", "weight": 3}])),
            ("apply", "a", widget(parts=[{"name": n} for n in "edcba"])),
            ("apply", "a", widget(parts=[{"name": "c"}])),
        ],
    ),
    "widget: scalars and null": (
        "Widget",
        [
            ("apply", "a", widget(size=1, ratio=1.5, port=80, note=None, free={"a": {"b": None, "c": {}}, "l": [1]})),
            ("apply", "b", widget(size=2, ratio=1.0, port="80", free={"a": {"d": True}, "l": [2]})),
            ("apply", "b", widget(size=2, ratio=1.0, port="80", free={"a": {"d": True}, "l": [2]}), {"force": True}),
            ("apply", "b", widget(size=2, ratio=1, port="80", free={"a": {"d": True}, "l": [2]})),
            ("apply", "a", widget(limits={}, tags=[], parts=[], free={})),
            ("apply", "a", widget(limits=None, tags=None)),
            ("apply", "b", widget(free={"a": {}})),
            ("apply", "b", widget()),
        ],
    ),
    "widget: part of an item": (
        "Widget",
        [
            ("apply", "a", widget(parts=[{"name": "p", "weight": 1, "colour": "red"}])),
            ("put", "u", edit("spec/parts/0/colour", "blue")),
            ("apply", "b", widget(parts=[{"name": "p", "weight": 1}])),
            ("apply", "a", widget(parts=[{"name": "p", "colour": "red"}])),
            ("apply", "a", widget(parts=[])),
            ("apply", "b", widget(parts=[])),
        ],
    ),
    "widget: what an updater put inside stays": (
        "Widget",
        [
            ("apply", "a", widget(parts=[{"name": "p"}, {"name": "q"}], limits={"cpu": "1"})),
            ("put", "u", edit("spec/parts/0/colour", "blue")),
            ("put", "u", edit("spec/limits/io", "1")),
            ("apply", "a", widget()),
        ],
    ),
    "widget: what cannot be applied": (
        "Widget",
        [
            ("apply", "a", widget(unknown=1)),
            ("apply", "a", widget(tags=["x", "x"])),
            ("apply", "a", widget(size="1")),
            ("apply", "a", widget(tags=[None])),
            ("apply", "a", widget(parts=[None])),
            ("apply", "a", widget(limits="x", steps={"a": [1, None, True]})),
        ],
    ),
}
