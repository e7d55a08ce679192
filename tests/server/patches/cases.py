"""Patches that are asked of a real API server, to learn what it makes of them: `record.py` asks, `test_recorded_patches.py` replays.

A case is (base, content type, body, options): the object that is patched, the kind of patch (see `MEDIA`), the patch as a value or as the
bytes themselves, and query options; `sub` among these is the subresource. Nothing is stored: all patches are dry runs.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Case = tuple[str, str, Any, dict[str, str]]

MEDIA = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "11111111-2222-3333-4444-555555555555"}
LABELS = {"app": "web"}


def _thing(kind: str, api_version: str = "v1", **rest: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, **rest}


BASES: dict[str, tuple[str, Json]] = {
    "config map": (
        "api/v1/configmaps",
        _thing(
            "ConfigMap",
            metadata={"labels": {"a": "1", "b": "2"}, "finalizers": ["x.io/a", "x.io/b", "x.io/c"], "ownerReferences": [OWNER]},
            data={"x": "1", "h": "a<b>&c", "e": "é"},
        ),
    ),
    "deployment": (
        "apis/apps/v1/deployments",
        _thing(
            "Deployment",
            "apps/v1",
            metadata={"labels": LABELS},
            spec={
                "replicas": 2,
                "selector": {"matchLabels": LABELS},
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
                "template": {
                    "metadata": {"labels": LABELS},
                    "spec": {
                        "containers": [
                            {
                                "name": "one",
                                "image": "image:1",
                                "args": ["a", "b"],
                                "env": [{"name": "A", "value": "a"}, {"name": "B", "value": "b"}],
                                "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443, "name": "https"}],
                                "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                            },
                            {"name": "two", "image": "image:2"},
                            {"name": "three", "image": "image:3"},
                        ],
                        "volumes": [{"name": "v", "configMap": {"name": "c"}}, {"name": "w", "emptyDir": {}}],
                        "tolerations": [{"key": "k", "operator": "Exists"}],
                        "nodeSelector": {"disk": "ssd"},
                        "imagePullSecrets": [{"name": "s"}],
                    },
                },
            },
        ),
    ),
    "service": (
        "api/v1/services",
        _thing(
            "Service",
            spec={
                "selector": LABELS,
                "clusterIP": "None",
                "ports": [
                    {"name": "http", "port": 80, "targetPort": 8080},
                    {"name": "dns", "port": 53, "protocol": "UDP"},
                    {"name": "dns-tcp", "port": 53},
                ],
            },
        ),
    ),
    "definition": (
        "apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        _thing(
            "CustomResourceDefinition",
            "apiextensions.k8s.io/v1",
            spec={
                "group": "patches.setpoint.dev",
                "scope": "Namespaced",
                "names": {
                    "plural": "patchings",
                    "singular": "patching",
                    "kind": "Patching",
                    "listKind": "PatchingList",
                    "shortNames": ["pt"],
                },
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
                        "schema": {
                            "openAPIV3Schema": {
                                "type": "object",
                                "properties": {
                                    "spec": {
                                        "type": "object",
                                        "properties": {
                                            "n": {"type": "integer"},
                                            "list": {
                                                "type": "array",
                                                "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                            },
                                            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                        },
                                    },
                                    "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
                                },
                            }
                        },
                    }
                ],
            },
        ),
    ),
    "custom": (
        "apis/patches.setpoint.dev/v1/patchings",
        _thing(
            "Patching",
            "patches.setpoint.dev/v1",
            spec={
                "n": 1,
                "list": [{"a": 1, "b": None}],
                "free": {"deep": {"x": 1.5, "y": [1, [2, 3]]}, "text": "t", "a/b": 1, "m~n": 2, "ü": "é"},
            },
        ),
    ),
}
"""What is patched: where it is served, and the object."""


def pod(**spec: Any) -> Json:
    """A patch of a deployment's pods."""
    return {"spec": {"template": {"spec": spec}}}


def _named(*names: str) -> list[Json]:
    return [{"name": name} for name in names]


def _meta(**fields: Any) -> Json:
    return {"metadata": fields}


DELETE, REPLACE, MERGE = {"$patch": "delete"}, {"$patch": "replace"}, {"$patch": "merge"}
ONE = {"name": "one", "image": "image:9"}

