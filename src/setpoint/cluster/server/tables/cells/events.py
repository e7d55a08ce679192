"""Events, in both their forms."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from setpoint.cluster.server.builtin.event_forms import to_kept
from setpoint.cluster.server.tables.cells.parts import Cells, name_of
from setpoint.cluster.server.tables.durations import since
from setpoint.cluster.server.tables.tables import Object


def _newer_event(obj: Object, now: datetime) -> list[Any]:
    return _event(to_kept(obj), now)


def _event(obj: Object, now: datetime) -> list[Any]:
    first = since(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = since(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    if series := obj.get("series"):
        last, count = since(series.get("lastObservedTime"), now), series.get("count") or 0
    about = obj.get("involvedObject") or {}
    target = (about.get("kind") or "").lower()
    source = obj.get("source") or {}
    origin = [source.get("component") or obj.get("reportingComponent") or "", source.get("host") or obj.get("reportingInstance") or ""]
    return [
        last,
        obj.get("type") or "",
        obj.get("reason") or "",
        f"{target}/{about['name']}" if about.get("name") else target,
        about.get("fieldPath") or "",
        ", ".join(origin) if origin[1] else origin[0],
        (obj.get("message") or "").strip(),
        first,
        count,
        name_of(obj),
    ]


CELLS: dict[tuple[str, str], Cells] = {("", "events"): _event, ("events.k8s.io", "events"): _newer_event}
