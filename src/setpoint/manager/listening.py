"""`Faults`: a listener that fails must not fail what it hears of. Its error is logged, once for each sort of event, and it hears on."""

from __future__ import annotations

import logging

from setpoint.world import Event

log = logging.getLogger("setpoint.manager")


class Faults:
    """The faults of one listener; `name` is what it is called."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: dict[type[Event], None] = {}

    def tell(self, event: Event, error: Exception) -> None:
        """It failed at this event."""
        sort = type(event)
        if sort in self._said:
            return
        self._said[sort] = None
        log.error(
            "a fault in Setpoint: %s failed at a %s, which it passes over; runs are not affected", self._name, sort.__name__, exc_info=error
        )
