"""`python profiled.py FILE ARGUMENTS...` is `setpoint ARGUMENTS...` under cProfile.

FILE.controllers holds the main thread's figures, FILE.server those of the embedded server's thread.
"""

from __future__ import annotations

import cProfile
import sys
import threading

from setpoint.cli import main
from setpoint.world.loop_thread import LoopThread

FILE = sys.argv.pop(1)
run_loop = LoopThread._main


def profiled(self: LoopThread) -> None:
    """The server's thread, under a profiler of its own."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        run_loop(self)
    finally:
        profile.disable()
        profile.dump_stats(f"{FILE}.server")


LoopThread._main = profiled  # type: ignore[method-assign]  # a profiler sees only the thread that it was switched on in
assert threading.current_thread() is threading.main_thread()
profile = cProfile.Profile()
try:
    profile.runcall(main)
finally:
    profile.dump_stats(f"{FILE}.controllers")
