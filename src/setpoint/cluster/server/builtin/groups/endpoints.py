"""Endpoints and EndpointSlices: where the pods behind a service are reached.

https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.addresses import (
    address_problems,
    address_warnings,
    canonical_address_problems,
    endpoint_problems,
    parse_address,
)
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, not_supported, required, too_many

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MANAGED_BY = ("endpointslice.kubernetes.io/managed-by", ("endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"))
_MANAGED = ("endpoints.kubernetes.io/managed-by", "endpoint-controller")
_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_PORTS, _MOST_HINTS = 1000, 100, 20000, 8


# --------------------------------------------------------------------------------------------------------- Endpoints


def _endpoints_defaults(endpoints: Json) -> None:
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            if not port.get("protocol"):
                port["protocol"] = "TCP"


def _validate_endpoints(endpoints: Object, old: Object | None) -> Iterator[FieldError]:
    if old is not None and endpoints.get("subsets") == old.get("subsets"):
        return
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        at, ports = f"subsets[{index}]", subset.get("ports") or ()
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(at, "must specify `addresses` or `notReadyAddresses`")
        for here, address in _addresses(subset, at):
            yield from _address_problems(address, here)
        for number, port in enumerate(ports):
            yield from _port_problems(port, f"{at}.ports[{number}]", named=len(ports) > 1)


def _addresses(subset: Object, at: str) -> Iterator[tuple[str, Object]]:
    for name in ("addresses", "notReadyAddresses"):
        for number, address in enumerate(subset.get(name) or ()):
            yield f"{at}.{name}[{number}]", address


def _address_problems(address: Object, at: str) -> Iterator[FieldError]:
    text, host, node = address.get("ip", ""), address.get("hostname"), address.get("nodeName")
    yield from address_problems(f"{at}.ip", text)
    if host:
        yield from _with(f"{at}.hostname", host, names.dns_label)
    if node is not None:
        yield from _with(f"{at}.nodeName", node, names.dns_subdomain)
    yield from endpoint_problems(f"{at}.ip", text)


def _port_problems(port: Object, at: str, *, named: bool) -> Iterator[FieldError]:
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    if name:
        yield from _with(f"{at}.name", name, names.dns_label)
    elif named:
        yield required(f"{at}.name")
    if not 1 <= number <= 65535:
        yield invalid(f"{at}.port", number, "must be between 1 and 65535, inclusive")
    yield from _protocol_and_use(port, protocol, at)


def _protocol_and_use(port: Object, protocol: str, at: str) -> Iterator[FieldError]:
    if protocol not in _PROTOCOLS:
        yield not_supported(f"{at}.protocol", protocol, _PROTOCOLS)
    if (use := port.get("appProtocol")) is not None:
        yield from (invalid(f"{at}.appProtocol", use, problem) for problem in names.label_key(use))


def _endpoints_warnings(endpoints: Object, old: Object | None) -> Iterator[str]:
    label, manager = _MANAGED
    if (endpoints["metadata"].get("labels") or {}).get(label) == manager:
        return
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        for at, address in _addresses(subset, f"subsets[{index}]"):
            yield from address_warnings(f"{at}.ip", address.get("ip", ""))


# ------------------------------------------------------------------------------------------------------ EndpointSlice


def _slice_defaults(slice_: Json) -> None:
    for name in ("endpoints", "ports"):
        slice_.setdefault(name, None)
    for port in slice_.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def _prepare_slice(slice_: Json) -> None:
    _drop_topology(slice_, None)


def _prepare_slice_update(slice_: Json, old: Object, subresource: str) -> None:
    _drop_topology(slice_, old)


def _drop_topology(slice_: Json, old: Object | None) -> None:
    """What v1 does not let anybody write."""
    endpoints = slice_.get("endpoints")
    if endpoints and (old is None or endpoints != old.get("endpoints")):
        slice_["endpoints"] = [{key: value for key, value in one.items() if key != "deprecatedTopology"} for one in endpoints]


def _slice_counts(new: Object, old: Object) -> bool:
    """Anything but the metadata counts, and of the metadata the labels."""
    if (new["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        return True
    return any(new.get(name) != old.get(name) for name in ("addressType", "endpoints", "ports"))


def _validate_slice(slice_: Object, old: Object | None) -> Iterator[FieldError]:
    kind, endpoints = slice_.get("addressType", ""), slice_.get("endpoints") or []
    yield from _slice_ports(slice_.get("ports") or ())
    if old is None or endpoints != (old.get("endpoints") or []):
        yield from _endpoints(endpoints, kind)
    # The server judges these by another mechanism, after all the others.
    if not kind:
        yield required("addressType")
    elif kind not in _ADDRESS_TYPES and (old is None or kind != old.get("addressType")):
        yield not_supported("addressType", kind, _ADDRESS_TYPES)
    if old is not None and kind != old.get("addressType"):
        yield invalid("addressType", None, "field is immutable")
    for index, endpoint in enumerate(endpoints):
        addresses = endpoint.get("addresses") or ()
        if not addresses:
            yield required(f"endpoints[{index}].addresses")
        elif len(addresses) > _MOST_ADDRESSES:
            yield too_many(f"endpoints[{index}].addresses", len(addresses), _MOST_ADDRESSES)


def _slice_ports(ports: Any) -> Iterator[FieldError]:
    if len(ports) > _MOST_PORTS:
        yield too_many("ports", len(ports), _MOST_PORTS)
        return
    seen: dict[str, None] = {}
    for index, port in enumerate(ports):
        at, name = f"ports[{index}]", port["name"]
        if name:
            yield from _with(f"{at}.name", name, names.dns_label)
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen[name] = None
        yield from _protocol_and_use(port, port["protocol"], at)


def _endpoints(endpoints: list[Any], kind: str) -> Iterator[FieldError]:
    if len(endpoints) > _MOST_ENDPOINTS:
        yield too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)
        return
    for index, endpoint in enumerate(endpoints):
        at = f"endpoints[{index}]"
        for number, address in enumerate(endpoint.get("addresses") or ()):
            yield from _slice_address(address, kind, f"{at}.addresses", number)
        if (node := endpoint.get("nodeName")) is not None:
            yield from _with(f"{at}.nodeName", node, names.dns_subdomain)
        if (host := endpoint.get("hostname")) is not None:
            yield from _with(f"{at}.hostname", host, names.dns_label)
        yield from _hints(endpoint.get("hints") or {}, f"{at}.hints")


def _slice_address(text: str, kind: str, at: str, number: int) -> Iterator[FieldError]:
    here = f"{at}[{number}]"
    if kind == "FQDN":
        yield from _domain_problems(text, here)
    elif kind in _ADDRESS_TYPES:
        problems = list((address_problems if kind == "IPv4" else canonical_address_problems)(here, text))
        yield from problems
        address = parse_address(text)
        if not problems and address is not None:
            if address.version != int(kind[-1]):
                yield invalid(at, text, f"must be an {kind} address")
            yield from endpoint_problems(here, text)


def _domain_problems(text: str, at: str) -> Iterator[FieldError]:
    name = text.removesuffix(".")
    if not text:
        yield required(at)
    elif problems := names.dns_subdomain(name):
        yield invalid(at, name, ",".join(problems))
    elif "." not in name:
        yield invalid(at, name, "should be a domain with at least two segments separated by dots")
    else:
        for label in name.split("."):
            if problems := names.dns_label(label):
                yield invalid(at, label, ",".join(problems))
                return


def _hints(hints: Object, at: str) -> Iterator[FieldError]:
    for name, rule in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        wanted, seen = hints.get(name) or (), dict[str, None]()
        if len(wanted) > _MOST_HINTS:
            yield too_many(f"{at}.{name}", len(wanted), _MOST_HINTS)
            return
        for index, hint in enumerate(wanted):
            here, text = f"{at}.{name}[{index}].name", hint.get("name", "")
            if text in seen:
                yield duplicate(here, text)
            seen[text] = None
            yield from _with(here, text, rule)


def _slice_warnings(slice_: Object, old: Object | None) -> Iterator[str]:
    label, managers = _MANAGED_BY
    kind = slice_.get("addressType")
    if old is None and kind == "FQDN":
        yield "spec.addressType: FQDN endpoints are deprecated"
    if (slice_["metadata"].get("labels") or {}).get(label) in managers:
        return
    for index, endpoint in enumerate(slice_.get("endpoints") or ()):
        for number, address in enumerate(endpoint.get("addresses") or ()):
            yield from address_warnings(f"endpoints[{index}].addresses[{number}]", address)


def _with(field: str, value: str, rule: Callable[[str], Iterable[str]]) -> Iterator[FieldError]:
    yield from (invalid(field, value, problem) for problem in rule(value))


BEHAVIOURS = {
    "Endpoints": Behaviour(
        support="full",
        defaults=_endpoints_defaults,
        validate=_validate_endpoints,
        warns=_endpoints_warnings,
        deprecation="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
        create_on_update=True,
    ),
    "EndpointSlice": Behaviour(
        support="full",
        defaults=_slice_defaults,
        prepare_create=_prepare_slice,
        prepare_update=_prepare_slice_update,
        validate=_validate_slice,
        warns=_slice_warnings,
        generation=True,
        counts=_slice_counts,
    ),
}
