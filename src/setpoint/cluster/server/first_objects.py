"""The objects that are there from the start, since a real server makes them itself and clients rely on them.

What a real server makes besides is left out: the roles of RBAC, which is not enforced, the levels of priority and fairness of its own
requests, and the lease and the endpoints by which several servers know of each other.
"""

from __future__ import annotations

from typing import Any

from setpoint.api import GroupVersionResource

Json = dict[str, Any]

NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_PRIORITIES = (
    (
        "system-cluster-critical",
        2000000000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    ("system-node-critical", 2000001000, "Used for system critical pods that must not be moved from their current node."),
)
_PORT = 6443
"""Where API servers usually are; nothing answers at the service's address."""


def first_objects() -> list[tuple[GroupVersionResource, Json]]:
    """Each with its resource, in the order in which they are made. The caller's own."""
    namespaces = GroupVersionResource("", "v1", "namespaces")
    classes = GroupVersionResource("scheduling.k8s.io", "v1", "priorityclasses")
    made: list[tuple[GroupVersionResource, Json]] = [
        (namespaces, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}) for name in NAMESPACES
    ]
    made += [
        (
            classes,
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "description": description,
            },
        )
        for name, value, description in _PRIORITIES
    ]
    labels = {"component": "apiserver", "provider": "kubernetes"}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": labels},
        "spec": {"clusterIP": "10.0.0.1", "ports": [{"name": "https", "port": 443, "targetPort": _PORT}]},
    }
    made.append((GroupVersionResource("", "v1", "services"), service))
    return made
