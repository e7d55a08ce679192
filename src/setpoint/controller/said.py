"""What is said to people: errors in words, and things worth saying once, such as a read that goes live."""

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


def in_words(error: BaseException) -> str:
    """The error's type and what it says, also of one that cannot say it: whoever tells of a failure must not fail by it."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception as worse:
        text = f"(its text cannot be had: {type(worse).__name__})"
    return f"{name}: {text}" if text else name
