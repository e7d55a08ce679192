"""IPAddresses and ServiceCIDRs. They are kept and judged; services get their addresses without them.

https://kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.addresses import canonical_address_problems, network_problems, parse_network
from setpoint.cluster.server.builtin.behaviour import Behaviour, Object
from setpoint.cluster.server.builtin.go_print import refused, struct
from setpoint.cluster.server.schema.causes import FieldError, invalid, required
from setpoint.cluster.server.schema.gotext import as_json, quote

_IMMUTABLE = "field is immutable"


def _address_name(name: str, prefix: bool = False) -> list[str]:
    shown = f"Invalid value: {quote(name)}: "
    return [problem.message.removeprefix(shown) for problem in canonical_address_problems("", name)]


def _validate_address(address: Object, old: Object | None) -> Iterator[FieldError]:
    at, parent = "spec.parentRef", (address.get("spec") or {}).get("parentRef")
    if parent is None:
        yield required(at)
    else:
        if group := parent.get("group"):
            yield from (invalid(f"{at}.group", group, problem) for problem in names.dns_subdomain(group))
        for name in ("resource", "name", "namespace"):
            value = parent.get(name, "")
            yield from (invalid(f"{at}.{name}", value, problem) for problem in names.path_segment(value))
        yield from (required(f"{at}.{name}") for name in ("resource", "name") if not parent.get(name))
    if old is not None and parent != (old.get("spec") or {}).get("parentRef"):
        yield invalid(at, None, _IMMUTABLE)


def _validate_range(range_: Object, old: Object | None) -> Iterator[FieldError]:
    blocks: list[str] = (range_.get("spec") or {}).get("cidrs") or []
    before: list[str] = ((old or {}).get("spec") or {}).get("cidrs") or []
    if old is None:
        yield from _blocks_problems(blocks)
    elif len(before) == len(blocks):
        for index, (block, former) in enumerate(zip(blocks, before, strict=True)):
            if block != former:
                yield invalid(f"spec.cidrs[{index}]", block, _IMMUTABLE)
    elif len(before) == 1 and len(blocks) == 2:
        # A second family may be added.
        if blocks[0] != before[0]:
            yield invalid("spec.cidrs[0]", blocks[0], _IMMUTABLE)
        yield from _blocks_problems(blocks)
    else:
        yield invalid("spec.cidrs", blocks or None, _IMMUTABLE)


def _blocks_problems(blocks: list[str]) -> Iterator[FieldError]:
    if not blocks:
        yield required("spec.cidrs", "at least one CIDR required")
        return
    if len(blocks) > 2:
        yield refused("spec.cidrs", struct([("CIDRs", as_json(blocks))]), "may only hold up to 2 values")
        return
    for index, text in enumerate(blocks):
        problems, network = list(network_problems(f"spec.cidrs[{index}]", text)), parse_network(text)
        yield from problems
        if not problems and str(network) != text:
            yield invalid(f"spec.cidrs[{index}]", text, f'must be in canonical form ("{network}")')
    families = [network.version for network in map(parse_network, blocks) if network is not None]
    if len(families) == 2 and families[0] == families[1]:
        why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        yield invalid("spec.cidrs", blocks, why)


def _nothing_wrong(new: Object, old: Object) -> Iterator[FieldError]:
    yield from ()


BEHAVIOURS = {
    "IPAddress": Behaviour(support="full", validate=_validate_address, name_rule=_address_name),
    "ServiceCIDR": Behaviour(support="common", validate=_validate_range, validate_status=_nothing_wrong, status_keeps=None),
}
