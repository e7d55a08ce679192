"""The log of requests: a line for each, when it has ended. What is secret is not in it: no bodies, no header but the user agent, and of the
query only what the Kubernetes API itself takes.

The columns: time, verb (or the method, where it makes no sense), path, status (`-` where no answer was sent), seconds, user, user agent and
audit ID. Texts that a client chose are quoted, so that a line is a line.
"""

from __future__ import annotations

import json
from datetime import datetime
from urllib.parse import urlencode

from setpoint.cluster.server.http.asgi import Exchange

_SHOWN = (
    "allowWatchBookmarks",
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "fieldValidation",
    "force",
    "gracePeriodSeconds",
    "labelSelector",
    "limit",
    "orphanDependents",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeout",
    "timeoutSeconds",
    "verbose",
)
"""The parameters whose values are shown."""


def line(exchange: Exchange, seconds: float, now: datetime) -> str:
    """The line of a request that has just ended, without an end of line."""
    operation = exchange.operation
    path = exchange.path
    if operation is not None and operation.options:
        shown = {name: value if name in _SHOWN else "..." for name, value in operation.options.items()}
        path = f"{path}?{urlencode(shown, safe='=,!()/.')}"
    return " ".join(
        (
            now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            (operation.verb if operation is not None else exchange.method).upper(),
            _quoted(path) if not path.isprintable() or " " in path or not path.isascii() else path,
            str(exchange.status or "-"),
            f"{seconds:.4f}",
            _quoted(exchange.user),
            _quoted(exchange.headers.get("user-agent", "")),
            _quoted(exchange.audit),
        )
    )


def _quoted(text: str) -> str:
    return json.dumps(text)
