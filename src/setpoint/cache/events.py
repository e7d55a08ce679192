"""What the cache tells the observer."""

from __future__ import annotations

from setpoint.api import GroupVersionKind
from setpoint.cache.entry import Version
from setpoint.objects import Request
from setpoint.world import Event


class Delivered(Event, frozen=True, kw_only=True):
    """The base took in a change: an event of a stream, by its `type`, or (`SYNC`) a difference that a list showed."""

    kind: GroupVersionKind
    key: Request
    type: str
    version: Version


class ReflectorState(Event, frozen=True, kw_only=True):
    """A reflector is in a new state, such as `Listing`, `Watching`, `BackingOff` or `NotServed`; `reason` is a sentence, or empty."""

    kind: GroupVersionKind
    selector: str
    state: str
    reason: str


class ObjectSkipped(Event, frozen=True, kw_only=True):
    """An object that cannot be read was passed over; the others go on."""

    kind: GroupVersionKind
    key: Request
    reason: str


class HandlerFailed(Event, frozen=True, kw_only=True):
    """Somebody who listens to changes raised. The change is in the base all the same, and the others are told."""

    kind: GroupVersionKind
    key: Request
    error: Exception


class IndexFailed(Event, frozen=True, kw_only=True):
    """An index raised for an object, or the object could not be decoded for it; the index does not find that object."""

    kind: GroupVersionKind
    key: Request
    error: Exception


class Scanned(Event, frozen=True, kw_only=True):
    """A read looked at every object of a kind, since no index answers it. Told once for each kind."""

    kind: GroupVersionKind
    objects: int
    asked: str
