"""Faults: what a real cluster now and then does to its clients, done on purpose, for tests and for `setpoint server --fault`.

A `Rule` says which requests are hit (`Match`), how often, and what happens to them: one of the actions in `actions`. `Faults` stands
before an API server and asks the rules, in the order in which they were added; so a fault is the same in this process and over HTTP.
Without a rule it is not in the way. `ShiftedClock` and `SlowDisk` are parts of a server that are out of order. `text` reads all of them
from a command line.

Faults are sound unless they say that they are not: a healthy watch never skips an event, what comes late comes in order, and a dropped
connection leaves it open whether the write happened. Each is replayed by its seed: chance is the world's.
"""

from setpoint.cluster.faults.actions import Action, Cut, Delay, Drop, Late, Refuse, Stale
from setpoint.cluster.faults.clock import ShiftedClock
from setpoint.cluster.faults.disk import SlowDisk
from setpoint.cluster.faults.gate import Faults
from setpoint.cluster.faults.rules import Match, Rule
from setpoint.cluster.faults.text import Setting, parse_fault

__all__ = [
    "Action",
    "Cut",
    "Delay",
    "Drop",
    "Faults",
    "Late",
    "Match",
    "Refuse",
    "Rule",
    "Setting",
    "ShiftedClock",
    "SlowDisk",
    "Stale",
    "parse_fault",
]
