"""What the observer hears from the server."""

from __future__ import annotations

from setpoint.api import Identity, Operation
from setpoint.world import Event


class Served(Event, frozen=True, kw_only=True):
    """A request has been answered (a watch: accepted). `status` is the HTTP status code, `revision` the server's after it."""

    operation: Operation
    identity: Identity
    status: int
    revision: int
