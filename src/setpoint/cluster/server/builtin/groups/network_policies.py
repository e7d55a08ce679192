"""NetworkPolicies. They are kept and judged; there is no network to police.

https://kubernetes.io/docs/concepts/services-networking/network-policies/
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.addresses import inside, network_problems, network_warnings, parse_network
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.label_selectors import selector_problems
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required

_DIRECTIONS = (("ingress", "from"), ("egress", "to"))
_TYPES = ("Ingress", "Egress")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_PORT_RANGE = "must be between 1 and 65535, inclusive"


def _defaults(policy: Json) -> None:
    spec = policy.setdefault("spec", {})
    for direction, _ in _DIRECTIONS:
        for rule in spec.get(direction) or ():
            for port in rule.get("ports") or ():
                port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _validate(policy: Object, old: Object | None) -> Iterator[FieldError]:
    spec, before = policy["spec"], (old or {}).get("spec") or {}
    any_values = next(selector_problems(before.get("podSelector") or {}, ""), None) is not None
    known = [text for at, block in _blocks(before) for _, text in _texts(at, block)]
    yield from selector_problems(spec.get("podSelector") or {}, "spec.podSelector", any_values=any_values)
    for direction, side in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            at = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                yield from _port_problems(port, f"{at}.ports[{number}]")
            for number, peer in enumerate(rule.get(side) or ()):
                yield from _peer_problems(peer, f"{at}.{side}[{number}]", known, any_values=any_values)
    types = spec.get("policyTypes") or []
    if len(types) > len(_TYPES):
        yield invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
    else:
        for index, name in enumerate(types):
            if name not in _TYPES:
                yield not_supported(f"spec.policyTypes[{index}]", name, _TYPES)
    # The server judges this by another mechanism, after all the others.
    for at, block in _blocks(spec):
        if not block.get("cidr"):
            yield required(f"{at}.cidr")


def _port_problems(port: Object, at: str) -> Iterator[FieldError]:
    number, last, protocol = port.get("port"), port.get("endPort"), port.get("protocol")
    if protocol is not None and protocol not in _PROTOCOLS:
        yield not_supported(f"{at}.protocol", protocol, _PROTOCOLS)
    if isinstance(number, int):
        if not 1 <= number <= 65535:
            yield invalid(f"{at}.port", number, _PORT_RANGE)
        if last is not None:
            if last < number:
                yield invalid(f"{at}.endPort", last, "must be greater than or equal to `port`")
            if not 1 <= last <= 65535:
                yield invalid(f"{at}.endPort", last, _PORT_RANGE)
        return
    if last is not None:
        why = "`port` is not specified" if number is None else "`port` is non-numeric"
        yield invalid(f"{at}.endPort", last, f"may not be specified when {why}")
    if number is not None:
        yield from (invalid(f"{at}.port", number, problem) for problem in names.port_name(number))


def _peer_problems(peer: Object, at: str, known: Collection[str], *, any_values: bool) -> Iterator[FieldError]:
    stated = [name for name in ("podSelector", "namespaceSelector", "ipBlock") if name in peer]
    for name in stated:
        if name == "ipBlock":
            yield from _block_problems(peer[name], f"{at}.ipBlock", known)
        else:
            yield from selector_problems(peer[name], f"{at}.{name}", any_values=any_values)
    if not stated:
        yield required(at, "must specify a peer")
    elif len(stated) > 1 and "ipBlock" in peer:
        yield forbidden(at, "may not specify both ipBlock and another peer")


def _block_problems(block: Object, at: str, known: Collection[str]) -> Iterator[FieldError]:
    text = block.get("cidr", "")
    if not text:
        return
    yield from network_problems(f"{at}.cidr", text, known)
    network = parse_network(text)
    if network is None:
        return
    for index, excepted in enumerate(block.get("except") or ()):
        here = f"{at}.except[{index}]"
        yield from network_problems(here, excepted, known)
        inner = parse_network(excepted)
        if inner is not None and not inside(network, inner):
            yield invalid(here, excepted, "must be a strict subset of `cidr`")


def _blocks(spec: Object) -> Iterator[tuple[str, Object]]:
    for direction, side in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            for number, peer in enumerate(rule.get(side) or ()):
                if "ipBlock" in peer:
                    yield f"spec.{direction}[{index}].{side}[{number}].ipBlock", peer["ipBlock"]


def _texts(at: str, block: Object) -> Iterator[tuple[str, str]]:
    yield f"{at}.cidr", block.get("cidr", "")
    yield from ((f"{at}.except[{index}]", text) for index, text in enumerate(block.get("except") or ()))


def _warnings(policy: Object, old: Object | None) -> Iterator[str]:
    for at, block in _blocks(policy["spec"]):
        for field, text in _texts(at, block):
            yield from network_warnings(field, text)


BEHAVIOURS = {
    "NetworkPolicy": Behaviour(support="full", defaults=_defaults, validate=_validate, warns=_warnings, generation=True),
}
