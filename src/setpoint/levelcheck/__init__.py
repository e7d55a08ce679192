"""The level checker: is a controller level-based? It proves so within a stated bound, or shows the shortest trace that breaks it.

The production manager, controller, queue, cache and client run on an embedded control plane in simulated time. A run without faults is
recorded; then every single fault that a real cluster may do is done once at every place where it matters, and what comes of it is compared.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from setpoint.levelcheck.assumptions import Assumptions, Invariant, Periodic, Role, State, Waiver
from setpoint.levelcheck.workload import Step, Workload, advance, apply, delete, patch, recreate, wait

if TYPE_CHECKING:
    from setpoint.levelcheck.check import level_check, replay
    from setpoint.levelcheck.outcome import Report
    from setpoint.levelcheck.search.checking import SiteGone

__all__ = [
    "Assumptions",
    "Invariant",
    "Periodic",
    "Report",
    "Role",
    "SiteGone",
    "State",
    "Step",
    "Waiver",
    "Workload",
    "advance",
    "apply",
    "delete",
    "level_check",
    "patch",
    "recreate",
    "replay",
    "wait",
]

_LATER = {
    "Report": "setpoint.levelcheck.outcome",
    "SiteGone": "setpoint.levelcheck.search.checking",
    "level_check": "setpoint.levelcheck.check",
    "replay": "setpoint.levelcheck.check",
}


def __getattr__(name: str) -> object:
    # Imported when first asked for: whoever writes a workload needs no cluster for it.
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
