"""`Options`: how a manager behaves."""

from __future__ import annotations

import msgspec

from setpoint.controller.thread_pool import THREADS
from setpoint.manager.election import LeaderElection


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a manager behaves; the defaults are controller-runtime's where it has one.

    `namespace`, or `namespaces`, restrict what is watched; without either, all is, and with an empty set nothing yet. With
    `namespace_labels` (`"team=a"`) those with these labels are watched, as labels and namespaces change. `metrics`, `health` and `hooks`
    are addresses (host, port), None for no endpoint.
    `grace` is the seconds that runs may take to end after `stop`. After `patience` seconds a run that has not ended is named in a warning;
    so is the place at which the event loop is blocked for `blocked` seconds, and a kind that is not there yet, every `waiting` seconds.
    `process_metrics` adds the program's own figures, `request_metrics` how long requests take and how large they are.
    With `leader_election`, of all processes that name the same Lease one at most runs its controllers.
    What the server does not allow is said at the start, unless `check_permissions` is false or time is simulated; with
    `require_permissions`, a manager that may not read what its controllers watch does not start.
    `threads` is how many plain `def` reconcilers run at a time, of all controllers together.
    The `flight_recorder` remembers the last runs of each key, and finds those that go round in circles; `debug` is the address at which it
    is asked.
    """

    namespace: str = ""
    namespaces: tuple[str, ...] | None = None
    namespace_labels: str = ""
    check_permissions: bool = True
    require_permissions: bool = False
    metrics: tuple[str, int] | None = None
    health: tuple[str, int] | None = None
    hooks: tuple[str, int] | None = None
    host: str = ""
    grace: float = 30.0
    patience: float = 60.0
    blocked: float = 1.0
    waiting: float = 10.0
    process_metrics: bool = False
    request_metrics: bool = False
    leader_election: LeaderElection | None = None
    flight_recorder: bool = True
    debug: tuple[str, int] | None = None
    threads: int = THREADS
