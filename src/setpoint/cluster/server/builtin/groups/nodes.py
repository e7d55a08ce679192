"""Nodes: what a new one is given, what must hold of it, and what of it may not change.

https://kubernetes.io/docs/concepts/architecture/nodes/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.addresses import network_problems, parse_network
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.resource_names import resource_amount
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required
from setpoint.cluster.server.schema.gotext import as_json

_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NETWORKS_FIXED = 'node updates may not change podCIDR except from "" to valid'


def default(obj: Json) -> None:
    """A node with its defaults: all that it has may be used, and its first network is in both fields."""
    status, spec = obj.get("status") or {}, obj.get("spec") or {}
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])
    network, networks = spec.get("podCIDR", ""), spec.get("podCIDRs") or []
    if network and (not networks or networks[0] != network):
        spec["podCIDRs"] = [network]
    elif networks and not network:
        spec["podCIDR"] = networks[0]


def prepare_create(obj: Json) -> None:
    """Nothing is to be scheduled to a node that nobody has said is ready."""
    spec, status = {**obj["spec"]}, {**obj["status"]}
    spec.pop("configSource", None)
    status.pop("config", None)
    taints = spec.get("taints") or []
    if not any((taint.get("key"), taint.get("effect")) == (_NOT_READY["key"], _NOT_READY["effect"]) for taint in taints):
        spec["taints"] = [*taints, dict(_NOT_READY)]
    obj["spec"], obj["status"] = spec, status


def prepare_update(new: Json, old: Object, subresource: str) -> None:
    """Fields for what is no longer supported stay empty."""
    if subresource == "" and "configSource" not in (old.get("spec") or {}) and "configSource" in new["spec"]:
        new["spec"] = {key: value for key, value in new["spec"].items() if key != "configSource"}
    if subresource == "status" and "config" not in (old.get("status") or {}) and "config" in new["status"]:
        new["status"] = {key: value for key, value in new["status"].items() if key != "config"}


def validate(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a node, or with its change."""
    spec = new.get("spec") or {}
    # The server takes taints for metadata.
    yield from _taints(spec.get("taints") or [], "metadata.taints")
    yield from _resources(new)
    yield from _networks(spec.get("podCIDRs") or [])
    if old is not None:
        yield from _update(new, old)


def validate_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a status, or with its change."""
    yield from _resources(new)
    yield from _update(new, old)


def _resources(node: Object) -> Iterator[FieldError]:
    for part in ("capacity", "allocatable"):
        for name, amount in ((node.get("status") or {}).get(part) or {}).items():
            yield from resource_amount(name, amount, f"status.{part}.{name}")


def _taints(taints: list[Object], at: str) -> Iterator[FieldError]:
    seen: dict[tuple[str, str], None] = {}
    for index, taint in enumerate(taints):
        here, key, effect = f"{at}[{index}]", taint.get("key", ""), taint.get("effect", "")
        yield from (invalid(f"{here}.key", key, problem) for problem in names.label_key(key))
        value = taint.get("value", "")
        if problems := names.label_value(value):
            yield invalid(f"{here}.value", value, ";".join(problems))
        if not effect:
            yield required(f"{here}.effect")
        elif effect not in _EFFECTS:
            yield not_supported(f"{here}.effect", effect, _EFFECTS)
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            printed = "{" + ",".join(f'"{name}":{as_json(each)}' for name, each in shown.items()) + "}"
            yield FieldError("FieldValueDuplicate", f"Duplicate value: {printed}: taints must be unique by key and effect pair", here)
        seen[key, effect] = None


def _networks(networks: list[str]) -> Iterator[FieldError]:
    for index, network in enumerate(networks):
        yield from network_problems(f"spec.podCIDRs[{index}]", network)
    read = [parse_network(network) for network in networks]
    versions = {network.version: None for network in read if network is not None}
    if len(networks) > 1 and (len(networks) > 2 or len(versions) < 2):
        yield invalid("spec.podCIDRs", networks, "may specify no more than one CIDR for each IP family")


def _update(new: Object, old: Object) -> Iterator[FieldError]:
    spec, before, addresses = new.get("spec") or {}, old.get("spec") or {}, (new.get("status") or {}).get("addresses") or []
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            printed = f'{{"Type":{as_json(address.get("type", ""))},"Address":{as_json(address.get("address", ""))}}}'
            yield FieldError("FieldValueDuplicate", f"Duplicate value: {printed}", f"status.addresses[{index}]")
    if before.get("podCIDRs") and before["podCIDRs"] != spec.get("podCIDRs"):
        yield forbidden("spec.podCIDRs", _NETWORKS_FIXED)
    if spec.get("externalID", "") != before.get("externalID", ""):
        yield forbidden("spec.externalID", "may not be updated")
    provider, was = spec.get("providerID", ""), before.get("providerID", "")
    if was and provider != was:
        yield invalid("spec.providerID", None, f"field cannot be {'modified' if provider else 'cleared'} once set")


def _warnings(new: Object, old: Object | None) -> Iterator[str]:
    if (new.get("spec") or {}).get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"


BEHAVIOURS = {
    "Node": Behaviour(
        support="full",
        defaults=default,
        prepare_create=prepare_create,
        prepare_update=prepare_update,
        validate=validate,
        validate_status=validate_status,
        warns=_warnings,
        keeps_first_status=True,
        selectable=("spec.unschedulable",),
    ),
}
