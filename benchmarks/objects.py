"""What the servers hold: custom resources of about 2 KB, 3 KB with who wrote what, each with a child; and pods of about 6 KB.

Widgets are the kind of `controller_runtime/`, and look like those that it creates.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

CREATED = "2026-01-01T00:00:00Z"
GROUP = "bench.setpoint.dev"


def name_of(number: int) -> str:
    """Of a widget, its child, or a pod."""
    return f"widget-{number:06}"


def uid_of(number: int, family: int = 0) -> str:
    """One of its own for each number, and the same again each time."""
    return str(UUID(int=(family + 1) << 96 | number, version=4))


def fields_of(value: Any) -> dict[str, Any]:
    """The managed fields of one who wrote all of a value; lists count as one field."""
    return {f"f:{key}": fields_of(each) if isinstance(each, dict) else {} for key, each in value.items()}


def managed(manager: str, api_version: str, written: dict[str, Any], subresource: str = "") -> dict[str, Any]:
    """An entry of `metadata.managedFields`."""
    entry = {"manager": manager, "operation": "Update", "apiVersion": api_version, "time": CREATED, "fieldsType": "FieldsV1"}
    return entry | {"fieldsV1": fields_of(written)} | ({"subresource": subresource} if subresource else {})


def metadata(number: int, namespace: str, labels: dict[str, str], annotations: dict[str, str], family: int = 0) -> dict[str, Any]:
    """As the server gives it, but for the version, which it takes from its storage."""
    out: dict[str, Any] = {"name": name_of(number), "namespace": namespace, "uid": uid_of(number, family), "generation": 1}
    return out | {"creationTimestamp": CREATED, "labels": labels, "annotations": annotations}


def widget(number: int, namespace: str, *, stored: bool = True) -> dict[str, Any]:
    """A custom resource: as a server has it, or with `stored=False` as somebody creates it."""
    name = name_of(number)
    labels = {"app.kubernetes.io/name": "widget", "app.kubernetes.io/instance": name, "tier": f"t{number % 7}"}
    annotations = {"bench.setpoint.dev/note": "created by crbench for a cache measurement"}
    spec = {
        "displayName": f"Widget {name}",
        "description": "A widget used to measure how large caches behave. " * 4,
        "image": f"registry.example.com/team/widget:v1.{number % 50}",
        "imagePullPolicy": "IfNotPresent",
        "replicas": number % 5 + 1,
        "priority": number % 100,
        "revision": 1,
        "tier": "backend",
        "region": "eu-west-1",
        "owner": f"team-{number % 40}@example.com",
        "schedule": "*/5 * * * *",
        "timeoutSeconds": 30,
        "ratio": "0.75",
        "labels": {"cost-center": str(1000 + number % 90), "component": "core", "release": "stable"},
        "args": ["--listen=0.0.0.0:8080", "--log-level=info", f"--shard={number}"],
        "env": [
            {"name": "LOG_FORMAT", "value": "json"},
            {"name": "SHARD", "value": str(number)},
            {"name": "CACHE_DIR", "value": "/var/cache/widget"},
            {"name": "UPSTREAM", "value": "http://upstream.default.svc:9000"},
        ],
        "ports": [
            {"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"},
            {"name": "metrics", "port": 9090, "targetPort": 9090, "protocol": "TCP"},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}},
        "strategy": {"type": "RollingUpdate", "maxSurge": 1, "maxUnavailable": 1},
        "probe": {"path": "/healthz", "port": 8080, "periodSeconds": 10},
        "selector": {"app": name},
    }
    version = f"{GROUP}/v1"
    if not stored:
        meta: dict[str, Any] = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations}
        return {"apiVersion": version, "kind": "Widget", "metadata": meta, "spec": spec}
    status = {
        "observedGeneration": 1,
        "phase": "Created",
        "readyReplicas": number % 5 + 1,
        "endpoint": f"http://{name}.default.svc:80",
        "conditions": [
            condition("Ready", "True", "AllReplicasReady", "all replicas are ready"),
            condition("Progressing", "False", "Stable", "nothing to roll out"),
        ],
    }
    meta = metadata(number, namespace, labels, annotations)
    first = managed("crbench", version, {"metadata": {"annotations": annotations, "labels": labels}, "spec": spec})
    meta["managedFields"] = [first, managed("crbench", version, {"status": status}, "status")]
    return {"apiVersion": version, "kind": "Widget", "metadata": meta, "spec": spec, "status": status}


def condition(kind: str, status: str, reason: str, message: str) -> dict[str, Any]:
    """As `metav1.Condition` has it."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": 1,
        "lastTransitionTime": CREATED,
    }


