"""What the status of a pod must obey.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid
from setpoint.cluster.server.schema.gotext import as_json

from .addresses import address_problems, parse_address
from .go_print import refused

Json = Mapping[str, Any]

_OWN_CONDITIONS = ("PodScheduled", "Ready", "Initialized")


def validate_pod_status(new: Json, old: Json) -> Iterator[FieldError]:
    """What is wrong with the status of a pod, or with its change."""
    status, before = new.get("status") or {}, old.get("status") or {}
    yield from _conditions(status.get("conditions") or [])
    node = status.get("nominatedNodeName", "")
    if node and node != before.get("nominatedNodeName"):
        yield from (invalid("status.nominatedNodeName", node, problem) for problem in names.dns_subdomain(node))
    spec = new.get("spec") or {}
    for part, field in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        yield from _restarts(status.get(part) or [], before.get(part) or [], spec, field, f"status.{part}")
    yield from _addresses(status.get("podIPs") or [], "status.podIPs")
    hosts = status.get("hostIPs") or []
    if hosts and hosts[0].get("ip") != status.get("hostIP", ""):
        yield invalid("status.hostIPs[0].ip", hosts[0].get("ip", ""), "must be equal to `hostIP`")
    yield from _addresses(hosts, "status.hostIPs")


def _conditions(conditions: Sequence[Json]) -> Iterator[FieldError]:
    for index, condition in enumerate(conditions):
        at, kind = f"status.conditions[{index}]", condition.get("type", "")
        if condition.get("observedGeneration", 0) < 0:
            yield invalid(f"{at}.observedGeneration", condition["observedGeneration"], "must be a non-negative integer")
        if kind not in _OWN_CONDITIONS:
            yield from (invalid(f"{at}.Type", kind, problem) for problem in names.label_key(kind))


def _restarts(now: Sequence[Json], before: Sequence[Json], spec: Json, field: str, at: str) -> Iterator[FieldError]:
    """A container that has ended for good does not come back."""
    policies = {container.get("name"): container.get("restartPolicy") for container in spec.get(field) or []}
    for index, was in enumerate(before):
        ended = (was.get("state") or {}).get("terminated")
        found = next((status for status in now if status.get("name") == was.get("name")), None)
        if ended is None or found is None or "terminated" in (found.get("state") or {}):
            continue
        policy = policies.get(was.get("name")) or spec.get("restartPolicy", "Always")
        if policy == "Never" or (policy == "OnFailure" and ended.get("exitCode", 0) == 0):
            yield forbidden(f"{at}[{index}].state", "may not be transitioned to non-terminated state")


def _addresses(addresses: Sequence[Json], at: str) -> Iterator[FieldError]:
    texts = [address.get("ip", "") for address in addresses]
    for index, text in enumerate(texts):
        yield from address_problems(f"{at}[{index}]", text)
    versions = {parsed.version: None for parsed in map(parse_address, texts) if parsed is not None}
    if len(texts) > 1 and (len(texts) > 2 or len(versions) < 2):
        shown = "[" + ",".join(f'{{"IP":{as_json(text)}}}' for text in texts) + "]"
        yield refused(at, shown, "may specify no more than one IP for each IP family")