STRATEGIC: dict[str, tuple[Any, ...]] = {
    # maps
    "set a field": ("deployment", {"spec": {"replicas": 5}}),
    "null removes a field": ("deployment", pod(nodeSelector=None)),
    "null of what is not there": ("deployment", pod(priorityClassName=None)),
    "null removes an entry of a map": ("config map", {"data": {"x": None, "nope": None}}),
    "a new map loses its nulls": ("config map", _meta(annotations={"a": None, "b": "1"})),
    "a map is merged": ("config map", _meta(labels={"b": "3", "c": "4"})),
    "$patch: replace of a map": ("config map", _meta(labels={**REPLACE, "c": "4"})),
    "$patch: replace of a map by nothing": ("config map", _meta(labels=REPLACE)),
    "$patch: delete of a map": ("config map", {"data": DELETE}),
    "$patch: delete of a map with more in it": ("config map", {"data": {**DELETE, "y": "1"}}),
    "$patch: delete of a struct": ("deployment", {"spec": {"strategy": DELETE}}),
    "$patch: replace of a struct": ("deployment", {"spec": {"strategy": {**REPLACE, "type": "Recreate"}}}),
    "$patch: merge of a map": ("config map", {"data": MERGE}),
    "$patch: nonsense": ("config map", {"data": {"$patch": "hop", "y": "1"}}),
    "$patch: a number": ("config map", {"data": {"$patch": 5}}),
    "$patch: a map": ("config map", {"data": {"$patch": {"a": 1}}}),
    "$patch: null": ("config map", {"data": {"$patch": None}}),
    "$patch: replace of everything": ("config map", {**REPLACE, "data": {"y": "1"}}),
    "$patch: delete of everything": ("config map", DELETE),
    "$patch: delete of what is not there": ("config map", _meta(annotations=DELETE)),
    "$patch: replace of what is not there": ("config map", _meta(annotations={**REPLACE, "a": "1"})),
    "$patch: replace with nulls and directives inside": (
        "deployment",
        pod(**REPLACE, containers=[{**ONE, "env": [DELETE]}], nodeName=None),
    ),
    # $retainKeys
    "$retainKeys": ("deployment", {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
    "$retainKeys in an item": ("deployment", pod(volumes=[{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}])),
    "$retainKeys that keeps all": ("config map", {"data": {"$retainKeys": ["x", "h"], "x": "2"}}),
    "$retainKeys of nothing": ("config map", {"data": {"$retainKeys": []}}),
    "$retainKeys does not name what is set": ("deployment", {"spec": {"strategy": {"$retainKeys": ["rollingUpdate"], "type": "Recreate"}}}),
    "$retainKeys does not name what is null": ("deployment", {"spec": {"strategy": {"$retainKeys": ["type"], "rollingUpdate": None}}}),
    "$retainKeys is no list": ("deployment", {"spec": {"strategy": {"$retainKeys": "type"}}}),
    "$retainKeys names numbers": ("config map", {"data": {"$retainKeys": [1, None, True]}}),
    "$retainKeys of what is not there": ("config map", _meta(annotations={"$retainKeys": ["a"], "a": "1"})),
    "$retainKeys beside an order": (
        "deployment",
        pod(**{"$retainKeys": ["containers"], "$setElementOrder/containers": _named("two", "one", "three")}),
    ),
    # lists of maps
    "an item is merged": ("deployment", pod(containers=[ONE])),
    "an item is added": ("deployment", pod(containers=[{"name": "four", "image": "image:4"}])),
    "items of items": ("deployment", pod(containers=[{"name": "one", "env": [{"name": "C", "value": "c"}, {"name": "A", "value": "z"}]}])),
    "items come in the patch's order": ("deployment", pod(containers=_named("three", "one"))),
    "an item twice": ("deployment", pod(containers=[ONE, {"name": "one", "image": "image:10"}])),
    "a new item twice": ("deployment", pod(containers=[{"name": "new", "image": "a"}, {"name": "new", "image": "b"}])),
    "an item without the key": ("deployment", pod(containers=[{"image": "x"}])),
    "an item with a null key": ("deployment", pod(containers=[{"name": None, "image": "x"}])),
    "an item's key is a number": ("deployment", pod(containers=[{"name": 5, "image": "x"}])),
    "an item is null in the middle": ("deployment", pod(containers=[ONE, None])),
    "an item is a text": ("deployment", pod(containers=["one"])),
    "an item's field is null": ("deployment", pod(containers=[{"name": "one", "args": None}])),
    "$patch: delete of an item": ("deployment", pod(containers=[{"name": "two", **DELETE}])),
    "$patch: delete of an item and a new one": ("deployment", pod(containers=[{"name": "two", **DELETE}, {"name": "n", "image": "i"}])),
    "$patch: delete of an item that is not there": ("deployment", pod(containers=[{"name": "nope", **DELETE}])),
    "$patch: delete of an item without the key": ("deployment", pod(containers=[{**DELETE}])),
    "$patch: delete and again": ("deployment", pod(containers=[{"name": "two", **DELETE}, {"name": "two", "image": "back"}])),
    "$patch: replace of a list": ("deployment", pod(containers=[ONE, REPLACE])),
    "$patch: replace of a list by nothing": ("deployment", pod(volumes=[REPLACE])),
    "$patch: replace of a list with a deletion": ("deployment", pod(containers=[{"name": "two", **DELETE}, REPLACE, ONE])),
    "$patch: replace in an item": ("deployment", pod(containers=[{"name": "two", "image": "new", **REPLACE}])),
    "$patch: merge of a list": ("deployment", pod(containers=[MERGE])),
    "$patch: nonsense in a list": ("deployment", pod(containers=[{"name": "one", "$patch": "hop"}])),
    "$patch: delete in a new list": ("deployment", pod(initContainers=[{"name": "i", **DELETE}, {"name": "j", "image": "i"}])),
    "a list is removed": ("deployment", pod(volumes=None)),
    "a list becomes empty": ("deployment", pod(volumes=[], tolerations=[])),
    "a list becomes a map": ("deployment", pod(volumes={"name": "v"})),
    "a map becomes a list": ("config map", {"data": ["x"]}),
    "a list without strategy is replaced": ("deployment", pod(tolerations=[{"key": "l", "operator": "Exists"}])),
    "a primitive list without strategy is replaced": ("deployment", pod(containers=[{"name": "one", "args": ["b"]}])),
    "a directive in a list without strategy": ("deployment", pod(tolerations=[{"key": "k", **DELETE}])),
    "ports go by number": ("service", {"spec": {"ports": [{"port": 80, "name": "web"}]}}),
    "ports of one number": ("service", {"spec": {"ports": [{"port": 53, "name": "both"}]}}),
    "ports are deleted by number": ("service", {"spec": {"ports": [{"port": 53, **DELETE}]}}),
    "ports: 80 is no text": ("service", {"spec": {"ports": [{"port": "80", **DELETE}]}}),
    "container ports": ("deployment", pod(containers=[{"name": "one", "ports": [{"containerPort": 443, "name": "tls"}]}])),
    "owner references go by uid": ("config map", _meta(ownerReferences=[{**OWNER, "controller": True}])),
    "owner references are deleted by uid": ("config map", _meta(ownerReferences=[{"uid": OWNER["uid"], **DELETE}])),
    # $setElementOrder
    "$setElementOrder of maps": ("deployment", pod(**{"$setElementOrder/containers": _named("three", "two", "one")})),
    "$setElementOrder of some": ("deployment", pod(**{"$setElementOrder/containers": _named("three", "one")})),
    "$setElementOrder with a patch": (
        "deployment",
        pod(**{"$setElementOrder/containers": _named("new", "two", "one"), "containers": [{"name": "new", "image": "i"}, ONE]}),
    ),
    "$setElementOrder with a deletion": (
        "deployment",
        pod(
            **{
                "$setElementOrder/containers": _named("new", "two"),
                "containers": [{"name": "one", **DELETE}, {"name": "new", "image": "i"}],
            }
        ),
    ),
    "$setElementOrder and the list in another order": (
        "deployment",
        pod(**{"$setElementOrder/containers": _named("one", "two"), "containers": [{"name": "two", "image": "x"}, ONE]}),
    ),
    "$setElementOrder does not name an item": (
        "deployment",
        pod(**{"$setElementOrder/containers": _named("two"), "containers": [ONE]}),
    ),
    "$setElementOrder is empty": ("deployment", pod(**{"$setElementOrder/containers": [], "containers": [ONE]})),
    "$setElementOrder is empty and the items are texts": (
        "config map",
        _meta(**{"$setElementOrder/finalizers": [], "finalizers": ["x.io/n"]}),
    ),
    "$setElementOrder is no list": ("deployment", pod(**{"$setElementOrder/containers": "one"})),
    "$setElementOrder is null": ("deployment", pod(**{"$setElementOrder/containers": None})),
    "$setElementOrder names no field": ("deployment", pod(**{"$setElementOrder": []})),
    "$setElementOrder of an unknown field": ("deployment", pod(**{"$setElementOrder/nothing": []})),
    "$setElementOrder of a text": ("deployment", pod(**{"$setElementOrder/schedulerName": []})),
    "$setElementOrder of an absent text": ("deployment", pod(**{"$setElementOrder/hostname": []})),
    "$setElementOrder of an absent list": ("deployment", pod(**{"$setElementOrder/initContainers": _named("a")})),
    "$setElementOrder of a new list": (
        "deployment",
        pod(
            **{
                "$setElementOrder/initContainers": _named("b", "a"),
                "initContainers": [{"name": "b", "image": "i"}, {"name": "a", "image": "i"}],
            }
        ),
    ),
    "$setElementOrder of a new list with a deletion": (
        "deployment",
        pod(
            **{
                "$setElementOrder/initContainers": _named("b"),
                "initContainers": [{"name": "a", "image": "i", **DELETE}, {"name": "b", "image": "i"}],
            }
        ),
    ),
    "$setElementOrder of items without keys": ("deployment", pod(**{"$setElementOrder/containers": [{"image": "x"}]})),
    "$setElementOrder of texts for maps": ("deployment", pod(**{"$setElementOrder/containers": ["one"], "containers": [ONE]})),
    "$setElementOrder of primitives": ("config map", _meta(**{"$setElementOrder/finalizers": ["x.io/c", "x.io/a", "x.io/b"]})),
    "$setElementOrder of primitives with a new one": (
        "config map",
        _meta(**{"$setElementOrder/finalizers": ["x.io/c", "x.io/n", "x.io/a"], "finalizers": ["x.io/n"]}),
    ),
    "$setElementOrder of a list without strategy": (
        "deployment",
        pod(containers=[{"name": "one", "$setElementOrder/args": ["c", "a"], "args": ["c", "a"]}]),
    ),
    "$setElementOrder in a map of texts": ("config map", {"data": {"$setElementOrder/x": []}}),
    "$setElementOrder and the list is null": ("deployment", pod(**{"$setElementOrder/containers": _named("one"), "containers": None})),
    # $deleteFromPrimitiveList
    "a primitive list is merged": ("config map", _meta(finalizers=["x.io/n", "x.io/a"])),
    "a primitive list with repeats is merged": ("config map", _meta(finalizers=["x.io/n", "x.io/b", "x.io/n", "x.io/m"])),
    "$deleteFromPrimitiveList": ("config map", _meta(**{"$deleteFromPrimitiveList/finalizers": ["x.io/b", "x.io/nope"]})),
    "$deleteFromPrimitiveList of all": ("config map", _meta(**{"$deleteFromPrimitiveList/finalizers": ["x.io/a", "x.io/b", "x.io/c"]})),
    "$deleteFromPrimitiveList of none": ("config map", _meta(**{"$deleteFromPrimitiveList/finalizers": []})),
    "$deleteFromPrimitiveList with additions and an order": (
        "config map",
        _meta(
            **{
                "$deleteFromPrimitiveList/finalizers": ["x.io/b"],
                "$setElementOrder/finalizers": ["x.io/n", "x.io/c"],
                "finalizers": ["x.io/n"],
            }
        ),
    ),
    "$deleteFromPrimitiveList of a list without strategy": (
        "deployment",
        pod(containers=[{"name": "one", "$deleteFromPrimitiveList/args": ["a"]}]),
    ),
    "$deleteFromPrimitiveList of what is not there": ("deployment", _meta(**{"$deleteFromPrimitiveList/finalizers": ["x.io/b"]})),
    "$deleteFromPrimitiveList names no field": ("config map", _meta(**{"$deleteFromPrimitiveList": ["x.io/b"]})),
    "$deleteFromPrimitiveList names an empty field": ("config map", _meta(**{"$deleteFromPrimitiveList/": ["x.io/b"]})),
    "$deleteFromPrimitiveListed": ("config map", _meta(**{"$deleteFromPrimitiveListed/finalizers": ["x.io/b"]})),
    "$deleteFromPrimitiveList is null": ("config map", _meta(**{"$deleteFromPrimitiveList/finalizers": None})),
    "$deleteFromPrimitiveList is a text": ("config map", _meta(**{"$deleteFromPrimitiveList/finalizers": "x.io/b"})),
    "$deleteFromPrimitiveList of numbers": ("config map", _meta(**{"$deleteFromPrimitiveList/finalizers": [1]})),
    "$deleteFromPrimitiveList of a list of maps": ("deployment", pod(**{"$deleteFromPrimitiveList/containers": [{"name": "two"}]})),
    "a list in a list": ("config map", _meta(finalizers=[["x"]])),
    "a list of lists is all there is": ("deployment", _meta(finalizers=[["x"]])),
    # bodies
    "no object": ("config map", []),
    "a number": ("config map", 5),
    "null": ("config map", b"null"),
    "nothing": ("config map", b""),
    "no JSON": ("config map", b"{"),
    "an empty patch": ("config map", {}),
    "a map where a number belongs": ("deployment", {"spec": {"replicas": {}}}),
    "a text where a number belongs": ("deployment", {"spec": {"replicas": "5"}}),
    "a fraction where a number belongs": ("deployment", b'{"spec":{"replicas":2.5}}'),
    "a whole float": ("deployment", b'{"spec":{"replicas":4.0}}'),
    "a number where a text belongs": ("config map", {"data": {"x": 5}}),
    "a truth where a text belongs": ("config map", {"data": {"x": True}}),
    "a text where a truth belongs": ("config map", {"immutable": "yes"}),
    "a text where a map belongs": ("config map", {"data": "x"}),
    "a text where a struct belongs": ("deployment", {"spec": "x"}),
    "a list where a struct belongs": ("deployment", {"spec": {"strategy": []}}),
    "a text where a list belongs": ("config map", _meta(finalizers="x")),
    "a truth where an int-or-string belongs": ("deployment", {"spec": {"strategy": {"rollingUpdate": {"maxSurge": True}}}}),
    "a number where a time belongs": ("config map", _meta(creationTimestamp=5)),
    "a bad quantity": ("deployment", pod(containers=[{"name": "one", "resources": {"limits": {"cpu": "many"}}}])),
    "an unknown field": ("config map", {"unknown": 1, "data": {"y": "1"}}),
    "an unknown field, strictly": ("config map", {"unknown": 1, "data": {"y": "1"}}, {"fieldValidation": "Strict"}),
    "an unknown field, ignored": ("config map", {"unknown": 1}, {"fieldValidation": "Ignore"}),
    "unknown fields inside": ("deployment", pod(zebra=1, containers=[{"name": "one", "ape": 1}]), {"fieldValidation": "Strict"}),
    "a repeated key": ("config map", b'{"data":{"y":"1","y":"2"}}'),
    "a repeated key, strictly": ("config map", b'{"data":{"y":"1","y":"2"},"what":1}', {"fieldValidation": "Strict"}),
    "another name": ("config map", _meta(name="other")),
    "another namespace": ("config map", _meta(namespace="other")),
    "another kind": ("config map", {"kind": "Secret", "apiVersion": "v2"}),
    "a stale version": ("config map", _meta(resourceVersion="1")),
    "another uid": ("config map", _meta(uid="other")),
    # what is served beside
    "status": (
        "deployment",
        {"status": {"replicas": 3, "conditions": [{"type": "A", "status": "True"}]}, "spec": {"replicas": 9}},
        {"sub": "status"},
    ),
    "scale": ("deployment", {"spec": {"replicas": 7}}, {"sub": "scale"}),
    "scale with a directive": ("deployment", {"spec": REPLACE}, {"sub": "scale"}),
    "scale with nonsense": ("deployment", {"spec": {"replicas": "x"}}, {"sub": "scale"}),
    "scale with an unknown field": ("deployment", {"spec": {"$setElementOrder/x": []}}, {"sub": "scale"}),
    "a definition's names": (
        "definition",
        {"spec": {"names": {"shortNames": ["pt", "pp"], "categories": ["all"]}}},
    ),
    "custom resources take none": ("custom", {"spec": {"n": 2}}),
    "custom resources' scale takes none": ("custom", {"spec": {"replicas": 2}}, {"sub": "scale"}),
}

_AT = "/metadata/finalizers"


def _test(path: str, value: Any) -> Json:
    return {"op": "test", "path": path, "value": value}


def _add(path: str, value: Any = "x.io/new") -> Json:
    return {"op": "add", "path": path, "value": value}


JSON_PATCHES: dict[str, tuple[Any, ...]] = {
    "add": ("config map", [_add("/data/y", "1")]),
    "add at an index": ("config map", [_add(f"{_AT}/1")]),
    "add at the end": ("config map", [_add(f"{_AT}/-")]),
    "add behind the last": ("config map", [_add(f"{_AT}/3")]),
    "add beyond": ("config map", [_add(f"{_AT}/4")]),
    "add at -1": ("config map", [_add(f"{_AT}/-1")]),
    "add at -4": ("config map", [_add(f"{_AT}/-4")]),
    "add at -5": ("config map", [_add(f"{_AT}/-5")]),
    "add at +0": ("config map", [_add(f"{_AT}/+0")]),
    "add at 01": ("config map", [_add(f"{_AT}/01")]),
    "add at 1_0": ("config map", [_add(f"{_AT}/1_0")]),
    "add at a space": ("config map", [_add(f"{_AT}/ 1")]),
    "add without value": ("config map", [{"op": "add", "path": "/data/y"}]),
    "add to nothing": ("config map", [_add("/spec/x/y")]),
    "add below a text": ("config map", [_add("/data/x/y")]),
    "add the document": ("config map", [_add("", {})]),
    "a path without slash": ("config map", [_add("data/y", "1")]),
    "a path with something before its slash": ("config map", [_add("what/data/y", "1")]),
    "an empty key": ("custom", [_add("/spec/free/", 1)]),
    "escaped keys": ("custom", [{"op": "replace", "path": "/spec/free/a~1b", "value": 3}, {"op": "remove", "path": "/spec/free/m~0n"}]),
    "keys that look escaped": ("custom", [_add("/spec/free/~01", 1), _add("/spec/free/~2", 2), _add("/spec/free/~", 3)]),
    "remove": ("config map", [{"op": "remove", "path": "/data/x"}]),
    "remove nothing": ("config map", [{"op": "remove", "path": "/data/nope"}]),
    "remove at -1": ("config map", [{"op": "remove", "path": f"{_AT}/-1"}]),
    "remove at -4": ("config map", [{"op": "remove", "path": f"{_AT}/-4"}]),
    "remove at -": ("config map", [{"op": "remove", "path": f"{_AT}/-"}]),
    "remove the document": ("config map", [{"op": "remove", "path": ""}]),
    "replace": ("config map", [{"op": "replace", "path": "/data/x", "value": "9"}]),
    "replace what is not there": ("config map", [{"op": "replace", "path": "/data/nope", "value": "9"}]),
    "replace at -1": ("config map", [{"op": "replace", "path": f"{_AT}/-1", "value": "x.io/z"}]),
    "replace beyond": ("config map", [{"op": "replace", "path": f"{_AT}/3", "value": "x.io/z"}]),
    "replace the document by a list": ("config map", [{"op": "replace", "path": "", "value": []}]),
    "replace the document by a text": ("config map", [{"op": "replace", "path": "", "value": "x"}]),
    "replace the document by null": ("config map", [{"op": "replace", "path": "", "value": None}]),
    "replace the document": ("config map", [{"op": "replace", "path": "", "value": {"data": {"z": "1"}}}]),
    "replace by null": ("config map", [{"op": "replace", "path": "/data", "value": None}]),
    "move": ("config map", [{"op": "move", "from": "/data/x", "path": "/data/y"}]),
    "move nothing": ("config map", [{"op": "move", "from": "/data/nope", "path": "/data/y"}]),
    "move into itself": ("custom", [{"op": "move", "from": "/spec/free", "path": "/spec/free/x"}]),
    "move an element": ("config map", [{"op": "move", "from": f"{_AT}/0", "path": f"{_AT}/-"}]),
    "move the document": ("config map", [{"op": "move", "from": "", "path": "/data/y"}]),
    "move without from": ("config map", [{"op": "move", "path": "/data/y"}]),
    "copy": ("config map", [{"op": "copy", "from": "/data/x", "path": "/data/y"}]),
    "copy nothing": ("config map", [{"op": "copy", "from": "/data/nope", "path": "/data/y"}]),
    "copy the document": ("config map", [{"op": "copy", "from": "", "path": "/data/y"}]),
    "copies that grow": ("custom", [{"op": "copy", "from": "/spec/free", "path": f"/spec/free/c{n}"} for n in range(20)]),
    "test": ("config map", [_test("/data/x", "1"), _add("/data/y", "1")]),
    "test fails": ("config map", [_test("/data/x", "2")]),
    "test of an absent path with null": ("config map", [_test("/data/nope", None)]),
    "test of an absent path without value": ("config map", [{"op": "test", "path": "/data/nope"}]),
    "test of an absent path with a value": ("config map", [_test("/data/nope", "1")]),
    "test of what is there without value": ("config map", [{"op": "test", "path": "/data/x"}]),
    "test of an absent parent": ("config map", [_test("/spec/x", None)]),
    "test of an object": ("config map", [_test("/metadata/labels", {"b": "2", "a": "1"})]),
    "test of a list": ("config map", [_test(_AT, ["x.io/a", "x.io/b", "x.io/c"])]),
    "test of a list's end": ("config map", [_test(f"{_AT}/-1", "x.io/c")]),
    "test beyond": ("config map", [_test(f"{_AT}/3", None)]),
    "test of the document": ("config map", [_test("", {"a": 1})]),
    "test of text with <": ("config map", b'[{"op":"test","path":"/data/h","value":"a<b>&c"}]'),
    "test of text with an escaped <": ("config map", b'[{"op":"test","path":"/data/h","value":"a\\u003cb\\u003e\\u0026c"}]'),
    "test of text outside of ASCII": ("custom", '[{"op":"test","path":"/spec/free/ü","value":"é"}]'.encode()),
    "test of text outside of ASCII, escaped": ("custom", b'[{"op":"test","path":"/spec/free/\\u00fc","value":"\\u00e9"}]'),
    "test of a number": ("deployment", b'[{"op":"test","path":"/spec/replicas","value":2}]'),
    "test of a number with a point": ("deployment", b'[{"op":"test","path":"/spec/replicas","value":2.0}]'),
    "test of a number with an exponent": ("deployment", b'[{"op":"test","path":"/spec/replicas","value":2e0}]'),
    "test of a fraction": ("custom", b'[{"op":"test","path":"/spec/free/deep/x","value":1.5}]'),
    "test of a fraction with a zero": ("custom", b'[{"op":"test","path":"/spec/free/deep/x","value":1.50}]'),
    "test of lists of lists": ("custom", [_test("/spec/free/deep/y", [1, [2, 3]])]),
    "test of a text with a number": ("config map", [_test("/data/x", 1)]),
    "test of an empty object": ("config map", [_test("/metadata/labels", {})]),
    "no operation": ("config map", [{"path": "/data/x", "value": "1"}]),
    "an unknown operation": ("config map", [{"op": "hop", "path": "/data/x"}]),
    "a null operation": ("config map", [{"op": None, "path": "/data/x"}]),
    "no path": ("config map", [{"op": "add", "value": "1"}]),
    "a null path": ("config map", [{"op": "add", "path": None, "value": "1"}]),
    "an operation that is a number": ("config map", [{"op": 1, "path": "/data/x"}]),
    "a path that is a number": ("config map", [{"op": "add", "path": 1}]),
    "a from that is a list": ("config map", [{"op": "move", "from": [], "path": "/data/x"}]),
    "a path that is a number, ignored": ("config map", [{"op": "add", "path": 1}], {"fieldValidation": "Ignore"}),
    "an unknown field": ("config map", [{**_add("/data/y", "1"), "why": 1}]),
    "an unknown field, ignored": ("config map", [{**_add("/data/y", "1"), "why": 1}], {"fieldValidation": "Ignore"}),
    "an unknown field, strictly": ("custom", [{**_add("/spec/n", 2), "why": 1}], {"fieldValidation": "Strict"}),
    "an unknown field of the object": ("custom", [_add("/spec/unknown", 2)], {"fieldValidation": "Strict"}),
    "a repeated field": ("config map", b'[{"op":"add","op":"remove","path":"/data/x"}]'),
    "no list": ("config map", {"op": "add"}),
    "no list, ignored": ("config map", {"op": "add"}, {"fieldValidation": "Ignore"}),
    "a text": ("config map", "x"),
    "null": ("config map", b"null"),
    "an empty list": ("config map", []),
    "a number in the list": ("config map", [1]),
    "a number in the list, ignored": ("config map", [1], {"fieldValidation": "Ignore"}),
    "no JSON": ("config map", b"[{"),
    "nothing": ("config map", b""),
    "a wrong type": ("deployment", [{"op": "replace", "path": "/spec/replicas", "value": "x"}]),
    "the name": ("config map", [{"op": "replace", "path": "/metadata/name", "value": "other"}]),
    "the kind": ("config map", [{"op": "replace", "path": "/kind", "value": "Pod"}]),
    "no kind": ("config map", [{"op": "remove", "path": "/kind"}]),
    "no metadata": ("config map", [{"op": "remove", "path": "/metadata"}]),
    "scale": ("deployment", [{"op": "replace", "path": "/spec/replicas", "value": 4}], {"sub": "scale"}),
    "status": ("custom", [{"op": "add", "path": "/status", "value": {"n": 4}}], {"sub": "status"}),
}

MERGES: dict[str, tuple[Any, ...]] = {
    "set and remove": ("config map", {"data": {"x": None, "y": "1"}}),
    "nulls in a new map": ("config map", _meta(annotations={"a": None, "b": "1"})),
    "nulls in a list": ("custom", {"spec": {"list": [{"a": None, "b": {"c": None, "d": 1}}, {"e": [{"f": None}]}]}}),
    "nulls in a list in a new map": ("custom", {"spec": {"free": {"new": {"l": [{"a": None}, None]}}}}),
    "nulls in a list in place of a map": ("custom", {"spec": {"free": {"deep": [{"a": None}]}}}),
    "a map in place of a list": ("custom", {"spec": {"free": {"deep": {"y": {"a": None, "b": 1}}}}}),
    "a map in place of a text": ("custom", {"spec": {"free": {"text": {"a": None, "b": {"c": None}}}}}),
    "a text in place of a map": ("custom", {"spec": {"free": {"deep": "x"}}}),
    "a list is replaced": ("config map", _meta(finalizers=["x.io/n"])),
    "everything goes": ("config map", {"data": None, "metadata": {"labels": None, "finalizers": None}}),
    "metadata is null": ("config map", {"metadata": None}),
    "spec is null": ("deployment", {"spec": None}),
    "kind is null": ("config map", {"kind": None}),
    "null": ("config map", b"null"),
    "null, ignored": ("config map", b"null", {"fieldValidation": "Ignore"}),
    "a list": ("config map", []),
    "a list, ignored": ("config map", [], {"fieldValidation": "Ignore"}),
    "a number": ("config map", 5),
    "a number, ignored": ("config map", 5, {"fieldValidation": "Ignore"}),
    "no JSON": ("config map", b"{"),
    "nothing": ("config map", b""),
    "an empty patch": ("config map", {}),
    "a directive is but a field": ("config map", {"data": {"$patch": "replace"}}),
    "an unknown field, strictly": ("custom", {"spec": {"unknown": 1}}, {"fieldValidation": "Strict"}),
    "an unknown field": ("custom", {"spec": {"unknown": 1}}),
    "a repeated key, strictly": ("config map", b'{"data":{"y":"1","y":"2"}}', {"fieldValidation": "Strict"}),
    "a repeated key": ("config map", b'{"data":{"y":"1","y":"2"}}'),
    "a wrong type": ("deployment", {"spec": {"replicas": "x"}}),
    "a wrong type in metadata": ("config map", _meta(labels=["x"])),
    "another name": ("config map", _meta(name="other")),
    "a stale version": ("config map", _meta(resourceVersion="1")),
    "scale": ("deployment", {"spec": {"replicas": 4}}, {"sub": "scale"}),
    "scale of a custom resource": ("custom", {"spec": {"replicas": 4}}, {"sub": "scale"}),
    "status": ("custom", {"status": {"n": 4}, "spec": {"n": 9}}, {"sub": "status"}),
}


def explicit() -> dict[str, Case]:
    """All cases above, under their names."""
    tables = {"strategic": STRATEGIC, "json": JSON_PATCHES, "merge": MERGES}
    return {
        f"{media}: {name}": (base, media, body, options[0] if options else {})
        for media, table in tables.items()
        for name, (base, body, *options) in table.items()
    }
