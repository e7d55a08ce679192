"""What controllers write, said as it happens."""

from __future__ import annotations

import logging

from setpoint.api import Operation
from setpoint.api.operation import APPLY_PATCH
from setpoint.client.events import RequestDone
from setpoint.world import Event

log = logging.getLogger("setpoint.run")

_PAST = {"create": "created", "update": "updated", "patch": "patched", "delete": "deleted", "deletecollection": "deleted"}


HEARS = (RequestDone,)
"""All that it hears of: a program that only logs is told of nothing else."""


def say(event: Event) -> None:
    """Hears of a request; a write of a reconciler is logged. What it raises is the run's error and logged there."""
    if isinstance(event, RequestDone) and event.operation.run and event.operation.is_write and event.code.startswith("2"):
        controller, _, request = event.operation.run.partition(" ")
        log.info("%s", _done(event.operation, event.code), extra={"controller": controller, "request": request})


def _done(operation: Operation, code: str) -> str:
    _, _, what = str(operation).partition(" ")
    if code == "201":
        return f"created {what}"
    if operation.content_type == APPLY_PATCH:
        return f"applied {what}"
    return f"{_PAST[operation.verb]} {what}"
