"""Ports of containers: their names, their numbers, and that no two want the same one of a node.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#ports
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, not_supported, required

Json = Mapping[str, Any]

_CHARACTERS = re.compile(r"[-a-z0-9]+")
_LETTER = re.compile(r"[a-z]")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def port_problems(name: str) -> list[str]:
    """What is wrong with the name of a port."""
    found = ["must be no more than 15 characters"] if len(name) > 15 else []
    if not _CHARACTERS.fullmatch(name):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _LETTER.search(name):
        found.append("must contain at least one letter (a-z)")
    if "--" in name:
        found.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def port_number(number: int, at: str) -> Iterator[FieldError]:
    """A number that a port can have."""
    if not 1 <= number <= 65535:
        yield invalid(at, number, "must be between 1 and 65535, inclusive")


def validate_ports(ports: Iterable[Json], at: str) -> Iterator[FieldError]:
    """What is wrong with the ports of a container."""
    seen: dict[str, None] = {}
    for index, port in enumerate(ports):
        here = f"{at}[{index}]"
        if name := port.get("name"):
            problems = port_problems(name)
            yield from (invalid(f"{here}.name", name, problem) for problem in problems)
            if not problems and name in seen:
                yield duplicate(f"{here}.name", name)
            seen[name] = None
        if number := port.get("containerPort"):
            yield from port_number(number, f"{here}.containerPort")
        else:
            yield required(f"{here}.containerPort")
        if host := port.get("hostPort"):
            yield from port_number(host, f"{here}.hostPort")
        protocol = port.get("protocol", "TCP")
        if protocol not in _PROTOCOLS:
            yield not_supported(f"{here}.protocol", protocol, _PROTOCOLS)


def host_port_conflicts(containers: Iterable[Json], at: str) -> Iterator[FieldError]:
    """No two ports of these containers are the same one of the node."""
    seen: dict[str, None] = {}
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or []):
            if host := port.get("hostPort"):
                wanted = f"{port.get('protocol', 'TCP')}/{port.get('hostIP', '')}/{host}"
                if wanted in seen:
                    yield duplicate(f"{at}[{index}].ports[{number}].hostPort", wanted)
                seen[wanted] = None
