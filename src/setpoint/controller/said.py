"""Things worth saying once: a read that goes live, a kind that is both applied and updated."""

from __future__ import annotations

import logging

log = logging.getLogger("setpoint.controller")


class Said:
    """What has been said already; one for each controller that runs."""

    def __init__(self, controller: str) -> None:
        self._controller = controller
        self._said: dict[tuple[str, str], None] = {}

    def once(self, topic: str, about: str, text: str, *, level: int = logging.INFO) -> None:
        """Logs the text, unless something of this topic was said about this thing before."""
        if (topic, about) not in self._said:
            self._said[topic, about] = None
            log.log(level, "%s", text, extra={"controller": self._controller})