def child(number: int, namespace: str) -> dict[str, Any]:
    """A ConfigMap that the widget of this number controls."""
    meta = metadata(number, namespace, {"app.kubernetes.io/name": "widget"}, {}, family=1)
    owner = {"apiVersion": f"{GROUP}/v1", "kind": "Widget", "name": name_of(number), "uid": uid_of(number)}
    meta["ownerReferences"] = [owner | {"controller": True, "blockOwnerDeletion": True}]
    data = {"settings": f"shard={number}\n" + "log.level=info\n" * 20}
    meta["managedFields"] = [managed("crbench", "v1", {"data": data})]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def pod(number: int, namespace: str) -> dict[str, Any]:
    """A pod that runs, with two containers."""
    name = name_of(number)
    labels = {"app.kubernetes.io/name": "widget", "app.kubernetes.io/instance": name, "pod-template-hash": f"{number:08x}"}
    meta = metadata(number, namespace, labels, {"prometheus.io/scrape": "true", "prometheus.io/port": "9090"}, family=2)
    meta["generateName"] = "widget-"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"widget-{number // 3}", "uid": uid_of(number // 3, 3)}
    meta["ownerReferences"] = [owner | {"controller": True, "blockOwnerDeletion": True}]
    spec: dict[str, Any] = {
        "containers": [_container("web", 8080, number), _container("proxy", 15001, number)],
        "volumes": [
            {"name": "settings", "configMap": {"name": name, "defaultMode": 420}},
            {"name": "scratch", "emptyDir": {}},
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "widget",
        "serviceAccount": "widget",
        "nodeName": f"node-{number % 200}",
        "securityContext": {"runAsNonRoot": True, "fsGroup": 2000},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": f"node.kubernetes.io/{taint}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            for taint in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    status: dict[str, Any] = {
        "phase": "Running",
        "conditions": [
            {"type": kind, "status": "True", "lastProbeTime": None, "lastTransitionTime": CREATED}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
        ],
        "hostIP": f"10.1.{number % 200}.1",
        "podIP": f"10.2.{number % 200}.{number % 250}",
        "podIPs": [{"ip": f"10.2.{number % 200}.{number % 250}"}],
        "startTime": CREATED,
        "containerStatuses": [_ran(each["name"], each["image"], number) for each in spec["containers"]],
        "qosClass": "Burstable",
    }
    wrote = spec | {"containers": {f"k:{each['name']}": each for each in spec["containers"]}}
    meta["managedFields"] = [
        managed("kube-controller-manager", "v1", {"metadata": {"labels": labels}, "spec": wrote}),
        managed("kubelet", "v1", {"status": status}, "status"),
    ]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}


def _container(name: str, port: int, number: int) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/healthz", "port": port, "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10}
    return {
        "name": name,
        "image": f"registry.example.com/team/{name}:v1.{number % 50}",
        "args": ["--log-level=info", f"--listen=0.0.0.0:{port}"],
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": [{"name": f"SETTING_{at}", "value": f"value-{at}-{number}"} for at in range(3)]
        + [{"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}],
        "resources": {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "volumeMounts": [{"name": each, "mountPath": f"/var/{each}"} for each in ("settings", "scratch")],
        "readinessProbe": probe | {"successThreshold": 1, "failureThreshold": 3},
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
    }


def _ran(name: str, image: str, number: int) -> dict[str, Any]:
    return {
        "name": name,
        "state": {"running": {"startedAt": CREATED}},
        "lastState": {},
        "ready": True,
        "restartCount": 0,
        "image": image,
        "imageID": f"registry.example.com/team/{name}@sha256:{number:064x}",
        "containerID": f"containerd://{number:064x}",
        "started": True,
    }
