"""`/livez`, `/readyz` and `/healthz`: whether the server serves. One that answers is alive; there is nothing else to wait for.

https://kubernetes.io/docs/reference/using-api/health-checks/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.api import Answer

CHECKS = {"healthz": ("ping",), "livez": ("ping",), "readyz": ("ping", "shutdown")}
"""The endpoints with their checks; each check has an endpoint of its own below."""
_TEXT = "text/plain; charset=utf-8"


def is_health(path: str) -> bool:
    """Whether the path asks for health, which anybody may."""
    return path.strip("/").partition("/")[0] in CHECKS


def health(path: str, options: Mapping[str, str], *, stopping: bool = False) -> Answer | None:
    """The answer of a health endpoint, None for a check that there is not.

    `options` are the query parameters: `verbose` lists the checks, `exclude` skips one. A server that is stopping is no longer ready.
    """
    endpoint, _, check = path.strip("/").partition("/")
    checks = CHECKS.get(endpoint)
    if checks is None or (check and check not in checks):
        return None
    excluded = options.get("exclude", "")
    failed = [name for name in ((check,) if check else checks) if name == "shutdown" and stopping and name != excluded]
    if check:
        return _text(500, "internal server error: process is shutting down\n") if failed else _text(200, "ok")
    if not failed and "verbose" not in options:
        return _text(200, "ok")
    lines = [_line(name, excluded, failed) for name in checks]
    lines.append(f"{endpoint} check {'failed' if failed else 'passed'}")
    return _text(500 if failed else 200, "\n".join(lines) + "\n")


def _line(name: str, excluded: str, failed: list[str]) -> str:
    if name in failed:
        return f"[-]{name} failed: process is shutting down"
    return f"[+]{name} excluded: ok" if name == excluded else f"[+]{name} ok"


def _text(status: int, text: str) -> Answer:
    return Answer(status=status, body=text.encode(), content_type=_TEXT)
