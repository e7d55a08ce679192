"""Logs: for people on a terminal, one JSON document a line everywhere else.

Rooms log through the standard library under the name `setpoint`, with what they are about (controller, namespace, name, kind) as `extra`
fields. A program calls `configure` once; a library never does.
"""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec
from rich.console import Console
from rich.logging import RichHandler

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """What a record says beside its text, in the order in which it was said."""
    return {name: value for name, value in vars(record).items() if name not in _STANDARD and not name.startswith("_")}


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
        if record.exc_info and record.exc_info[0] is not None:
            document["error"] = "".join(traceback.format_exception(*record.exc_info)).rstrip()
        return msgspec.json.encode(document, enc_hook=str).decode()


class HumanFormatter(logging.Formatter):
    """The text, then the bound fields as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as people read it."""
        text = record.getMessage()
        fields = " ".join(f"{name}={value}" for name, value in fields_of(record).items())
        if fields:
            text = f"{text}  {fields}"
        if record.exc_info and record.exc_info[0] is not None:
            text = f"{text}\n{''.join(traceback.format_exception(*record.exc_info)).rstrip()}"
        return text


def configure(stream: TextIO, level: int = logging.INFO) -> logging.Handler:
    """Sends Setpoint's logs to a stream: in colour for people if it is a terminal, as JSON if not. Gives the handler, to be removed."""
    handler: logging.Handler
    if stream.isatty():
        handler = RichHandler(console=Console(file=stream), show_path=False, markup=False, log_time_format="%H:%M:%S")
        handler.setFormatter(HumanFormatter())
    else:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("setpoint")
    logger.addHandler(handler)
    logger.setLevel(level)
    return handler
