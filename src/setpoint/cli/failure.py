"""What ends the program: one clear sentence that names the thing and the remedy, and an exit code other than zero."""

from __future__ import annotations

USAGE = 2
"""The exit code for options and arguments that do not go together."""
INTERRUPTED = 130
"""The exit code for Ctrl-C, as shells have it."""


class Failure(Exception):
    """The user's mistake, or the world's: shown as its text alone, without a traceback. `code` is the exit code."""

    def __init__(self, text: str, *, code: int = 1) -> None:
        super().__init__(text)
        self.code = code
