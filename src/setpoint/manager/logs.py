"""Logs: for people on a terminal, one JSON document a line everywhere else.

Rooms log through the standard library under the name `setpoint`, with what they are about (controller, request) as `extra`
fields. A program calls `configure` once; a library never does.
"""

from __future__ import annotations

import logging
import os
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

import msgspec

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_BEFORE_THE_USER = ("setpoint", "asyncio", "concurrent", "threading")
"""Packages whose frames lead to the user's code, and tell its author nothing."""


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What a record says beside its text, in the order in which it was said."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD and not name.startswith("_")}


def traceback_of(record: logging.LogRecord) -> str:
    """The traceback of a record's exception, from the first frame on that is not ours; all of it if there is none. "" without exception."""
    if not record.exc_info or record.exc_info[1] is None:
        return ""
    _, error, whole = record.exc_info
    return "".join(traceback.format_exception(type(error), error, _from_the_user(whole) or whole)).rstrip()


def _from_the_user(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0] in _BEFORE_THE_USER:
        trace = trace.tb_next
    return trace


class JsonFormatter(logging.Formatter):
    """One JSON document a record: `ts` (RFC 3339), `level`, `logger`, `msg`, the bound fields, and `error` with the traceback, if any."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        document: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
            **fields_of(record),
        }
        if error := traceback_of(record):
            document["error"] = error
        return msgspec.json.encode(document, enc_hook=str).decode()


class HumanFormatter(logging.Formatter):
    """The local time, the level from warnings on, the text, then the bound fields as `name=value`; in ANSI colours if asked."""

    def __init__(self, *, colour: bool) -> None:
        super().__init__()
        self._colour = colour

    def format(self, record: logging.LogRecord) -> str:
        """The record as people read it."""
        parts = [self._in("2", datetime.fromtimestamp(record.created).strftime("%H:%M:%S"))]
        if record.levelno >= logging.WARNING:
            parts.append(self._in("1;31" if record.levelno >= logging.ERROR else "1;33", record.levelname.lower()))
        parts.append(self._in("2", record.getMessage()) if record.levelno < logging.INFO else record.getMessage())
        if fields := fields_of(record):
            parts.append(self._in("2", " ".join(f"{name}={value}" for name, value in fields.items())))
        error = traceback_of(record)
        return "  ".join(parts) + (f"\n{error}" if error else "")

    def _in(self, colour: str, text: str) -> str:
        return f"\033[{colour}m{text}\033[0m" if self._colour else text


def configure(stream: TextIO, level: int = logging.INFO) -> logging.Handler:
    """Sends Setpoint's logs to a stream: for people if it is a terminal, as JSON if not. Gives the handler, to be removed.

    People see colours, unless NO_COLOR is set (https://no-color.org/).
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(HumanFormatter(colour=not os.environ.get("NO_COLOR")) if stream.isatty() else JsonFormatter())
    logger = logging.getLogger("setpoint")
    logger.addHandler(handler)
    logger.setLevel(level)
    return handler
