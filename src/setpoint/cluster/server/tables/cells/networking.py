"""Services, the addresses behind them, and what leads to them or keeps away from them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, UNSET, Cells, at_most, labels, name_of, part, selector
from setpoint.cluster.server.tables.tables import Object, age

_SHOWN = 3
"""How many hosts, addresses or ports are shown."""


def _service(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    addresses = spec.get("clusterIPs") or [NONE]
    ports = ",".join(_port(port) for port in spec.get("ports") or ()) or NONE
    outside = _external_address(obj, spec)
    return [name_of(obj), spec.get("type") or "", addresses[0], outside, ports, age(obj, now), labels(spec.get("selector"))]


def _port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{node_port}/{port.get('protocol') or 'TCP'}"


def _external_address(obj: Object, spec: Mapping[str, Any]) -> str:
    external: list[str] = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or NONE
        case "LoadBalancer":
            return ",".join([*_balanced(obj), *external]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName") or "")
    return "<unknown>"


def _balanced(obj: Object) -> list[str]:
    """The addresses of the load balancer."""
    entries = part(obj, "status", "loadBalancer", "ingress") or ()
    return sorted(dict.fromkeys(address for entry in entries if (address := entry.get("ip") or entry.get("hostname"))))


def _endpoints(obj: Object, now: datetime) -> list[Any]:
    subsets = obj.get("subsets") or ()
    found: list[str] = []
    for subset in subsets:
        addresses = [entry["ip"] for entry in subset.get("addresses") or ()]
        ports = subset.get("ports")
        found += [_with_port(address, port["port"]) for port in ports for address in addresses] if ports else addresses
    return [name_of(obj), at_most(found, _SHOWN) if subsets else NONE, age(obj, now)]


def _with_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _endpoint_slice(obj: Object, now: datetime) -> list[Any]:
    ports = [str(port["port"]) for port in obj.get("ports") or () if port.get("port") is not None]
    addresses = [address for endpoint in obj.get("endpoints") or () for address in endpoint.get("addresses") or ()]
    kind = obj.get("addressType") or ""
    return [name_of(obj), kind, at_most(ports, _SHOWN) or UNSET, at_most(addresses, _SHOWN) or UNSET, age(obj, now)]


def _ingress(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    hosts = [host for rule in spec.get("rules") or () if (host := rule.get("host"))]
    return [
        name_of(obj),
        NONE if spec.get("ingressClassName") is None else spec["ingressClassName"],
        at_most(hosts, _SHOWN) or "*",
        ",".join(_balanced(obj)),
        "80, 443" if spec.get("tls") else "80",
        age(obj, now),
    ]


def _ingress_class(obj: Object, now: datetime) -> list[Any]:
    parameters = part(obj, "spec", "parameters")
    shown = NONE
    if parameters is not None:
        group = parameters.get("apiGroup")
        shown = f"{parameters['kind']}{'.' if group else ''}{group or ''}/{parameters['name']}"
    return [name_of(obj), part(obj, "spec", "controller") or "", shown, age(obj, now)]


def _network_policy(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), selector(part(obj, "spec", "podSelector")), age(obj, now)]


def _service_cidr(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), ",".join(part(obj, "spec", "cidrs") or ()), age(obj, now)]


def _ip_address(obj: Object, now: datetime) -> list[Any]:
    parent = part(obj, "spec", "parentRef") or {}
    resource = ".".join(filter(None, (parent.get("resource"), parent.get("group"))))
    told = "/".join(filter(None, (resource, parent.get("namespace"), parent.get("name"))))
    return [name_of(obj), told, age(obj, now)]  # the real server, too, has no heading for the age


CELLS: dict[tuple[str, str], Cells] = {
    ("", "services"): _service,
    ("", "endpoints"): _endpoints,
    ("discovery.k8s.io", "endpointslices"): _endpoint_slice,
    ("networking.k8s.io", "ingresses"): _ingress,
    ("networking.k8s.io", "ingressclasses"): _ingress_class,
    ("networking.k8s.io", "networkpolicies"): _network_policy,
    ("networking.k8s.io", "servicecidrs"): _service_cidr,
    ("networking.k8s.io", "ipaddresses"): _ip_address,
}
