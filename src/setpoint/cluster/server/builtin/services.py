"""Services: what they must obey, and the addresses and ports that the cluster gives them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from ipaddress import ip_address, ip_network
from itertools import chain
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, invalid

from .service_rules import family_problems, rules, unconfigured

Json = dict[str, Any]

ADDRESSES = ip_network("10.0.0.0/16")
"""The range of cluster addresses, as wide as clusters usually have it; its first is that of the service ``kubernetes``."""

NODE_PORTS = range(30000, 32768)

_FIRST = 257
"""The number of the first address that is given; those below are for services that ask for one, as long as there are others.

https://kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation/
"""


def allocate(obj: Json, taken: Collection[str | int] = ()) -> None:
    """Gives a service that has its defaults what it needs and does not have: cluster address, node ports, address families.

    ``taken`` are the cluster addresses (text) and node ports (numbers) of all other services. The first free ones are given, so that the
    same requests give the same addresses. When all are taken, none is given, and validation says so. Replaces ``spec``.
    """
    spec: Json = {**(obj.get("spec") or {})}
    kind = spec.get("type", "ClusterIP")
    obj["spec"] = spec
    if kind == "ExternalName":
        return
    if not spec.get("clusterIP") and not spec.get("clusterIPs"):
        numbers, known = chain(range(_FIRST, ADDRESSES.num_addresses - 1), range(2, _FIRST)), dict.fromkeys(taken)
        if address := next((text for number in numbers if (text := _address(number)) not in known), None):
            spec["clusterIP"] = address
    if spec.get("clusterIP"):
        spec.setdefault("clusterIPs", [spec["clusterIP"]])
    headless_anywhere = spec.get("clusterIP") == "None" and not spec.get("selector")
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if headless_anywhere else ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if headless_anywhere else "SingleStack")
    if kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)):
        _give_node_ports(spec, taken)
    if _is_checked(spec) and not spec.get("healthCheckNodePort"):
        given = dict.fromkeys([*taken, *(port.get("nodePort") for port in spec.get("ports") or ())])
        if number := next((number for number in NODE_PORTS if number not in given), None):
            spec["healthCheckNodePort"] = number


def _address(number: int) -> str:
    # Written out, since ipaddress takes ten times as long and there may be many to try.
    return f"10.0.{number >> 8}.{number & 255}"


def _give_node_ports(spec: Json, taken: Collection[str | int]) -> None:
    given = {port["nodePort"]: None for port in spec.get("ports") or [] if port.get("nodePort")}
    ports = []
    for port in spec.get("ports") or []:
        if not port.get("nodePort"):
            number = next((number for number in NODE_PORTS if number not in taken and number not in given), None)
            if number is not None:
                given[number] = None
                port = {**port, "nodePort": number}
        ports.append(port)
    if ports:
        spec["ports"] = ports


def _is_balanced(spec: Json) -> bool:
    return bool(spec.get("type") == "LoadBalancer")


def _is_checked(spec: Json) -> bool:
    return _is_balanced(spec) and bool(spec.get("externalTrafficPolicy") == "Local")


def _is_reached_from_outside(spec: Json) -> bool:
    return spec.get("type") in ("LoadBalancer", "NodePort") or bool(spec.get("type") == "ClusterIP" and spec.get("externalIPs"))


_OF_A_TYPE: dict[str, Callable[[Json], bool]] = {
    "externalTrafficPolicy": _is_reached_from_outside,
    "healthCheckNodePort": _is_checked,
    "allocateLoadBalancerNodePorts": _is_balanced,
    "loadBalancerClass": _is_balanced,
}
"""Fields that only some services have: a change of the service that does not mention them takes them along."""


def keep_allocated(new: Json, old: Json) -> None:
    """On update: takes over what was allocated and not stated, and drops what the new type has no use for. Replaces ``spec``."""
    spec: Json = {**(new.get("spec") or {})}
    before = old.get("spec") or {}
    new["spec"] = spec
    kind, former = spec.get("type"), before.get("type")
    for name, wanted in _OF_A_TYPE.items():
        if wanted(before) and not wanted(spec) and spec.get(name) == before.get(name):
            spec.pop(name, None)
    if kind == "ExternalName":
        if former != "ExternalName":
            # What the old type was given goes, unless it is stated anew.
            for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"):
                if spec.get(name) == before.get(name):
                    spec.pop(name, None)
        return
    if former != "ExternalName":
        for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if not spec.get(name) and before.get(name):
                spec[name] = before[name]
        if spec.get("clusterIP") != before.get("clusterIP") and spec.get("clusterIPs") == before.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
    with_ports = ("NodePort", "LoadBalancer")
    if kind in with_ports and former in with_ports:
        _keep_node_ports(spec, before)
    elif kind not in with_ports and former in with_ports:
        numbers = {port.get("nodePort") for port in before.get("ports") or []}
        spec["ports"] = [
            {key: value for key, value in port.items() if key != "nodePort" or value not in numbers} for port in spec.get("ports") or []
        ]
        if not spec["ports"]:
            del spec["ports"]


def _keep_node_ports(spec: Json, before: Json) -> None:
    numbers = {(port.get("protocol"), port.get("port")): port.get("nodePort") for port in before.get("ports") or []}
    stated = [port["nodePort"] for port in spec.get("ports") or [] if port.get("nodePort")]
    ports = []
    for port in spec.get("ports") or []:
        number = numbers.get((port.get("protocol"), port.get("port")))
        ports.append({**port, "nodePort": number} if number and not port.get("nodePort") and number not in stated else port)
    if ports:
        spec["ports"] = ports


def validate_service(new: Mapping[str, Any], old: Mapping[str, Any] | None, taken: Collection[str | int] = ()) -> Iterator[FieldError]:
    """What is wrong with a service that has its defaults and addresses, or with its change. ``taken`` as for `allocate`.

    The server goes on to the next sort of rules only where it finds nothing: families, then what is to be given, then all the others;
    for a change all the others come first.
    """
    spec, before = new.get("spec") or {}, (old or {}).get("spec") or {}
    sorts: list[Callable[[], Iterable[FieldError]]] = [
        lambda: family_problems(spec, before),
        lambda: unconfigured(spec),
        lambda: _refused_allocations(spec, before, taken),
        lambda: rules(new, old),
    ]
    if old is not None:
        sorts = [*sorts[3:], *sorts[:3]]
    yield from next((problems for sort in sorts if (problems := list(sort()))), ())


def _refused_allocations(spec: Json, before: Json, taken: Collection[str | int]) -> Iterator[FieldError]:
    addresses = spec.get("clusterIPs") or []
    if spec.get("type") == "ExternalName" or "ipFamilies" not in spec:
        return  # it gets none, or is made by a write of its status
    if not addresses:
        yield FieldError("InternalError", "Internal error: failed to allocate a serviceIP: range is full", "spec.clusterIPs")
    for text in addresses:
        if text == "None" or text in (before.get("clusterIPs") or []):
            continue
        problem = "the provided network does not match the current range" if ip_address(text) not in ADDRESSES else ""
        if text in taken:
            problem = "provided IP is already allocated"
        if problem:
            yield invalid("spec.clusterIPs", addresses, f"failed to allocate IP {text}: {problem}")
    former = [port.get("nodePort") for port in before.get("ports") or []]
    given: dict[int, int] = {}
    for index, port in enumerate(spec.get("ports") or []):
        number = port.get("nodePort")
        if not number or number in former or given.get(port.get("port", 0)) == number:
            continue
        at = f"spec.ports[{index}].nodePort"
        if number not in NODE_PORTS:
            valid = f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
            yield invalid(at, number, f"provided port is not in the valid range. The range of valid ports is {valid}")
        elif number in taken or number in given.values():
            yield invalid(at, number, "provided port is already allocated")
        given[port.get("port", 0)] = number
