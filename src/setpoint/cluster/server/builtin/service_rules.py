"""What services must obey, given that they have their addresses and ports.

https://kubernetes.io/docs/concepts/services-networking/service/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.addresses import (
    address_problems,
    address_warnings,
    endpoint_problems,
    network_problems,
    network_warnings,
    parse_address,
)
from setpoint.cluster.server.builtin.behaviour import Object
from setpoint.cluster.server.builtin.label_selectors import label_problems
from setpoint.cluster.server.schema.causes import FieldError, duplicate, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_POLICIES = ("Cluster", "Local")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_IP_MODES = ("Proxy", "VIP")
_DAY = 86400
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_BALANCED_ONLY = "may only be used when `type` is 'LoadBalancer'"
_HINTS, _TOPOLOGY = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"


def headless(spec: Object) -> bool:
    """Whether a service has, by its own will, no address."""
    return (spec.get("clusterIPs") or [spec.get("clusterIP")]) == ["None"]


def needs_health_check(spec: Object) -> bool:
    """Whether a balancer must ask each node whether it has endpoints."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def family_problems(spec: Object, before: Object) -> Iterator[FieldError]:
    """What is wrong with a service's addresses and their families. The server judges this before it gives any."""
    if spec.get("type") == "ExternalName":
        return
    address, addresses, families = spec.get("clusterIP", ""), spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    if address and not addresses:
        yield required("spec.clusterIPs")
    elif address and addresses[0] != address:
        yield invalid("spec.clusterIPs", addresses, "first value must match `clusterIP`")
    elif addresses and not address:
        yield invalid("spec.clusterIPs", addresses, "must be empty when `clusterIP` is not specified")
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            yield not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[:index]:
            yield duplicate(f"spec.ipFamilies[{index}]", family)
    if (policy := spec.get("ipFamilyPolicy")) is not None and policy not in _FAMILY_POLICIES:
        yield not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES)
    problems = list(_addresses_problems(addresses, before.get("clusterIPs") or []))
    yield from problems
    if len(addresses) > 2:
        yield invalid("spec.clusterIPs", addresses, "may only hold up to 2 values")
    if problems:
        return
    parsed = [(text, parse_address(text)) for text in addresses if text != "None"]
    if len(addresses) > 1 and len({known.version: None for _, known in parsed if known is not None}) < 2:
        yield invalid("spec.clusterIPs", addresses, "may specify no more than one IP for each IP family")
    for index, ((text, known), family) in enumerate(zip(parsed, families, strict=False)):
        if known is not None and family in _FAMILIES and known.version != int(family[-1]):
            yield invalid(f"spec.clusterIPs[{index}]", text, f"expected an {family} value as indicated by `ipFamilies[{index}]`")


def _addresses_problems(addresses: list[str], known: list[str]) -> Iterator[FieldError]:
    for index, text in enumerate(addresses):
        if index == 0 and text == "None":
            if len(addresses) > 1:
                yield invalid("spec.clusterIPs", addresses, "'None' must be the first and only value")
        elif text not in known:
            yield from address_problems(f"spec.clusterIPs[{index}]", text)


def unconfigured(spec: Object) -> Iterator[FieldError]:
    """What a cluster with addresses of one family cannot give. What has no address and selects nothing may ask for anything."""
    if spec.get("type") == "ExternalName" or (headless(spec) and not spec.get("selector")):
        return
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        yield invalid("spec.ipFamilyPolicy", "RequireDualStack", "this cluster is not configured for dual-stack services")
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family == "IPv6":
            yield invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")


