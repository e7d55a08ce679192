"""Services. Their addresses and ports are given and kept by `builtins.ServiceStrategy`, which knows those of all other services.

https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json
from setpoint.cluster.server.builtin.defaults import dicts_in
from setpoint.cluster.server.builtin.service_rules import service_warnings, status_problems
from setpoint.cluster.server.builtin.services import validate_service


def _defaults(obj: Json) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict):
        return
    kind = spec.setdefault("type", "ClusterIP")
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        config = spec.get("sessionAffinityConfig")
        client = config.get("clientIP") if isinstance(config, dict) else None
        if not isinstance(client, dict) or client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    for port in dicts_in(spec.get("ports")):
        port.setdefault("protocol", "TCP")
        if "port" in port and port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if (kind in ("NodePort", "LoadBalancer")) or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        status = obj.get("status")
        balancer = status.get("loadBalancer") if isinstance(status, dict) else None
        for entry in dicts_in(balancer.get("ingress") if isinstance(balancer, dict) else None):
            if entry.get("ip"):
                entry.setdefault("ipMode", "VIP")


BEHAVIOURS: Mapping[str, Behaviour] = {
    "Service": Behaviour(
        support="full",
        defaults=_defaults,
        validate=validate_service,
        validate_status=status_problems,
        warns=service_warnings,
        create_on_update=True,
        returns_deleted=True,
        name_rule=names.dns_label,
        selectable=("spec.clusterIP", "spec.type"),
    )
}
