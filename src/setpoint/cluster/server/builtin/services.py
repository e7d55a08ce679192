"""Services: what they must obey, and the addresses and ports that the cluster gives them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_address, ip_network
from itertools import chain
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

from .pods import port_name_problem

Json = dict[str, Any]

ADDRESSES = ip_network("10.0.0.0/16")
"""The range of cluster addresses, as wide as clusters usually have it; its first is that of the service ``kubernetes``."""

NODE_PORTS = range(30000, 32768)

_FIRST = 257
"""The number of the first address that is given; those below are for services that ask for one, as long as there are others.

https://kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation/
"""
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PORT_RANGE = "must be between 1 and 65535, inclusive"


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
    if not spec.get("clusterIP") and spec.get("clusterIPs"):
        spec["clusterIP"] = spec["clusterIPs"][0]
    if not spec.get("clusterIP"):
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


def keep_allocated(new: Json, old: Json) -> None:
    """On update: takes over what was allocated and not stated, and drops what the new type has no use for. Replaces ``spec``."""
    spec: Json = {**(new.get("spec") or {})}
    before = old.get("spec") or {}
    new["spec"] = spec
    kind, former = spec.get("type"), before.get("type")
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
    """What is wrong with a service that has its defaults and addresses, or with its change. ``taken`` as for `allocate`."""
    problems = list(_rules(new, old))
    # The server allocates only for what obeys the rules.
    yield from problems or _refused_allocations(new.get("spec") or {}, (old or {}).get("spec") or {}, taken)


def _rules(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[FieldError]:
    spec = new.get("spec") or {}
    if old is not None:
        before = old.get("spec") or {}
        if "ExternalName" not in (spec.get("type"), before.get("type")):
            addresses, former = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
            if former and addresses[:1] != former[:1]:
                yield invalid("spec.clusterIPs[0]", addresses, "may not change once set")
    kind, ports, headless = spec.get("type"), spec.get("ports") or [], spec.get("clusterIP") == "None"
    if not ports and not headless and kind != "ExternalName":
        yield required("spec.ports")
    addresses = spec.get("clusterIPs") or ([spec["clusterIP"]] if spec.get("clusterIP") else [])
    if kind == "LoadBalancer" and headless:
        yield invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services")
    elif kind == "NodePort" and headless:
        yield invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for NodePort services")
    elif kind == "ExternalName":
        if addresses:
            yield forbidden("spec.clusterIPs", "may not be set for ExternalName services")
        name = spec.get("externalName", "").removesuffix(".")
        if not name:
            yield required("spec.externalName")
        else:
            yield from (invalid("spec.externalName", name, problem) for problem in names.dns_subdomain(name))
    yield from _ports(ports, kind)
    for key, value in (spec.get("selector") or {}).items():
        yield from (invalid("spec.selector", key, problem) for problem in names.label_key(key))
        yield from (invalid("spec.selector", value, problem) for problem in names.label_value(value))
    affinity = spec.get("sessionAffinity")
    if affinity not in ("ClientIP", "None"):
        yield required("spec.sessionAffinity") if not affinity else not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None"))
    if kind not in _TYPES:
        yield not_supported("spec.type", kind, _TYPES)
    elif kind != "ExternalName":
        yield from _addresses(addresses)


def _addresses(addresses: list[str]) -> Iterator[FieldError]:
    if not addresses:
        yield FieldError("InternalError", "Internal error: failed to allocate a serviceIP: range is full", "spec.clusterIPs")
        return
    for index, text in enumerate(addresses):
        if text == "None":
            continue
        try:
            ip_address(text)
        except ValueError:
            yield invalid(f"spec.clusterIPs[{index}]", text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")


def _refused_allocations(spec: Json, before: Json, taken: Collection[str | int]) -> Iterator[FieldError]:
    addresses = spec.get("clusterIPs") or []
    for text in addresses:
        if text == "None" or text in (before.get("clusterIPs") or []):
            continue
        problem = "the provided network does not match the current range" if ip_address(text) not in ADDRESSES else ""
        if text in taken:
            problem = "provided IP is already allocated"
        if problem:
            yield invalid("spec.clusterIPs", addresses, f"failed to allocate IP {text}: {problem}")
    former = [port.get("nodePort") for port in before.get("ports") or []]
    for index, port in enumerate(spec.get("ports") or []):
        number = port.get("nodePort")
        if not number or number in former:
            continue
        at = f"spec.ports[{index}].nodePort"
        if number not in NODE_PORTS:
            valid = f"{NODE_PORTS.start}-{NODE_PORTS.stop - 1}"
            yield invalid(at, number, f"provided port is not in the valid range. The range of valid ports is {valid}")
        elif number in taken:
            yield invalid(at, number, "provided port is already allocated")


def _ports(ports: list[Json], kind: str | None) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    pairs: dict[tuple[Any, Any], None] = {}
    doubles = []
    for index, port in enumerate(ports):
        at = f"spec.ports[{index}]"
        name = port.get("name", "")
        number: int = port.get("port", 0)
        target: int | str = port.get("targetPort", number)
        if not name:
            if len(ports) > 1:
                yield required(f"{at}.name")
        elif problems := names.dns_label(name):
            yield from (invalid(f"{at}.name", name, problem) for problem in problems)
        elif name in seen:
            yield duplicate(f"{at}.name", name)
        seen[name] = None
        if not 1 <= number <= 65535:
            yield invalid(f"{at}.port", number, _PORT_RANGE)
        protocol = port.get("protocol")
        if not protocol:
            yield required(f"{at}.protocol")
        elif protocol not in ("SCTP", "TCP", "UDP"):
            yield not_supported(f"{at}.protocol", protocol, ("SCTP", "TCP", "UDP"))
        if isinstance(target, str):
            if problem := port_name_problem(target):
                yield invalid(f"{at}.targetPort", target, problem)
        elif not 1 <= target <= 65535:
            yield invalid(f"{at}.targetPort", target, _PORT_RANGE)
        if port.get("nodePort") and kind == "ClusterIP":
            yield forbidden(f"{at}.nodePort", "may not be used when `type` is 'ClusterIP'")
        if (protocol, number) in pairs:
            doubles.append((at, protocol, number))
        pairs[protocol, number] = None
    for at, protocol, number in doubles:
        # Here the server prints its own struct.
        rest = f'"Protocol":{as_json(protocol)},"AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0'
        yield FieldError("FieldValueDuplicate", f'Duplicate value: {{"Name":"",{rest}}}', at)
