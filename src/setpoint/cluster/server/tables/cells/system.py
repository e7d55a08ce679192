"""How the control plane itself goes about its work: kinds that are defined, priorities, runtimes, flow control, migrations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, Cells, condition, created_at, name_of, part
from setpoint.cluster.server.tables.tables import Object, age

_FLOWS = "flowcontrol.apiserver.k8s.io"


def _crd(obj: Object, now: datetime) -> list[Any]:
    spec = obj["spec"]
    names = spec["names"]
    served = sorted(v["name"] + ("(storage)" if v.get("storage") else "") for v in spec["versions"] or () if v.get("served"))
    return [
        name_of(obj),
        spec["scope"],
        ",".join(served),
        created_at(obj),
        spec["group"],
        names["kind"],
        ",".join(names.get("shortNames") or ()),
        condition(obj, "Established") == "True",
    ]


def _priority_class(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("value") or 0, bool(obj.get("globalDefault")), age(obj, now), obj.get("preemptionPolicy") or ""]


def _runtime_class(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), obj.get("handler") or "", age(obj, now)]


def _flow_schema(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        part(spec, "priorityLevelConfiguration", "name") or NONE,
        spec.get("matchingPrecedence") or 0,
        part(spec, "distinguisherMethod", "type") or NONE,
        age(obj, now),
        condition(obj, "Dangling") or "?",
    ]


def _priority_level(obj: Object, now: datetime) -> list[Any]:
    limited = part(obj, "spec", "limited")
    queuing = part(limited or {}, "limitResponse", "queuing")
    shares = NONE if limited is None else limited.get("nominalConcurrencyShares") or 0
    queues = [NONE if queuing is None else queuing.get(field) or 0 for field in ("queues", "handSize", "queueLengthLimit")]
    return [name_of(obj), part(obj, "spec", "type") or "", shares, *queues, age(obj, now)]


def _migration(obj: Object, now: datetime) -> list[Any]:
    resource = part(obj, "spec", "resource") or {}
    state = next((kind for kind in ("Succeeded", "Failed", "Running") if condition(obj, kind) == "True"), "Unknown")
    return [name_of(obj), ".".join(filter(None, (resource.get("resource"), resource.get("group")))), state]


CELLS: dict[tuple[str, str], Cells] = {
    ("apiextensions.k8s.io", "customresourcedefinitions"): _crd,
    ("scheduling.k8s.io", "priorityclasses"): _priority_class,
    ("node.k8s.io", "runtimeclasses"): _runtime_class,
    (_FLOWS, "flowschemas"): _flow_schema,
    (_FLOWS, "prioritylevelconfigurations"): _priority_level,
    ("storagemigration.k8s.io", "storageversionmigrations"): _migration,
}
