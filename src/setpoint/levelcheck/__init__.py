"""The level checker: is a controller level-based? It proves so within a stated bound, or shows the shortest trace that breaks it.

The production manager, controller, queue, cache and client run on an embedded control plane in simulated time. A run without faults is
recorded; then every single fault that a real cluster may do is done once at every place where it matters, and what comes of it is compared.
"""

from __future__ import annotations

from setpoint.levelcheck.assumptions import Assumptions, Invariant, Periodic, Role, State, Waiver
from setpoint.levelcheck.workload import Step, Workload, advance, apply, delete, patch, recreate, wait

__all__ = [
    "Assumptions",
    "Invariant",
    "Periodic",
    "Role",
    "State",
    "Step",
    "Waiver",
    "Workload",
    "advance",
    "apply",
    "delete",
    "patch",
    "recreate",
    "wait",
]
