"""`Case`: what is checked, and under what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from setpoint.levelcheck.assumptions import Assumptions, Invariant, Periodic, Role, Waiver
from setpoint.levelcheck.workload import Workload


@dataclass(frozen=True, kw_only=True)
class Case:
    """A controller or app, what a user does with it, and what is declared about it: see `level_check`."""

    target: Any
    workload: Workload
    outside: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    environment: tuple[Any, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    periodic: tuple[Periodic, ...] = ()
    assumptions: Assumptions = field(default_factory=Assumptions)
    leaders: int = 1
    cluster_controllers: bool = True
    mode: str = "fast"
