"""A series of equal Events, as events.k8s.io/v1 tells it: one object, made once, and a count that is brought up to date.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec

from setpoint.objects import KindInfo, MicroTime, Object
from setpoint.world import Chance

EventType: TypeAlias = Literal["Normal", "Warning"]
NOTE_LIMIT = 1024
"""Bytes that the API server takes of a note; 128 of anything shorter."""
LABEL_LIMIT = 128

_HEX = "0123456789abcdef"
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_LIMIT = 253 - 17
_REPORTER_LIMIT = 63


class Told(msgspec.Struct, frozen=True):
    """What makes two Events one series: all but the note, the version of the object and the time. `regarding` is an object's UID, else
    its kind and key.
    """

    regarding: str
    related: str
    reason: str
    action: str
    type: str


class Series:
    """One series: `count` times so far, of which the server knows of `sent`; 0 before it is created.

    `tries` counts attempts in a row that failed, `pause` is the seconds until the next count is worth a request. `under_way` says whether
    one is on its way.
    """

    __slots__ = ("body", "count", "key", "last", "pause", "sent", "tries", "under_way")

    def __init__(self, key: Told, body: dict[str, Any], now: datetime, pause: float) -> None:
        self.key = key
        self.body = body
        self.count = 1
        self.last = now
        self.sent = 0
        self.tries = 0
        self.under_way = False
        self.pause = pause

    @property
    def namespace(self) -> str:
        """Where the Event is."""
        return str(self.body["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """The Event's name."""
        return str(self.body["metadata"]["name"])

    @property
    def is_due(self) -> bool:
        """Whether the server does not know all of it."""
        return self.sent < self.count

    def creation(self) -> bytes:
        """The Event as it is now, to be created."""
        return msgspec.json.encode(self.body if self.count == 1 else {**self.body, **self._series()})

    def heartbeat(self) -> bytes:
        """The merge patch that brings its count up to date."""
        return msgspec.json.encode(self._series())

    def _series(self) -> dict[str, Any]:
        return {"series": {"count": self.count, "lastObservedTime": str(MicroTime.of(self.last))}}


def reference(obj: Object, info: KindInfo) -> dict[str, str]:
    """An object as Events refer to it."""
    about = {"apiVersion": info.api_version, "kind": info.kind, "name": obj.name}
    for field, value in (
        ("namespace", obj.namespace),
        ("uid", obj.metadata.uid),
        ("resourceVersion", obj.metadata.resource_version),
    ):
        if value:
            about[field] = value
    return about


def identity(about: Mapping[str, str]) -> str:
    """What stays the same of a reference while the object changes: its UID; without one, its kind and key."""
    return about.get("uid") or "/".join((about["apiVersion"], about["kind"], about.get("namespace", ""), about["name"]))


def event_name(about: str, chance: Chance) -> str:
    """A fresh name of an Event, which begins with the object's where that may be: not every object has a name that an Event may have."""
    start = about[:_NAME_LIMIT].rstrip("-.")
    return f"{start if _SUBDOMAIN.fullmatch(start) else 'event'}.{chance.token(_HEX, 16)}"


def reporter(controller: str) -> str:
    """A controller's name as the API takes it: at most 63 letters that begin and end with a letter or digit."""
    return re.sub(r"[^A-Za-z0-9]+$", "", re.sub(r"[^-A-Za-z0-9_.]", "-", controller)[:_REPORTER_LIMIT]).lstrip("-_.") or "setpoint"


def cut(text: str, limit: int) -> str:
    """The text, or as much of it as fits into so many bytes of UTF-8, whole characters, with an ellipsis."""
    raw = text.encode(errors="replace")
    if len(raw) <= limit:
        return raw.decode()
    return raw[: limit - 3].decode(errors="ignore") + "…"
