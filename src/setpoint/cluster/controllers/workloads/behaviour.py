"""How a simulated pod behaves, which annotations on the pod (or on the template that it is made from) say:

| annotation | meaning |
| --- | --- |
| `setpoint.dev/ready-after` | seconds until the pod runs and is Ready; 0.2 where nothing is said |
| `setpoint.dev/never-ready` | `true`: it runs and never becomes Ready, until the annotation goes |
| `setpoint.dev/crash-loop` | `true`: its containers end a second after each start, and are started again with growing delay |
| `setpoint.dev/run-for` | seconds after which its containers end; 1 for the pods of Jobs, never for others where nothing is said |
| `setpoint.dev/exit-code` | the code with which they end; 0 where nothing is said, 1 for those that crash |
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from setpoint.k8s.core.v1 import Pod

READY_AFTER = "setpoint.dev/ready-after"
NEVER_READY = "setpoint.dev/never-ready"
CRASH_LOOP = "setpoint.dev/crash-loop"
RUN_FOR = "setpoint.dev/run-for"
EXIT_CODE = "setpoint.dev/exit-code"

SOON = 0.2
"""Seconds until a pod is Ready, where nothing is said."""
SHORTLY = 1.0
"""Seconds that the pod of a Job runs, and a container that crashes."""


class Behaviour(msgspec.Struct, frozen=True):
    """What a pod is going to do. `run_for` is None for one that goes on; `errors` are annotations that make no sense and do not count."""

    ready_after: float = SOON
    never_ready: bool = False
    run_for: float | None = None
    exit_code: int = 0
    crash_loop: bool = False
    errors: tuple[str, ...] = ()


ORDINARY = Behaviour()
OF_A_JOB = Behaviour(run_for=SHORTLY)


def behaviour_of(pod: Pod) -> Behaviour:
    """How a pod is to behave."""
    owner = next((owner for owner in pod.metadata.owner_references if owner.controller), None)
    default = OF_A_JOB if owner is not None and owner.kind == "Job" and owner.api_version == "batch/v1" else ORDINARY
    given = {name: value for name, value in pod.metadata.annotations.items() if name in _KNOWN}
    return _read(given, default) if given else default


_KNOWN = (READY_AFTER, NEVER_READY, CRASH_LOOP, RUN_FOR, EXIT_CODE)


def _read(given: Mapping[str, str], default: Behaviour) -> Behaviour:
    errors: list[str] = []

    def number(name: str, otherwise: float | None) -> float | None:
        text = given.get(name)
        if text is None:
            return otherwise
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value < 1e9:
            errors.append(f"{name}: {text!r} is not a number of 0 or more")
            return otherwise
        return value

    def flag(name: str) -> bool:
        if given.get(name, "false") not in ("true", "false"):
            errors.append(f"{name}: {given[name]!r} is neither true nor false")
        return given.get(name) == "true"

    ready_after, never_ready, crashes = number(READY_AFTER, default.ready_after), flag(NEVER_READY), flag(CRASH_LOOP)
    code = number(EXIT_CODE, 1 if crashes else default.exit_code)
    return Behaviour(
        ready_after=ready_after or 0.0,
        never_ready=never_ready,
        run_for=SHORTLY if crashes else number(RUN_FOR, SHORTLY if EXIT_CODE in given else default.run_for),
        exit_code=int(code or 0),
        crash_loop=crashes,
        errors=tuple(errors),
    )
