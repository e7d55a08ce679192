"""The process around controllers: their life cycle, its health, metrics and logs.

A `Manager` runs controllers against one server: caches first, then controllers, until it is stopped; `options` says how, `life` which part
of it may end when, `grace` how runs are let end, and `oversight` what it says meanwhile. An `App` is an async context manager that receives
the manager, opens what the controllers need, and adds them; `importing` finds apps and controllers by their names. `election/` says how one
of several processes comes to lead, `metrics/` what is counted, `flight/` why each key ran and what that changed. `permissions` says what
controllers need to be allowed, and `self_check` asks the server whether it is. `health` is what the probes ask, `endpoints` serves it and
the metrics, `hooks` is what others may call, and `logs` writes the log.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.manager.election import LeaderElection, LeadershipLost
    from setpoint.manager.life import Phase
    from setpoint.manager.manager import App, Manager
    from setpoint.manager.options import Options
    from setpoint.manager.self_check import PermissionsMissing

__all__ = ["App", "LeaderElection", "LeadershipLost", "Manager", "Options", "PermissionsMissing", "Phase"]
_ROOMS = {
    "App": "manager",
    "LeaderElection": "election",
    "LeadershipLost": "election",
    "Manager": "manager",
    "Options": "options",
    "PermissionsMissing": "self_check",
    "Phase": "life",
}


def __getattr__(name: str) -> object:
    # Imported when first asked for: `logs`, which every program needs, takes none of it.
    if name in _ROOMS:
        return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
