"""Who leads: of all processes that name the same Lease, one at most runs its controllers.

`settings` is what can be chosen. `states` and `rules` are the election as a state machine, pure and without a clock; `elector` carries it
out against a server, `lease` is what it says there, and `leadership` is a manager's part in it, on a thread and a connection of its own.
`fence` holds every write back while this process does not lead.

https://kubernetes.io/docs/concepts/architecture/leases/
"""

from setpoint.manager.election.settings import LeaderElection, LeadershipLost

__all__ = ["LeaderElection", "LeadershipLost"]
