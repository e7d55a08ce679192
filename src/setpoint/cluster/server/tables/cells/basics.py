"""Namespaces, nodes, configuration, accounts and bounds: the core group, without what has to do with pods, networks and volumes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, UNKNOWN, Cells, condition, created, name_of, named, part
from setpoint.cluster.server.tables.tables import Object, age

_ROLE = "node-role.kubernetes.io/"
_OTHER_ROLE = "kubernetes.io/role"


def _namespace(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), part(obj, "status", "phase") or "", age(obj, now)]


def _config_map(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age(obj, now)]


def _secret(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("type") or "", len(obj.get("data") or ()), age(obj, now)]


def _lease(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), part(obj, "spec", "holderIdentity") or "", age(obj, now)]


def _node(obj: Object, now: datetime) -> list[Any]:
    info = part(obj, "status", "nodeInfo") or {}
    ready = condition(obj, "Ready")
    status = "Unknown" if not ready else "Ready" if ready == "True" else "NotReady"
    if part(obj, "spec", "unschedulable"):
        status += ",SchedulingDisabled"
    kernel = info.get("kernelVersion") or UNKNOWN
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name_of(obj),
        status,
        _roles(obj),
        age(obj, now),
        info.get("kubeletVersion") or "",
        _address(obj, "InternalIP"),
        _address(obj, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _roles(obj: Object) -> str:
    labels: dict[str, str] = obj["metadata"].get("labels") or {}
    roles = [key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)] + [labels.get(_OTHER_ROLE) or ""]
    return ",".join(sorted(dict.fromkeys(role for role in roles if role))) or NONE


def _address(obj: Object, kind: str) -> str:
    return next((entry["address"] for entry in part(obj, "status", "addresses") or () if entry["type"] == kind), NONE)


def _quota(obj: Object, now: datetime) -> list[Any]:
    hard, used = part(obj, "status", "hard") or {}, part(obj, "status", "used") or {}
    texts = {name: f"{name}: {used.get(name, '0')}/{limit}" for name, limit in sorted(hard.items())}
    limits = [text for name, text in texts.items() if name.startswith("limits")]
    requests = [text for name, text in texts.items() if not name.startswith("limits")]
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age(obj, now)]


CELLS: dict[tuple[str, str], Cells] = {
    ("", "namespaces"): _namespace,
    ("", "nodes"): _node,
    ("", "configmaps"): _config_map,
    ("", "secrets"): _secret,
    ("", "serviceaccounts"): named,
    ("", "limitranges"): created,
    ("", "resourcequotas"): _quota,
    ("coordination.k8s.io", "leases"): _lease,
}
