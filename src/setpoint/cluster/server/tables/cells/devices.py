"""Devices of nodes, and claims for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import Cells, name_of, named, part
from setpoint.cluster.server.tables.durations import since
from setpoint.cluster.server.tables.tables import Object, age

_GROUP = "resource.k8s.io"


def _claim(obj: Object, now: datetime) -> list[Any]:
    status = obj.get("status") or {}
    states = {
        "deleted": bool(obj["metadata"].get("deletionTimestamp")),
        "allocated": status.get("allocation") is not None,
        "reserved": bool(status.get("reservedFor")),
    }
    if status.get("allocation") is None:
        states["pending"] = not states["deleted"]
    return [name_of(obj), ",".join(state for state, holds in states.items() if holds), age(obj, now)]


def _slice(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    return [name_of(obj), spec.get("nodeName") or "", spec.get("driver") or "", part(spec, "pool", "name") or "", age(obj, now)]


def _taint_rule(obj: Object, now: datetime) -> list[Any]:
    taint = part(obj, "spec", "taint") or {}
    told = [taint.get(field) or "" for field in ("key", "value", "effect")]
    return [name_of(obj), *told, since(taint.get("timeAdded"), now), age(obj, now)]


CELLS: dict[tuple[str, str], Cells] = {
    (_GROUP, "deviceclasses"): named,
    (_GROUP, "devicetaintrules"): _taint_rule,
    (_GROUP, "resourceclaims"): _claim,
    (_GROUP, "resourceclaimtemplates"): named,
    (_GROUP, "resourceslices"): _slice,
}