def rules(service: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a service beyond its families, or with its change."""
    spec, before = service.get("spec") or {}, (old or {}).get("spec") or {}
    annotations = (service.get("metadata") or {}).get("annotations") or {}
    if old is not None:
        yield from _changes(spec, before)
    if _HINTS in annotations and annotations.get(_TOPOLOGY, annotations[_HINTS]) != annotations[_HINTS]:
        why = f"must match annotations[{_HINTS}] when both are specified"
        yield invalid(f"metadata.annotations[{_TOPOLOGY}]", annotations[_TOPOLOGY], why)
    kind, ports = spec.get("type", ""), spec.get("ports") or []
    if not ports and not headless(spec) and kind != "ExternalName":
        yield required("spec.ports")
    if kind in ("LoadBalancer", "NodePort") and headless(spec):
        yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    elif kind == "ExternalName":
        yield from _external_name(spec)
    yield from _ports_problems(ports)
    yield from label_problems(spec.get("selector") or {}, "spec.selector")
    yield from _affinity_problems(spec)
    yield from family_problems(spec, before)
    for index, text in enumerate(spec.get("externalIPs") or ()):
        at = f"spec.externalIPs[{index}]"
        problems = [] if text in (before.get("externalIPs") or ()) else list(address_problems(at, text))
        yield from problems or endpoint_problems(at, text)
    if kind not in _TYPES:
        yield not_supported("spec.type", kind, _TYPES)
    yield from _numbers_problems(ports, kind)
    yield from _balancer_problems(spec, before)
    yield from _traffic_problems(spec)


def _changes(spec: Object, before: Object) -> Iterator[FieldError]:
    addresses, former = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    if "ExternalName" not in (spec.get("type"), before.get("type")) and not (headless(spec) and headless(before)):
        if former and addresses[:1] != former[:1]:
            yield invalid("spec.clusterIPs[0]", addresses, "may not change once set")
        families, those = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
        if headless(spec) == headless(before) and those and families[:1] != those[:1]:
            yield invalid("spec.ipFamilies[0]", families, "may not change once set")
    name = "loadBalancerClass"
    if spec.get("type") == before.get("type") == "LoadBalancer" and spec.get(name) != before.get(name):
        yield invalid(f"spec.{name}", spec.get(name), "may not change once set")
    number = "healthCheckNodePort"
    if needs_health_check(spec) and needs_health_check(before) and spec.get(number) != before.get(number):
        yield forbidden(f"spec.{number}", "field is immutable")


def _external_name(spec: Object) -> Iterator[FieldError]:
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name) or (name == "clusterIPs" and spec.get("clusterIP")):
            yield forbidden(f"spec.{name}", "may not be set for ExternalName services")
    text = spec.get("externalName", "").removesuffix(".")
    if not text:
        yield required("spec.externalName")
    else:
        yield from (invalid("spec.externalName", text, problem) for problem in names.dns_subdomain(text))


def _ports_problems(ports: list[Any]) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for index, port in enumerate(ports):
        at, name, number, protocol = f"spec.ports[{index}]", port.get("name", ""), port.get("port", 0), port.get("protocol", "")
        if name:
            yield from (invalid(f"{at}.name", name, problem) for problem in names.dns_label(name))
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen[name] = None
        elif len(ports) > 1:
            yield required(f"{at}.name")
        if not 1 <= number <= 65535:
            yield invalid(f"{at}.port", number, _PORT_RANGE)
        if protocol not in _PROTOCOLS:
            yield not_supported(f"{at}.protocol", protocol, _PROTOCOLS)
        target = port.get("targetPort", number)
        if isinstance(target, str):
            yield from (invalid(f"{at}.targetPort", target, problem) for problem in names.port_name(target))
        elif not 1 <= target <= 65535:
            yield invalid(f"{at}.targetPort", target, _PORT_RANGE)
        if (use := port.get("appProtocol")) is not None:
            yield from (invalid(f"{at}.appProtocol", use, problem) for problem in names.label_key(use))


def _numbers_problems(ports: list[Any], kind: str) -> Iterator[FieldError]:
    for index, port in enumerate(ports):
        if port.get("nodePort") and kind == "ClusterIP":
            yield forbidden(f"spec.ports[{index}].nodePort", "may not be used when `type` is 'ClusterIP'")
    seen: dict[tuple[Any, Any], None] = {}
    for index, port in enumerate(ports):
        pair = (port.get("protocol"), port.get("nodePort"))
        if pair[1] and pair in seen:
            yield duplicate(f"spec.ports[{index}].nodePort", pair[1])
        seen[pair] = None
    seen = {}
    for index, port in enumerate(ports):
        protocol, number = pair = (port.get("protocol"), port.get("port", 0))
        if pair in seen:
            # Here the server prints its own struct.
            rest = f'"Protocol":{as_json(protocol)},"AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0'
            yield FieldError("FieldValueDuplicate", f'Duplicate value: {{"Name":"",{rest}}}', f"spec.ports[{index}]")
        seen[pair] = None


def _affinity_problems(spec: Object) -> Iterator[FieldError]:
    affinity = spec.get("sessionAffinity", "")
    if affinity not in ("ClientIP", "None"):
        yield not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None"))
    elif affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _DAY:
            at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            yield invalid(at, seconds, f"must be greater than 0 and less than {_DAY}")


def _balancer_problems(spec: Object, before: Object) -> Iterator[FieldError]:
    balanced, ranges = spec.get("type") == "LoadBalancer", spec.get("loadBalancerSourceRanges") or ()
    at = "spec.LoadBalancerSourceRanges"  # as the server spells it
    if ranges and not balanced:
        yield forbidden(at, _BALANCED_ONLY)
    known = [text.strip() for text in before.get("loadBalancerSourceRanges") or ()]
    for index, text in enumerate(ranges):
        yield from network_problems(f"{at}[{index}]", text.strip(), known)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        yield forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED_ONLY)
    if (name := spec.get("loadBalancerClass")) is not None:
        if balanced:
            yield from (invalid("spec.loadBalancerClass", name, problem) for problem in names.label_key(name))
        else:
            yield forbidden("spec.loadBalancerClass", _BALANCED_ONLY)


def _traffic_problems(spec: Object) -> Iterator[FieldError]:
    kind, policy, number = spec.get("type"), spec.get("externalTrafficPolicy", ""), spec.get("healthCheckNodePort", 0)
    if kind not in ("LoadBalancer", "NodePort") and not (kind == "ClusterIP" and spec.get("externalIPs")):
        if policy:
            yield invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services")
    elif policy not in _POLICIES:
        yield not_supported("spec.externalTrafficPolicy", policy, _POLICIES)
    if number and not needs_health_check(spec):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid("spec.healthCheckNodePort", number, why)
    inside, spread = spec.get("internalTrafficPolicy"), spec.get("trafficDistribution")
    if inside is not None and inside not in _POLICIES:
        yield not_supported("spec.internalTrafficPolicy", inside, _POLICIES)
    if spread is not None and spread not in _DISTRIBUTIONS:
        yield not_supported("spec.trafficDistribution", spread, _DISTRIBUTIONS)


def status_problems(service: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a written status."""
    entries, at = _entries(service), "status.loadBalancer.ingress"
    if entries and service["spec"].get("type") != "LoadBalancer":
        yield forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    known = [entry.get("ip") for entry in _entries(old)]
    for index, entry in enumerate(entries):
        here, address, host, mode = f"{at}[{index}]", entry.get("ip"), entry.get("hostname"), entry.get("ipMode")
        if address and address not in known:
            yield from address_problems(f"{here}.ip", address)
        if mode is not None and not address:
            yield forbidden(f"{here}.ipMode", "may not be specified when `ip` is not set")
        elif mode is not None and mode not in _IP_MODES:
            yield not_supported(f"{here}.ipMode", mode, _IP_MODES)
        if host:
            yield from (invalid(f"{here}.hostname", host, problem) for problem in names.dns_subdomain(host))
            if parse_address(host) is not None:
                yield invalid(f"{here}.hostname", host, "must be a DNS name, not an IP address")


def _entries(service: Object) -> list[Mapping[str, Any]]:
    return ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


def service_warnings(service: Object, old: Object | None) -> Iterator[str]:
    """What to tell who writes a valid service."""
    spec = service["spec"]
    external, kind = spec.get("externalIPs") or (), spec.get("type")
    no_address = kind == "ClusterIP" and spec.get("clusterIP") == "None"
    if _HINTS in (service["metadata"].get("annotations") or {}):
        yield f"annotation {_HINTS} is deprecated, please use {_TOPOLOGY} instead"
    for index, text in enumerate(spec.get("clusterIPs") or ()):
        yield from address_warnings(f"spec.clusterIPs[{index}]", text)
    if no_address:
        ignored = (
            ("loadBalancerIP", bool(spec.get("loadBalancerIP"))),
            ("externalIPs", bool(external)),
            ("SessionAffinity", spec.get("sessionAffinity") != "None"),
        )
        yield from (f"spec.{name} is ignored for headless services" for name, stated in ignored if stated)
    for index, text in enumerate(external):
        yield from address_warnings(f"spec.externalIPs[{index}]", text)
    if external and not no_address and kind != "ExternalName":
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    yield from address_warnings("spec.loadBalancerIP", spec.get("loadBalancerIP", ""))
    for index, text in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        yield from network_warnings(f"spec.loadBalancerSourceRanges[{index}]", text)
    if kind == "ExternalName":
        if external:
            yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    elif spec.get("externalName"):
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
