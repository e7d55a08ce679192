"""The seal: what code inside a simulated process sees of the machine, while a check runs.

Time is the simulation's: `time.time`, `datetime.now`, `time.monotonic` and the like show the process's own clock, and `time.sleep` waits in
simulated time (`virtual_time`). Chance comes from a seed: `random`, `secrets`, `os.urandom`, `uuid` (`seeded_chance`). Threads, sockets and
other programs are refused, in one sentence that says what to do instead (`refusals`). Code outside simulated processes, which no `PROCESS`
is set for, finds everything as it was; `within` tells the two apart.

Functions are replaced where they live, and where installed packages have taken them from by `from ... import` or as a default argument
(`substitution`). What a library asks of the operating system by other ways goes unseen: numpy's generators, locks and queues that wait for
a time, the names of machines, the numbers of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from setpoint.levelcheck.processes.seal import refusals, seeded_chance, virtual_time
from setpoint.levelcheck.processes.seal.substitution import substituted
from setpoint.levelcheck.processes.seal.within import Refused, Seal, opened
from setpoint.world import Chance, Clock

__all__ = ["Refused", "Seal", "sealed"]


@contextmanager
def sealed(*, clock_of: Callable[[str], Clock | None], chance_of: Callable[[str], Chance | None]) -> Iterator[Seal]:
    """Seals all simulated processes while the context is open; enter it once for a check.

    Clock and chance are asked for by the process's name (`a` for all its parts, such as `a/election`), each time anew; a process that has
    none finds the machine's. Raises `RuntimeError` inside another seal, and `ImportError` where the package `time-machine` is missing.
    """
    seal = Seal(clock_of, chance_of)
    with ExitStack() as stack:
        stack.enter_context(opened(seal))
        stack.enter_context(refusals.refusing())
        stack.enter_context(virtual_time.traveling())
        stack.enter_context(substituted([*virtual_time.functions(), *seeded_chance.functions()]))
        stack.enter_context(seeded_chance.seeding())
        yield seal
