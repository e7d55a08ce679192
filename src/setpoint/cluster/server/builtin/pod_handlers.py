"""What is done to a container from outside: probes, hooks of its life, and the handlers of both.

https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-probes
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, not_supported, required

from .counts import all_not_negative
from .ports import port_number, port_problems

Json = Mapping[str, Any]

HOOKS = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_SCHEMES = ("HTTP", "HTTPS")
_HEADER_FORM = "[-A-Za-z0-9]+"
_HEADER = re.compile(_HEADER_FORM)
_HEADER_TEXT = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    f"(e.g. 'X-Header-Name', regex used for validation is '{_HEADER_FORM}')"
)


def validate_probe(probe: Json, name: str, at: str) -> Iterator[FieldError]:
    """What is wrong with a probe, one of `HOOKS`, at the path ``at``."""
    yield from _handler(probe, None, at)
    yield from all_not_negative(probe, _COUNTS, at)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        yield invalid(f"{at}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if name == "readinessProbe":
        if grace is not None:
            yield invalid(f"{at}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes")
    elif probe.get("successThreshold", 1) != 1:
        yield invalid(f"{at}.successThreshold", probe["successThreshold"], "must be 1")


def validate_lifecycle(lifecycle: Json, grace: int | None, at: str) -> Iterator[FieldError]:
    """What is wrong with the hooks of a container, of a pod that has ``grace`` seconds to stop."""
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            yield from _handler(lifecycle[name], grace, f"{at}.{name}")


def _handler(holder: Json, grace: int | None, at: str) -> Iterator[FieldError]:
    stated = [name for name in _HANDLERS if name in holder]
    if not stated:
        yield required(at, "must specify a handler type")
        return
    yield from _action(stated[0], holder[stated[0]], grace, f"{at}.{stated[0]}")
    yield from (forbidden(f"{at}.{extra}", "may not specify more than 1 handler type") for extra in stated[1:])


def _action(kind: str, action: Json, grace: int | None, at: str) -> Iterator[FieldError]:
    match kind:
        case "exec":
            if not action.get("command"):
                yield required(f"{at}.command")
        case "httpGet":
            yield from _port(action.get("port", 0), f"{at}.port")
            if action.get("scheme") not in _SCHEMES:
                yield not_supported(f"{at}.scheme", action.get("scheme"), _SCHEMES)
            for header in action.get("httpHeaders") or []:
                if not _HEADER.fullmatch(header.get("name", "")):
                    yield invalid(f"{at}.httpHeaders", header.get("name", ""), _HEADER_TEXT)
        case "tcpSocket":
            yield from _port(action.get("port", 0), f"{at}.port")
        case "grpc":
            yield from port_number(action.get("port", 0), f"{at}.port")
        case _:
            seconds = action.get("seconds", 0)
            if grace is not None and not 0 <= seconds <= grace:
                yield invalid(at, seconds, f"must be non-negative and less than terminationGracePeriodSeconds ({grace})")


def _port(port: int | str, at: str) -> Iterator[FieldError]:
    """A port by number or by name."""
    if isinstance(port, int):
        yield from port_number(port, at)
    else:
        yield from (invalid(at, port, problem) for problem in port_problems(port))
