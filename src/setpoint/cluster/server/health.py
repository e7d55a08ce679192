"""`/livez`, `/readyz` and `/healthz`: whether the server serves. One that answers is alive; there is nothing else to wait for.

https://kubernetes.io/docs/reference/using-api/health-checks/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.api import Answer

CHECKS = {"healthz": ("ping",), "livez": ("ping",), "readyz": ("ping", "shutdown")}
"""The endpoints with their checks; each check has an endpoint of its own below."""


def is_health(path: str) -> bool:
    """Whether the path asks for health, which anybody may."""
    return path.strip("/").partition("/")[0] in CHECKS


def health(path: str, options: Mapping[str, str]) -> Answer | None:
    """The answer of a health endpoint, None for a check that there is not.

    `options` are the query parameters: `verbose` lists the checks, `exclude` skips one. A server that has been stopped answers nothing but
    503, so whoever gets an answer here may go on asking.
    """
    endpoint, _, check = path.strip("/").partition("/")
    checks = CHECKS.get(endpoint)
    if checks is None or (check and check not in checks):
        return None
    if check or "verbose" not in options:
        return _text("ok")
    excluded = options.get("exclude", "")
    lines = [f"[+]{name} excluded: ok" if name == excluded else f"[+]{name} ok" for name in checks]
    return _text("\n".join([*lines, f"{endpoint} check passed\n"]))


def _text(text: str) -> Answer:
    return Answer(status=200, body=text.encode(), content_type="text/plain; charset=utf-8")
