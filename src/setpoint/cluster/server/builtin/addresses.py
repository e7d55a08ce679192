"""IP addresses and blocks of them, as kube-apiserver judges them in fields older than its strict rules.

What Go's lenient parser reads and its strict one does not (zeros in front, an IPv4 address inside an IPv6 one) is refused with a text
of its own; what is not in the canonical form of RFC 5952 is taken with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TypeAlias

from setpoint.cluster.server.schema.causes import FieldError, invalid
from setpoint.cluster.server.schema.gotext import quote

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_FOUR = re.compile(r"\d+\.\d+\.\d+\.\d+", re.ASCII)
_LENGTH = re.compile(r"\d+", re.ASCII)


def parse_address(text: str) -> Address | None:
    """The address as Go's lenient parser reads it, None if it does not."""
    if _FOUR.fullmatch(text):
        parts = [int(part) for part in text.split(".")]
        return IPv4Address(bytes(parts)) if max(parts) <= 255 else None
    try:
        return IPv6Address(text) if "%" not in text else None
    except ValueError:
        return None


def parse_network(text: str) -> Network | None:
    """The block as Go's lenient parser reads it, bits beyond the prefix dropped; None if it does not."""
    before, slash, length = text.partition("/")
    address = parse_address(before)
    if address is None or not slash or not _LENGTH.fullmatch(length) or int(length) > address.max_prefixlen:
        return None
    kind = IPv4Network if isinstance(address, IPv4Address) else IPv6Network
    return kind((int(address), int(length)), strict=False)


def address_problems(field: str, text: str) -> Iterator[FieldError]:
    """What is wrong with an address in a field that takes any form of it."""
    address = parse_address(text)
    if address is None:
        yield invalid(field, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
    elif _padded(text, address):
        yield invalid(field, text, "must not have leading 0s")
    elif _mapped(address):
        yield invalid(field, text, "must not be an IPv4-mapped IPv6 address")


def canonical_address_problems(field: str, text: str) -> Iterator[FieldError]:
    """What is wrong with an address in a field that takes its canonical form alone."""
    problems = list(address_problems(field, text))
    yield from problems
    if not problems and str(parse_address(text)) != text:
        yield invalid(field, text, f"must be in canonical form ({quote(str(parse_address(text)))})")


def endpoint_problems(field: str, text: str) -> Iterator[FieldError]:
    """Why nothing can be reached at an address from anywhere in a cluster."""
    address = parse_address(text)
    if address is None:
        yield invalid(field, text, "must be a valid IP address")
        return
    if _mapped(address):
        return
    if address.is_unspecified:
        yield invalid(field, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        yield invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        yield invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if _local_multicast(address):
        yield invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")


def network_problems(field: str, text: str, known: Collection[str] = ()) -> Iterator[FieldError]:
    """What is wrong with a block of addresses; those `known` from before are let pass."""
    if text in known:
        return
    network, (before, _, length) = parse_network(text), text.partition("/")
    if network is None:
        yield invalid(field, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")
        return
    address = parse_address(before)
    assert address is not None, "it is part of a block"
    if _padded(before, address) or str(int(length)) != length:
        yield invalid(field, text, "must not have leading 0s in IP or prefix length")
    elif _mapped(address):
        yield invalid(field, text, "must not have an IPv4-mapped IPv6 address")
    elif address != network.network_address:
        yield invalid(field, text, "must not have bits set beyond the prefix length")


def inside(outer: Network, inner: Network) -> bool:
    """Whether a block is a part of another, and not all of it."""
    if isinstance(outer, IPv4Network):
        return isinstance(inner, IPv4Network) and inner.subnet_of(outer) and inner != outer
    return isinstance(inner, IPv6Network) and inner.subnet_of(outer) and inner != outer


def address_warnings(field: str, text: str) -> Iterator[str]:
    """What to tell who writes an address that is valid."""
    address = parse_address(text)
    if isinstance(address, IPv6Address) and str(address) != text:
        yield f'{field}: IPv6 address {quote(text)} should be in RFC 5952 canonical format ("{address}")'


def network_warnings(field: str, text: str) -> Iterator[str]:
    """What to tell who writes a block that is valid."""
    network = parse_network(text)
    if isinstance(network, IPv6Network) and str(network) != text:
        yield f'{field}: IPv6 CIDR value {quote(text)} should be in RFC 5952 canonical format ("{network}")'


def _padded(text: str, address: Address) -> bool:
    return isinstance(address, IPv4Address) and str(address) != text


def _mapped(address: Address) -> bool:
    return isinstance(address, IPv6Address) and address.ipv4_mapped is not None


def _local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02
