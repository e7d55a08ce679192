"""Where in the user's code something comes from that was asked for in another process, and of which no stack tells here."""

from __future__ import annotations

from contextvars import ContextVar

USERS_LINE: ContextVar[str] = ContextVar("setpoint_users_line", default="")
"""The line, such as `webapp.py:81`; empty where it is on the stack, or there is none."""
