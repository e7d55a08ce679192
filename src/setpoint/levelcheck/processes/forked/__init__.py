"""Simulated processes that are the operating system's: the second mode of the checker, slower, and the judge of the first.

A `ForkServer` is a program of its own, in which Setpoint has been imported and nothing of the user's. Each simulated process is forked from
it, imports the user's modules for the first time, and is crashed by SIGKILL: there is nothing that it could share with another one.

Only one of them ever runs. The process of the run (`process`) has the server, the wires, the fakes and the time. It hands over to a child,
with the time and what has come in; the child (`child`) runs the production code on a loop of its own until it has nothing to do at that
time, and hands back what it asks for, what its observer has heard, and when its next timer is. `link` is what they say to each other.
"""

from __future__ import annotations

from setpoint.levelcheck.processes.forked.process import Forked
from setpoint.levelcheck.processes.forked.server import ForkServer

__all__ = ["ForkServer", "Forked"]
