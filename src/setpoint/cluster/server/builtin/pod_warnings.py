"""What a pod may say, but hardly means, on its own or as a template: the server takes it and warns.

https://kubernetes.io/blog/2020/09/03/warnings/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.remembered import remembered
from setpoint.cluster.server.schema.gotext import quote
from setpoint.objects import Quantity

Json = Mapping[str, Any]

_WHOLE_BYTES = ("memory", "ephemeral-storage")
_GONE = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}


def name_warnings(obj: Json, used: str = "in Pod names and hostnames") -> Iterator[str]:
    """A name from which those of pods are made had better be a label."""
    if problems := names.dns_label(obj["metadata"].get("name", "")):
        why = f"this is used {used}, which can result in surprising behavior; a DNS label is recommended"
        yield f"metadata.name: {why}: [{' '.join(problems)}]"


@remembered
def pod_warnings(spec: Json, at: str) -> Iterator[str]:
    """What is odd about a pod's ``spec`` at the path ``at``."""
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or []):
        if constraint.get("labelSelector") is None:
            yield f"{at}.topologySpreadConstraints[{index}].labelSelector: a null labelSelector results in matching no pod"
    for index, volume in enumerate(spec.get("volumes") or []):
        for kind, why in _GONE.items():
            if kind in volume:
                yield f"{at}.volumes[{index}].{'storageOS' if kind == 'storageos' else kind}: {why}"
    for volume in spec.get("volumes") or []:
        if not all((volume.get("projected") or {}).get("sources") or []):
            yield f"volume {quote(volume['name'])} (Projected) has no sources provided"
    yield from _twice(spec, "hostAliases", "ip", at)
    yield from _twice(spec, "imagePullSecrets", "name", at)
    for index, secret in enumerate(spec.get("imagePullSecrets") or []):
        if not secret.get("name"):
            yield f'{at}.imagePullSecrets[{index}].name: invalid empty name ""'
    yield from fractional_bytes(spec.get("overhead") or {}, f"{at}.overhead")
    for container, here in _containers(spec, at):
        for part in ("limits", "requests"):
            yield from fractional_bytes((container.get("resources") or {}).get(part) or {}, f"{here}.resources.{part}")
        yield from _hidden_variables(container.get("env") or [], f"{here}.env")
    yield from _ports(spec, at)
    for name in ("podAffinity", "podAntiAffinity"):
        yield from _unselective((spec.get("affinity") or {}).get(name) or {}, f"{at}.affinity.{name}")


def _containers(spec: Json, at: str) -> Iterator[tuple[Json, str]]:
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(name) or []):
            yield container, f"{at}.{name}[{index}]"


def _twice(spec: Json, field: str, key: str, at: str) -> Iterator[str]:
    seen: dict[str, None] = {}
    for index, item in enumerate(spec.get(field) or []):
        value = item.get(key, "")
        if value in seen:
            yield f"{at}.{field}[{index}].{key}: duplicate {key} {quote(value)}"
        seen[value] = None


def fractional_bytes(amounts: Json, at: str, kinds: tuple[str, ...] = _WHOLE_BYTES) -> Iterator[str]:
    """Nothing is smaller than a byte."""
    for name in kinds:
        if name in amounts and Quantity(amounts[name]).amount.denominator != 1:
            yield f"{at}[{name}]: fractional byte value {quote(amounts[name])} is invalid, must be an integer"


def _hidden_variables(variables: list[Json], at: str) -> Iterator[str]:
    seen: dict[str, None] = {}
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        itself = f"$({name})"
        if name in seen and ("valueFrom" in variable or value == itself or itself not in value):
            yield f"{at}[{index}]: hides previous definition of {quote(name)}, which may be dropped when using apply"
        seen[name] = None


def _ports(spec: Json, at: str) -> Iterator[str]:
    ports = [
        (port, f"{here}.ports[{number}]")
        for container, here in _containers(spec, at)
        for number, port in enumerate(container.get("ports") or [])
    ]
    for index, (port, here) in enumerate(ports):
        host, address = port.get("hostPort", 0), port.get("hostIP", "")
        if address and not host:
            shown = (
                f"Name:{port.get('name', '')} HostPort:0 ContainerPort:{port['containerPort']} Protocol:{port['protocol']} HostIP:{address}"
            )
            yield f"{here}: hostIP set without hostPort: {{{shown}}}"
        for other, there in ports[:index]:
            if (port["containerPort"], port.get("protocol")) == (other["containerPort"], other.get("protocol")):
                theirs, elsewhere = other.get("hostPort", 0), other.get("hostIP", "")
                if (host, address) == (theirs, elsewhere):
                    yield f"{here}: duplicate port definition with {there}"
                elif not host or not theirs:
                    yield f"{here}: overlapping port definition with {there}"
                elif host == theirs and bool(address) != bool(elsewhere):
                    yield f"{here}: dangerously ambiguous port definition with {there}"
    first: dict[str, str] = {}
    for port, here in ports:
        name = port.get("name", "")
        if name in first:
            also = f"services and probes that select ports by name will use {first[name]}"
            yield f"{here}: duplicate port name {quote(name)} with {first[name]}, {also}"
        elif name:
            first[name] = here


def _unselective(affinity: Json, at: str) -> Iterator[str]:
    why = "a null labelSelector results in matching no pod"
    required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
    for index, term in enumerate(affinity.get(required) or []):
        if term.get("labelSelector") is None:
            yield f"{at}.{required}[{index}].labelSelector: {why}"
    for index, term in enumerate(affinity.get(preferred) or []):
        if (term.get("podAffinityTerm") or {}).get("labelSelector") is None:
            yield f"{at}.{preferred}[{index}].podAffinityTerm.labelSelector: {why}"
