"""The two forms of an Event: what core/v1 calls `involvedObject`, events.k8s.io/v1 calls `regarding`, and so on.

Objects of both are the same ones. They are stored in the core form, as kube-apiserver stores them.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server.builtin.go_print import refused, struct
from setpoint.cluster.server.schema.causes import FieldError, invalid, required
from setpoint.cluster.server.schema.gotext import as_json, go_value

KEPT_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedCount": "count",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedSource": "source",
}
"""The fields of events.k8s.io/v1 that the core form, which is kept, calls otherwise."""
_NEWER_NAMES = {kept: newer for newer, kept in KEPT_NAMES.items()}

SELECTABLE = (
    *(f"regarding.{field}" for field in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")),
    "reason",
    "reportingController",
    "type",
)
"""The field selectors of events.k8s.io/v1."""

_IMMUTABLE: dict[str, Any] = {
    "involvedObject": {},
    "reason": "",
    "message": "",
    "source": {},
    "firstTimestamp": None,
    "lastTimestamp": None,
    "count": 0,
    "type": "",
    "eventTime": None,
    "action": "",
    "related": None,
    "reportingComponent": "",
    "reportingInstance": "",
}
"""What does not change in the newer form, and what it is when it is not stated."""
_PRINTED = {
    "involvedObject": ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"),
    "source": ("component", "host"),
}
_PRINTED["related"] = _PRINTED["involvedObject"]
"""The structs among them: their fields in the order in which Go prints them."""
_LIMITS = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
_UNSET: dict[str, Any] = {"firstTimestamp": None, "lastTimestamp": None, "count": 0, "source": {}}


def to_kept(shown: Mapping[str, Any]) -> dict[str, Any]:
    """An event of events.k8s.io/v1 in the form in which it is kept."""
    return {KEPT_NAMES.get(name, name): value for name, value in shown.items()}


def to_shown(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of `to_kept`. Empty texts, which the kept form writes out, are left out."""
    return {_NEWER_NAMES.get(name, name): value for name, value in kept.items() if value != ""}


def too_long(event: Mapping[str, Any], name: str) -> Iterator[FieldError]:
    """Whether a text of an event in the core form is longer, in bytes, than it may be."""
    if len((event.get(name) or "").encode()) > _LIMITS[name]:
        yield invalid(name, "", f"can have at most {_LIMITS[name]} characters")


def strictly(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[FieldError]:
    """What events.k8s.io/v1 asks of an event, here in the core form, beyond what core/v1 asks."""
    if old is None:
        yield from _series(new)
        if new.get("eventTime") is None:
            yield required("eventTime")
        if new.get("type") not in ("Normal", "Warning"):
            yield invalid("type", "", f"has invalid value: {new.get('type') or ''}")
        for name, empty in _UNSET.items():
            if (new.get(name) or empty) != empty:
                yield invalid(name, "", "needs to be unset")
        return
    if new.get("series") != old.get("series"):
        yield from _series(new)
    for name, empty in _IMMUTABLE.items():
        value = new.get(name) or empty
        if value != (old.get(name) or empty):
            yield refused("reportingController" if name == "reportingComponent" else name, _printed(name, value), "field is immutable")


def _printed(name: str, value: Any) -> str:
    if value is None or name not in _PRINTED:
        return go_value(value)
    return struct((_GO_NAMES.get(key) or key[0].upper() + key[1:], as_json(value.get(key, ""))) for key in _PRINTED[name])


_GO_NAMES = {"uid": "UID", "apiVersion": "APIVersion"}


def _series(event: Mapping[str, Any]) -> Iterator[FieldError]:
    series = event.get("series")
    if series is None:
        return
    if (series.get("count") or 0) < 2:
        yield invalid("series.count", "", "should be at least 2")
    if series.get("lastObservedTime") is None:
        yield required("series.lastObservedTime")
