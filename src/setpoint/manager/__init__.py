"""The process around controllers: their life cycle, its health, metrics and logs.

A `Manager` runs controllers against one server: caches first, then controllers, until it is stopped; `options` says how, `life` which part
of it may end when, `grace` how runs are let end, and `oversight` what it says meanwhile. An `App` is an async context manager that receives
the manager, opens what the controllers need, and adds them. `election` says how one of several processes comes to lead,
`election_states` and `election_rules` are that as a state machine; `elector` and `leadership` carry it out, `lease` speaks of it with the
server, and `fence` holds writes back while this one does not lead. `permissions` says what controllers need to be allowed, and `self_check`
asks the server whether it is. `health` is what the probes ask, `endpoints` serves it and the metrics, `logs` writes the log.
`flight_recorder` remembers why each key ran and what that changed, `loops` finds keys that go round in circles, and `why` answers what
people ask of both, on the `debug_endpoint`.
"""

from setpoint.manager.election import LeaderElection, LeadershipLost
from setpoint.manager.life import Phase
from setpoint.manager.manager import App, Manager
from setpoint.manager.options import Options
from setpoint.manager.self_check import PermissionsMissing

__all__ = ["App", "LeaderElection", "LeadershipLost", "Manager", "Options", "PermissionsMissing", "Phase"]
