"""Which simulated process a task belongs to.

The tag is a context variable, so tasks and callbacks inherit it. The simulated loop reads it to drop everything of a process that has been
killed: such a process is never resumed, and none of its `finally` blocks runs, as after SIGKILL.
"""

from __future__ import annotations

from contextvars import ContextVar

PROCESS: ContextVar[str] = ContextVar("setpoint_process", default="")
"""The name of the process that runs; empty outside any."""
