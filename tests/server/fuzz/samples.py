"""Sensible objects, to begin with, and the kinds that a server has."""

from __future__ import annotations

from typing import Any

from tests.server.talk import WIDGET_CRD

from setpoint.cluster.server import ApiServer

_LABELS = {"matchLabels": {"a": "b"}}
_POD = {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "A", "value": "b"}]}]}
_TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": _POD}

SAMPLES: dict[str, list[dict[str, Any]]] = {
    "ConfigMap": [{"data": {"a": "b"}, "binaryData": {"b": "YWJj"}}, {"metadata": {"labels": {"a": "b"}, "finalizers": ["example.com/x"]}}],
    "Secret": [{"type": "Opaque", "data": {"a": "YWJj"}, "stringData": {"c": "d"}}],
    "Namespace": [{}, {"metadata": {"labels": {"a": "b"}}}],
    "Pod": [{"spec": _POD}, {"spec": {**_POD, "volumes": [{"name": "v", "emptyDir": {}}], "tolerations": [{"operator": "Exists"}]}}],
    "Service": [{"spec": {"ports": [{"port": 80, "targetPort": "http"}], "selector": {"a": "b"}}}],
    "Deployment": [{"spec": {"replicas": 1, "selector": _LABELS, "template": _TEMPLATE}}],
    "StatefulSet": [{"spec": {"serviceName": "s", "selector": _LABELS, "template": _TEMPLATE}}],
    "DaemonSet": [{"spec": {"selector": _LABELS, "template": _TEMPLATE}}],
    "Job": [{"spec": {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}}],
    "CronJob": [{"spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}}}}],
    "Lease": [{"spec": {"holderIdentity": "x", "leaseDurationSeconds": 15, "renewTime": "2020-01-01T00:00:00.000000Z"}}],
    "Event": [{"involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"}, "reason": "x", "type": "Normal"}],
    "PersistentVolumeClaim": [{"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}],
    "Widget": [{"spec": {"image": "a", "replicas": 1}, "status": {"replicas": 1}}],
    "CustomResourceDefinition": [{"spec": WIDGET_CRD["spec"], "metadata": {"name": "widgets.example.com"}}],
    "Role": [{"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}],
    "Ingress": [
        {
            "spec": {
                "rules": [
                    {
                        "host": "a.b",
                        "http": {
                            "paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]
                        },
                    }
                ]
            }
        }
    ],
    "HorizontalPodAutoscaler": [
        {"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "a", "apiVersion": "apps/v1"}}}
    ],
    "PodDisruptionBudget": [{"spec": {"minAvailable": "50%", "selector": _LABELS}}],
    "ResourceQuota": [{"spec": {"hard": {"pods": "1"}}}],
    "LimitRange": [{"spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}}],
    "ServiceAccount": [{"secrets": [{"name": "x"}]}],
    "Node": [{"spec": {"unschedulable": True}}],
}


def kinds_of(server: ApiServer) -> list[tuple[str, str, str, str, bool]]:
    """The kinds that a server serves, in its order."""
    return [(kind.group, kind.version, kind.plural, kind.kind, kind.namespaced) for kind in server.kinds]
