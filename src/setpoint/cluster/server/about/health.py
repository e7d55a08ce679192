"""`/livez`, `/readyz` and `/healthz`: whether the server serves. One that answers is alive; there is nothing else to wait for.

https://kubernetes.io/docs/reference/using-api/health-checks/
"""

from __future__ import annotations

from setpoint.api import Answer, Operation

CHECKS = {"healthz": ("ping",), "livez": ("ping",), "readyz": ("ping", "shutdown")}
"""The endpoints with their checks; each check has an endpoint of its own below."""


def is_health(path: str) -> bool:
    """Whether the path asks for health, which anybody may."""
    return path.startswith("/") and path[1:].partition("/")[0] in CHECKS


def health(path: str, operation: Operation) -> Answer | None:
    """The answer of a health endpoint, None for a check that there is not, and for a slash too many.

    Of the query parameters `verbose` lists the checks, and each `exclude` skips one. A server that has been stopped answers nothing but
    503, so whoever gets an answer here may go on asking.
    """
    endpoint, slash, check = path[1:].partition("/")
    checks = CHECKS.get(endpoint)
    if checks is None or (slash and check not in checks):
        return None
    if check:
        return _text("ok")
    headers = {"x-content-type-options": "nosniff"}
    options = operation.options
    if "verbose" not in options:
        return _text("ok", headers)
    excluded = [options.get("exclude", ""), *(value for name, value in operation.arguments if name == "exclude")]
    lines = [f"[+]{name} excluded: ok" if name in excluded else f"[+]{name} ok" for name in checks]
    return _text("\n".join([*lines, f"{endpoint} check passed\n"]), headers)


def _text(text: str, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status=200, body=text.encode(), content_type="text/plain; charset=utf-8", headers=headers or {})
