"""The requests of the transcripts, script by script: what clients do, rightly and wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setpoint.api import Operation

from .kinds import GROUP
from .transcript import LIVE, ask

Json = dict[str, Any]
NOBODY = "11111111-1111-1111-1111-111111111111"
WHEN = "2001-02-03T04:05:06Z"


def config(name: str, data: Json | None = None, **metadata: Any) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, **({"data": data} if data is not None else {})}


def gadget(name: str, spec: Json | None = None, **more: Any) -> Json:
    metadata = {"name": name, **more.pop("metadata", {})}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": metadata, **({"spec": spec} if spec is not None else {}), **more}


def deployment(name: str, image: str = "nginx:1", **spec: Any) -> Json:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def pod(name: str, **spec: Any) -> Json:
    containers = [{"name": "web", "image": "nginx"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def lease(name: str, **spec: Any) -> Json:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec}


def event(name: str, **more: Any) -> Json:
    regarding = {"kind": "ConfigMap", "name": "a"}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name},
        "involvedObject": regarding,
        "reason": "R",
        "type": "Normal",
        **more,
    }


def condition(type: str, status: str = "True", **more: Any) -> Json:
    return {"type": type, "status": status, "reason": "Because", **more}


def owner(uid: str = NOBODY, **more: Any) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, **more}


def delete_options(**options: Any) -> Json:
    return {"kind": "DeleteOptions", "apiVersion": "v1", **options}


PORTS = [{"port": 80}, {"port": 80, "protocol": "UDP"}]
LARGE_SPEC: Json = {
    "size": 3,
    "host": "a.b",
    "level": 2,
    "tier": "gold",
    "limit": None,
    "share": 0.5,
    "blob": "aGVsbG8=",
    "since": WHEN,
    "precisely": "2001-02-03T04:05:06.000007Z",
    "target": "50%",
    "memory": "1.5Gi",
    "labels": {"a": "b"},
    "limits": {"cpu": 2, "memory": "1Gi"},
    "byName": {"first": {}, "second": {"workers": 9, "unknown": 1}},
    "free": {"x": {"y": [1, None, {"z": None}]}},
    "anything": [1, "two", {"three": 3.5}],
    "names": ["n1", "n2"],
    "codes": [3, 1, 3],
    "ports": PORTS,
    "steps": [{"run": "x"}, {"run": "y", "retries": 2, "unknown": True}],
    "grid": [[1, 2], []],
    "selector": {"s": "t"},
    "tuning": {},
    "tree": {"children": [{"anything": {"goes": 1}}]},
    "open": {"unknown": {"kept": True}},
    "embedded": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "inner", "unknown": 1}, "data": {"a": "b"}},
    "clusterIP": "10.0.0.1",
    "apiURL": "https://x",
    "pruned": {"a": 1},
}


def policies(resource: str, obj: Json, *policies: str | None) -> Iterator[Operation]:
    """An object is made, and deleted with one policy after the other; None says none."""
    yield ask("create", resource, "", obj)
    for policy in policies:
        said = {} if policy is None else {"propagationPolicy": policy}
        yield ask("delete", resource, obj["metadata"]["name"], delete_options(**said))


def bad(name: str, **spec: Any) -> Operation:
    return ask("create", "gadgets", "", gadget(name, {"size": 1, **spec}))


SCRIPTS: dict[str, list[Operation]] = {
    "create": [
        ask("create", "configmaps", "", config("a", {"k": "v"})),
        ask("create", "configmaps", "", config("a", {"k": "v"})),
        ask("create", "configmaps", "", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "gen-"}}),
        ask("create", "configmaps", "", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
        ask("create", "configmaps", "", {"apiVersion": "v1", "kind": "ConfigMap"}),
        ask("create", "configmaps", "", config("Bad_Name")),
        ask("create", "configmaps", "", config("b", namespace="elsewhere")),
        ask("create", "configmaps", "", config("b", uid=NOBODY, resourceVersion="5")),
        ask("create", "configmaps", "", config("b", uid=NOBODY, generation=7)),
        ask("create", "configmaps", "", config("c", labels={"bad key!": "v", "ok": "bad value!"}, annotations={"Bad Key!": "v"})),
        ask("create", "configmaps", "", config("c", finalizers=["no-slash"])),
        ask("create", "configmaps", "", config("c", finalizers=["example.com/x"], ownerReferences=[owner()])),
        ask("create", "configmaps", "", config("d", ownerReferences=[owner(controller=True), owner("2" * 8, controller=True)])),
        ask("create", "configmaps", "", config("d", ownerReferences=[{"kind": "ConfigMap"}])),
        ask("create", "configmaps", "", config("d", {"bad key!": "v"})),
        ask("create", "configmaps", "", config("d", {"k": 5})),
        ask("create", "configmaps", "", {**config("d"), "unknown": 1}),
        ask("create", "configmaps", "", {**config("e"), "unknown": 1}, options={"fieldValidation": "Strict"}),
        ask("create", "configmaps", "", {**config("e"), "unknown": 1}, options={"fieldValidation": "Warn"}),
        ask("create", "configmaps", "", {**config("f"), "unknown": 1}, options={"fieldValidation": "Ignore"}),
        ask("create", "configmaps", "", config("g"), options={"fieldValidation": "Odd"}),
        ask("create", "configmaps", "", config("g"), options={"dryRun": "All"}),
        ask("create", "configmaps", "", config("g"), options={"dryRun": "Some"}),
        ask("get", "configmaps", "g"),
        ask("create", "configmaps", "", {**config("g"), "kind": "Secret"}),
        ask("create", "configmaps", "", {**config("g"), "apiVersion": "v2"}),
        ask("create", "configmaps", "", b"{nonsense"),
        ask("create", "configmaps", "", b"[]"),
        ask("create", "configmaps", "", config("g"), manager="x" * 129),
        ask("create", "configmaps", "", config("g"), manager="tab\tbed"),
        ask("create", "secrets", "", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}}),
        ask("create", "secrets", "", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "data": {"a": "not base64!"}}),
        ask("create", "secrets", "", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "type": "kubernetes.io/tls"}),
    ],
    "create-custom": [
        ask("create", "gadgets", "", gadget("large", LARGE_SPEC, status={"ready": 3}, extra={"pruned": 1})),
        ask("get", "gadgets", "large"),
        ask("create", "gadgets", "", gadget("large", {"size": 1})),
        ask("create", "gadgets", "", gadget("small", {"size": 0})),
        ask(
            "create", "gadgets", "", gadget("nulls", {"size": 0, "host": None, "mode": None, "ports": None, "labels": None, "level": None})
        ),
        ask("create", "gadgets", "", gadget("strict", {"size": 0, "unknown": 1}), options={"fieldValidation": "Strict"}),
        ask(
            "create", "gadgets", "", gadget("strict", {"size": 0, "ports": [{"port": 1, "oops": 1}]}), options={"fieldValidation": "Strict"}
        ),
        ask(
            "create",
            "gadgets",
            "",
            gadget("warned", {"size": 0, "unknown": 1}, metadata={"unknown": 2}),
            options={"fieldValidation": "Warn"},
        ),
        ask("create", "gadgets", "", gadget("dry", {"size": 0}), options={"dryRun": "All"}),
        ask("get", "gadgets", "dry"),
        ask("create", "gadgets", "", {**gadget("other"), "apiVersion": f"{GROUP}/v2"}),
        ask("create", "gadgets", "", {**gadget("other", {"size": 0}), "kind": "Widget"}),
        ask("create", "gadgets", "", gadget("Bad_Name", {"size": 0})),
        ask("create", "gadgets", "", gadget("other", {"size": 0}, metadata={"labels": {"a": 5}})),
        ask(
            "create",
            "gadgets",
            "",
            {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"generateName": "gen-"}, "spec": {"size": 1}},
        ),
    ],
    "invalid-custom": [
        ask("create", "gadgets", "", gadget("x")),
        ask("create", "gadgets", "", gadget("x", {})),
        bad("x", size=-1),
        bad("x", size=101),
        bad("x", size="3"),
        bad("x", size=1.5),
        bad("x", size=None),
        bad("x", host="UPPER"),
        bad("x", host=""),
        bad("x", host="a" * 21),
        bad("x", host=5),
        bad("x", mode="medium"),
        bad("x", level=3),
        bad("x", tier="iron"),
        bad("x", enabled="yes"),
        bad("x", share=0.3),
        bad("x", share=-1),
        bad("x", blob="not base64!"),
        bad("x", since="yesterday"),
        bad("x", target=1.5),
        bad("x", memory="lots"),
        bad("x", labels={"a": 1}),
        bad("x", labels=[]),
        bad("x", limits={"a": 1, "b": 1, "c": 1, "d": 1}),
        bad("x", limits={"a": "x"}),
        bad("x", byName={"a": {"workers": 0}}),
        bad("x", names=["a", "a"]),
        bad("x", names=["a", ""]),
        bad("x", names=["a", "b", "c", "d"]),
        bad("x", ports=[{"port": 80}, {"port": 80, "protocol": "TCP"}]),
        bad("x", ports=[{"protocol": "TCP"}]),
        bad("x", ports=[{"port": 0, "protocol": "SCTP"}]),
        bad("x", ports={"port": 80}),
        bad("x", ports=[80]),
        bad("x", steps=[{}]),
        bad("x", grid=[[1, "2"]]),
        bad("x", tuning={"ratio": 1}),
        bad("x", tuning={"ratio": 0}),
        bad("x", tuning={"flags": {"a": "b"}}),
        bad("x", tree={"children": [{}, {}, {}, {}, {}]}),
        bad("x", embedded={"apiVersion": "v1"}),
        bad("x", embedded={"apiVersion": "v1", "kind": "X", "metadata": {"name": "Bad_Name", "labels": {"a": "!"}}}),
        bad("x", size=-1, host="UPPER", mode="medium", ports=[{"port": 70000}, {}]),
        ask("create", "gadgets", "", gadget("y", {"size": 1})),
        ask("merge", "gadgets", "y", {"spec": {"size": 200}}),
        ask("merge", "gadgets", "y", {"spec": {"size": None}}),
        ask("json", "gadgets", "y", [{"op": "replace", "path": "/spec/host", "value": "UPPER"}]),
        ask("json", "gadgets", "y", [{"op": "remove", "path": "/spec/nothing"}]),
        ask("json", "gadgets", "y", [{"op": "test", "path": "/spec/size", "value": 9}]),
        ask("json", "gadgets", "y", [{"op": "frobnicate", "path": "/spec/size"}]),
        ask("json", "gadgets", "y", {"not": "a list"}),
        ask("merge", "gadgets", "y", b"[1]"),
        ask("merge", "gadgets", "y", b"{nonsense"),
        ask("apply", "gadgets", "y", gadget("y", {"size": 300}), options={"force": "true"}),
        ask("merge", "gadgets", "y", {"status": {"conditions": [condition("A"), condition("A")]}}, subresource="status"),
        ask("merge", "gadgets", "y", {"status": {"conditions": [{"type": "A"}]}}, subresource="status"),
        ask("merge", "gadgets", "y", {"status": {"conditions": [condition("A", "Maybe", reason="")]}}, subresource="status"),
        ask("merge", "gadgets", "y", {"status": {"ready": "many"}}, subresource="status"),
    ],
    "invalid-built-in": [
        ask("create", "deployments", "", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}}),
        ask("create", "deployments", "", {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {}}),
        ask("create", "deployments", "", deployment("x", replicas=-1)),
        ask("create", "deployments", "", deployment("x", replicas="two")),
        ask("create", "deployments", "", deployment("x", image="")),
        ask("create", "deployments", "", deployment("x", selector={"matchLabels": {"other": "x"}})),
        ask("create", "deployments", "", deployment("x", strategy={"type": "Odd"})),
        ask("create", "deployments", "", deployment("x", minReadySeconds=-1, progressDeadlineSeconds=0)),
        ask("create", "services", "", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {}}),
        ask("create", "services", "", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": [{"port": 0}]}}),
        ask("create", "pods", "", pod("x", containers=[])),
        ask("create", "pods", "", pod("x", containers=[{"name": "A", "image": ""}])),
        ask("create", "pods", "", pod("x", restartPolicy="Sometimes")),
        ask("create", "leases", "", lease("x", leaseDurationSeconds=0, leaseTransitions=-1, renewTime="soon")),
        ask("create", "leases", "", lease("x", leaseDurationSeconds=0, leaseTransitions=-1)),
        ask("create", "leases", "", lease("x", holderIdentity="")),
        ask("create", "events", "", event("x", involvedObject={"namespace": "elsewhere", "name": "a"})),
    ],
    "defaults-built-in": [
        ask("create", "deployments", "", deployment("d")),
        ask("create", "pods", "", pod("p")),
        ask(
            "create", "services", "", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}
        ),
        ask("create", "services", "", {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "h"}, "spec": {"clusterIP": "None"}}),
        ask("create", "leases", "", lease("l", holderIdentity="me", leaseDurationSeconds=15, renewTime="2001-02-03T04:05:06.5Z")),
        ask("create", "events", "", event("e", count=1, firstTimestamp=WHEN)),
        ask("create", "secrets", "", {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}}),
    ],
    "update": [
        ask("create", "configmaps", "", config("a", {"k": "v"})),
        ask("update", "configmaps", "a", config("a", {"k": "v"})),
        ask("update", "configmaps", "a", config("a", {"k": "w"}, resourceVersion="1")),
        ask("update", "configmaps", "a", config("a", {"k": "w"}, uid=NOBODY)),
        ask("update", "configmaps", "a", config("b", {"k": "w"})),
        ask("update", "configmaps", "b", config("b", {"k": "w"})),
        ask("update", "configmaps", "a", config("a", {"k": "w"}, labels={"x": "y"})),
        ask("update", "configmaps", "a", {**config("a", {"k": "w"}), "immutable": True}),
        ask("update", "configmaps", "a", {**config("a", {"k": "z"}), "immutable": True}),
        ask("merge", "configmaps", "a", {"immutable": None}),
        ask("create", "gadgets", "", gadget("g", {"size": 1})),
        ask("update", "gadgets", "g", gadget("g", {"size": 2})),
        ask("update", "gadgets", "g", gadget("g", {"size": 2}, metadata={"resourceVersion": LIVE})),
        ask("update", "gadgets", "g", gadget("g", {"size": 2}, metadata={"resourceVersion": LIVE})),
        ask(
            "update",
            "gadgets",
            "g",
            gadget("g", {"size": 2}, metadata={"resourceVersion": LIVE}, status={"ready": 7}),
            subresource="status",
        ),
        ask("update", "gadgets", "g", gadget("g", {"size": 2}, metadata={"resourceVersion": "1"})),
        ask("merge", "gadgets", "g", {"metadata": {"resourceVersion": "1"}, "spec": {"size": 3}}),
        ask("merge", "gadgets", "nothing", {"spec": {"size": 3}}),
        ask("merge", "gadgets", "g", {"metadata": {"name": "h"}}),
        ask("merge", "gadgets", "g", {"metadata": {"labels": {"a": "b"}}}),
        ask("merge", "gadgets", "g", {"metadata": {"labels": {"a": "b"}}}),
        ask("merge", "gadgets", "g", {"spec": {"size": 3}, "status": {"ready": 5}}),
        ask(
            "merge", "gadgets", "g", {"spec": {"size": 9}, "status": {"ready": 5}, "metadata": {"labels": {"c": "d"}}}, subresource="status"
        ),
        ask("merge", "gadgets", "g", {"status": {"ready": 5}}, subresource="status"),
        ask("json", "gadgets", "g", [{"op": "add", "path": "/spec/limit", "value": None}]),
        ask("json", "gadgets", "g", [{"op": "add", "path": "/spec/tier", "value": None}]),
        ask("merge", "gadgets", "g", {"spec": {"limit": 4}}),
        ask("merge", "gadgets", "g", {"spec": {"limit": None}}),
        ask("json", "gadgets", "g", [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]),
        ask(
            "json",
            "gadgets",
            "g",
            [{"op": "add", "path": "/spec/steps", "value": []}, {"op": "add", "path": "/spec/steps/-", "value": {"run": "x"}}],
        ),
        ask(
            "json",
            "gadgets",
            "g",
            [
                {"op": "copy", "from": "/spec/steps/0", "path": "/spec/steps/-"},
                {"op": "move", "from": "/spec/steps/0", "path": "/spec/steps/1"},
            ],
        ),
        ask("merge", "gadgets", "g", {"spec": {"size": 4}}, options={"dryRun": "All"}),
        ask("get", "gadgets", "g"),
        ask("get", "gadgets", "g", subresource="scale"),
        ask("merge", "gadgets", "g", {"spec": {"replicas": 7}}, subresource="scale"),
        ask("merge", "gadgets", "g", {"metadata": {"finalizers": ["example.com/x"]}}),
        ask("delete", "gadgets", "g"),
        ask("merge", "gadgets", "g", {"metadata": {"finalizers": ["example.com/x", "example.com/y"]}}),
        ask("merge", "gadgets", "g", {"spec": {"size": 8}}),
        ask("merge", "gadgets", "g", {"metadata": {"finalizers": None}}),
        ask("get", "gadgets", "g"),
    ],
    "delete": [
        ask("create", "configmaps", "", config("a")),
        ask(
            "delete",
            "configmaps",
            "a",
            delete_options(preconditions={"uid": NOBODY}),
        ),
        ask("delete", "configmaps", "a", delete_options(preconditions={"resourceVersion": "1"})),
        ask("delete", "configmaps", "a", delete_options(propagationPolicy="Odd")),
        ask("delete", "configmaps", "a", delete_options(dryRun=["All"])),
        ask("delete", "configmaps", "a", options={"propagationPolicy": "Background"}),
        ask("delete", "configmaps", "a"),
        ask("create", "configmaps", "", config("f", finalizers=["example.com/x"])),
        ask("delete", "configmaps", "f"),
        ask("delete", "configmaps", "f"),
        ask("merge", "configmaps", "f", {"metadata": {"finalizers": []}}),
        ask("get", "configmaps", "f"),
        ask("create", "gadgets", "", gadget("g", {"size": 1})),
        ask(
            "delete",
            "gadgets",
            "g",
            delete_options(preconditions={"uid": NOBODY}),
        ),
        ask("delete", "gadgets", "g"),
        ask("delete", "gadgets", "g"),
        ask("create", "configmaps", "", config("m1", labels={"many": "yes"})),
        ask("create", "configmaps", "", config("m2", labels={"many": "yes"}, finalizers=["example.com/x"])),
        ask("deletecollection", "configmaps", options={"labelSelector": "many=yes"}),
        ask("list", "configmaps", options={"labelSelector": "many=yes"}),
    ],
    "delete-policies": [
        *policies("configmaps", config("a"), "Foreground", "Background"),
        *policies("configmaps", config("b"), "Orphan", "Foreground", "Orphan", None, "Background"),
        *policies("configmaps", config("f", finalizers=["example.com/x"]), "Foreground", None, "Orphan", "Background", "Orphan"),
        ask("merge", "configmaps", "f", {"metadata": {"finalizers": None}}),
        ask("create", "configmaps", "", config("o", finalizers=["example.com/x"])),
        *(ask("delete", "configmaps", "o", delete_options(orphanDependents=orphan)) for orphan in (False, True, False)),
        ask("delete", "configmaps", "o", delete_options(orphanDependents=True, propagationPolicy="Orphan")),
        ask("delete", "configmaps", "o", options={"orphanDependents": "true"}),
        ask("merge", "configmaps", "o", {"metadata": {"finalizers": None}}),
        ask("create", "configmaps", "", config("o", finalizers=["orphan"])),
        ask("delete", "configmaps", "o"),
        ask("delete", "configmaps", "o", options={"orphanDependents": "false"}),
        ask("create", "configmaps", "", config("o", finalizers=["foregroundDeletion"])),
        ask("delete", "configmaps", "o"),
        ask("delete", "configmaps", "o", options={"propagationPolicy": "Orphan"}),
        ask("merge", "configmaps", "o", {"metadata": {"finalizers": ["foregroundDeletion"]}}),
        ask("merge", "configmaps", "o", {"metadata": {"finalizers": None}}),
        ask("create", "configmaps", "", config("d")),
        ask("delete", "configmaps", "d", delete_options(propagationPolicy="Foreground", dryRun=["All"])),
        ask("get", "configmaps", "d"),
        ask("delete", "configmaps", "d", delete_options(orphanDependents=False)),
        *policies("gadgets", gadget("g"), "Foreground", "Orphan", None),
        ask("merge", "gadgets", "g", {"metadata": {"finalizers": None}}),
        *policies("deployments", deployment("d"), "Foreground", "Background"),
        *policies("services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}, "Foreground", "Background"),
        *policies("leases", lease("l"), "Orphan", "Background"),
        *policies("events", event("e"), "Foreground"),
        *policies("pods", pod("p"), "Foreground", "Orphan", "Background"),
        *policies("pods", pod("q", nodeName="n"), "Foreground", "Orphan", "Background"),
        ask("delete", "pods", "q", delete_options(propagationPolicy="Orphan", gracePeriodSeconds=3)),
        ask("delete", "pods", "q", delete_options(propagationPolicy="Orphan", gracePeriodSeconds=5)),
        ask("delete", "pods", "q", delete_options(propagationPolicy="Background", gracePeriodSeconds=0)),
        ask("create", "configmaps", "", config("m1", labels={"many": "yes"})),
        ask("create", "configmaps", "", config("m2", labels={"many": "yes"})),
        ask("deletecollection", "configmaps", "", delete_options(propagationPolicy="Foreground"), options={"labelSelector": "many=yes"}),
        ask("list", "configmaps", options={"labelSelector": "many=yes"}),
        ask("deletecollection", "configmaps", "", delete_options(orphanDependents=False), options={"labelSelector": "many=yes"}),
        ask("list", "configmaps", options={"labelSelector": "many=yes"}),
    ],
    "delete-pod": [ask("create", "pods", "", pod("p")), ask("delete", "pods", "p"), ask("get", "pods", "p")],
    "apply": [
        ask("apply", "configmaps", "a", config("a", {"k": "v"})),
        ask("apply", "configmaps", "a", config("a", {"k": "v"})),
        ask("apply", "configmaps", "a", config("a", {"k": "w", "l": "m"}), manager="other"),
        ask("apply", "configmaps", "a", config("a", {"k": "w", "l": "m"}), manager="other", options={"force": "true"}),
        ask("apply", "configmaps", "a", config("a", {})),
        ask("apply", "configmaps", "a", config("a", {"l": "m"}), options={"force": "false"}),
        ask("apply", "configmaps", "a", config("b")),
        ask("apply", "configmaps", "a", {"apiVersion": "v1", "kind": "ConfigMap"}),
        ask("apply", "configmaps", "a", {"kind": "ConfigMap"}),
        ask("apply", "configmaps", "a", config("a"), options={"fieldManager": ""}),
        ask("apply", "configmaps", "a", config("a", managedFields=[{"manager": "x", "operation": "Apply", "apiVersion": "v1"}])),
        ask("apply", "configmaps", "a", config("a", resourceVersion="1")),
        ask("apply", "configmaps", "new", config("new", resourceVersion="1")),
        ask("apply", "configmaps", "new", config("new", uid=NOBODY)),
        ask("apply", "configmaps", "new", config("new"), options={"dryRun": "All"}),
        ask("get", "configmaps", "new"),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "ports": PORTS, "names": ["a"], "steps": [{"run": "x"}]})),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "ports": PORTS, "names": ["a"], "steps": [{"run": "x"}]})),
        ask("apply", "gadgets", "g", gadget("g", {"size": 2, "ports": [{"port": 80, "weight": 5}], "names": ["b"]}), manager="other"),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "ports": [{"port": 80, "weight": 5}], "names": ["b"]}), manager="other"),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "ports": [{"port": 80, "protocol": "UDP"}]})),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1}, status={"ready": 1})),
        ask("apply", "gadgets", "g", gadget("g", status={"ready": 1, "conditions": [condition("A")]}), subresource="status", manager="st"),
        ask("apply", "gadgets", "g", gadget("g", status={"conditions": [condition("B")]}), subresource="status", manager="st2"),
        ask("apply", "gadgets", "nothing", gadget("nothing", status={"ready": 1}), subresource="status"),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "unknown": 2}), options={"force": "true"}),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "unknown": 2}), options={"force": "true", "fieldValidation": "Strict"}),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "ports": [{"port": 1}, {"port": 1}]}), options={"force": "true"}),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1, "limit": None, "labels": None}), options={"force": "true"}),
        ask(
            "apply",
            "gadgets",
            "g",
            gadget("g", {"size": 1}, metadata={"ownerReferences": [owner(controller=True)], "finalizers": ["example.com/f"]}),
        ),
        ask("apply", "gadgets", "g", gadget("g", {"size": 1})),
        ask("apply", "deployments", "d", deployment("d")),
        ask("apply", "deployments", "d", deployment("d")),
        ask("apply", "deployments", "d", deployment("d", replicas=3), manager="scaler"),
        ask("apply", "deployments", "d", deployment("d", "nginx:2", replicas=2)),
    ],
    "managed-fields": [
        ask("create", "configmaps", "", config("c", {"a": "1", "b": "2"}, labels={"x": "y"}), manager="creator"),
        ask("update", "configmaps", "c", config("c", {"a": "1", "b": "3"}, labels={"x": "y"}), manager="updater"),
        ask("apply", "configmaps", "c", config("c", {"a": "1", "d": "4"}), manager="applier"),
        ask("merge", "configmaps", "c", {"data": {"d": "5"}}, manager="patcher"),
        ask("apply", "configmaps", "c", config("c", {"d": "6"}, ownerReferences=[owner()]), manager="applier", options={"force": "true"}),
        ask("merge", "configmaps", "c", {"metadata": {"managedFields": [{}]}}, manager="patcher"),
        ask("merge", "configmaps", "c", {"data": {"e": "7"}}, manager="patcher"),
        ask("create", "deployments", "", deployment("d", replicas=1), manager="creator"),
        ask("merge", "deployments", "d", {"spec": {"replicas": 2}}, manager="scaler"),
        ask("apply", "deployments", "d", deployment("d", "nginx:2"), manager="applier"),
        ask("apply", "deployments", "d", deployment("d", "nginx:2", replicas=3), manager="applier", options={"force": "true"}),
        ask(
            "merge",
            "deployments",
            "d",
            {
                "status": {
                    "replicas": 1,
                    "conditions": [{"type": "Available", "status": "True", "lastUpdateTime": WHEN, "lastTransitionTime": WHEN}],
                }
            },
            manager="status",
            subresource="status",
        ),
        ask("merge", "deployments", "d", {"spec": {"replicas": 9}}, manager="status", subresource="status"),
        ask("merge", "deployments", "d", {"spec": {"replicas": 5}}, manager="scaling", subresource="scale"),
        ask(
            "json",
            "deployments",
            "d",
            [{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{"name": "A", "value": "b"}]}],
            manager="env",
        ),
        ask(
            "create",
            "gadgets",
            "",
            gadget("g", {"size": 1, "ports": PORTS, "names": ["a", "b"], "codes": [1], "tuning": {}}),
            manager="creator",
        ),
        ask(
            "update",
            "gadgets",
            "g",
            gadget("g", {"size": 2, "ports": PORTS[:1], "names": ["b", "c"], "codes": [1, 2]}, metadata={"resourceVersion": LIVE}),
            manager="updater",
        ),
        ask("apply", "gadgets", "g", gadget("g", {"size": 2, "byName": {"n": {"workers": 2}}, "selector": {"a": "b"}}), manager="applier"),
        ask("apply", "gadgets", "g", gadget("g", {"size": 2, "free": {"x": {"y": 1}}, "anything": {"z": [1]}}), manager="applier"),
        ask(
            "merge",
            "gadgets",
            "g",
            {"status": {"ready": 1, "conditions": [condition("A")], "notes": ["n"]}},
            manager="status",
            subresource="status",
        ),
        ask(
            "apply",
            "gadgets",
            "g",
            gadget("g", status={"ready": 2, "conditions": [condition("A")]}),
            manager="status",
            subresource="status",
            options={"force": "true"},
        ),
        ask("merge", "gadgets", "g", {"spec": {"replicas": 5}}, manager="scaling", subresource="scale"),
        ask(
            "merge",
            "gadgets",
            "g",
            {"metadata": {"labels": {"l": "m"}, "annotations": {"n": "o"}, "finalizers": ["example.com/x"]}},
            manager="meta",
        ),
        ask("json", "gadgets", "g", [{"op": "add", "path": "/spec/limit", "value": None}], manager="nuller"),
    ],
    "reading": [
        ask("create", "configmaps", "", config("a", {"k": "v"}, labels={"l": "1"})),
        ask("list", "configmaps", options={"labelSelector": "a in b"}),
        ask("list", "configmaps", options={"labelSelector": "=x"}),
        ask("list", "configmaps", options={"labelSelector": "a=b=c"}),
        ask("list", "configmaps", options={"labelSelector": "a b"}),
        ask("list", "configmaps", options={"labelSelector": "a=b!"}),
        ask("list", "configmaps", options={"labelSelector": "a>b"}),
        ask("list", "configmaps", options={"labelSelector": "a in ()"}),
        ask("list", "configmaps", options={"labelSelector": ",a"}),
        ask("list", "configmaps", options={"labelSelector": "a,,b"}),
        ask("list", "configmaps", options={"labelSelector": "l==1"}),
        ask("list", "configmaps", options={"fieldSelector": "data.x=1"}),
        ask("list", "configmaps", options={"fieldSelector": "metadata.name"}),
        ask("list", "gadgets", options={"fieldSelector": "spec.size=1"}),
        ask("list", "gadgets", options={"fieldSelector": "metadata.name=x"}),
        ask("list", "configmaps", options={"limit": "x"}),
        ask("list", "configmaps", options={"limit": "-1", "labelSelector": "l"}),
        ask("list", "configmaps", options={"resourceVersion": "x"}),
        ask("list", "configmaps", options={"resourceVersion": "0", "labelSelector": "l"}),
        ask("list", "configmaps", options={"resourceVersionMatch": "Exact"}),
        ask("list", "configmaps", options={"resourceVersionMatch": "Odd", "resourceVersion": "1"}),
        ask("list", "configmaps", options={"resourceVersionMatch": "Exact", "resourceVersion": "0"}),
        ask("list", "configmaps", options={"sendInitialEvents": "true"}),
        ask("get", "configmaps", "nothing"),
        ask("get", "gadgets", "nothing"),
        ask("get", "gadgets", "nothing", subresource="status"),
        ask("get", "gadgets", "nothing", subresource="odd"),
        ask("get", "configmaps", "a", subresource="status"),
        ask("get", "deployments", "nothing", subresource="scale"),
        ask("get", "configmaps", "a", options={"resourceVersion": "0"}),
    ],
}
