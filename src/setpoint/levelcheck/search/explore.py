"""Exploring: many runs that begin alike and go different ways.

Runs of one case are equal until something goes wrong. So the run without faults is made once, the *trunk*, and at each place where a
decision is to be tried the process is forked: the child takes the decision and goes on to its own end, and its findings come back by a
pipe. The trunk goes on as if nothing had been asked. Whatever a run leaves behind ends with its process.

Where the process cannot be forked (a plain `def` reconciler is in its thread, or simulated processes are the operating system's), the plan
is run from its beginning instead.
"""

from __future__ import annotations

import contextvars
import os
import pickle
import select
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import Recording, Snapshot
from setpoint.levelcheck.run.execution import Execution, Loaders
from setpoint.levelcheck.workload import Workload

R = TypeVar("R")

CPU_LIMIT = 60.0
"""CPU seconds that one run may take: what takes longer hangs."""
WALL_LIMIT = 900.0
"""Seconds that a run and all that branches off it may take."""


class Hung(msgspec.Struct, frozen=True):
    """A run that did not end. `why` says so."""

    why: str


class CheckFailed(Exception):
    """A run has failed in a way that is none of the controller's doing. The text is a traceback, or says how its process ended."""


class Explored(msgspec.Struct, Generic[R]):
    """What came of one plan."""

    plan: Plan
    result: R | Hung


class Explorer(Generic[R]):
    """Explores plans of one case.

    `choose(plan, site)` gives the decisions that are to be tried at a place of the run under a plan, each in a run of its own; `judge`
    makes of each recording what is to come back, which can be pickled. `joins(plan, snapshot)` may end a run at a rest, because from there
    on it would be the trunk. `prepared` is an execution that has begun, and from which runs are forked instead of beginning anew.

    `hear` is told how many runs have branched off so far, each time that there is one more; that is in a process of its own.

    Raises `CheckFailed`.
    """

    def __init__(
        self,
        case: Case,
        loaders: Loaders,
        choose: Callable[[Plan, Site], Sequence[Decision]],
        judge: Callable[[Recording], R],
        joins: Callable[[Plan, Snapshot], bool] = lambda plan, snapshot: False,
        prepared: Execution | None = None,
        hear: Callable[[int], None] = lambda number: None,
    ) -> None:
        self._case = case
        self._loaders = loaders
        self._choose = choose
        self._judge = judge
        self._joins = joins
        self._prepared = prepared
        self._hear = hear
        self._plan = Plan()
        self._run: Execution | None = None
        self._found: list[Explored[R]] = []
        self._deferred: list[Plan] = []
        self._pipe = -1

    def explore(self, plan: Plan, workload: Workload) -> list[Explored[R]]:
        """Runs the plan, and all that branches off it; the plan's own result comes last. Nothing of it happens in this process."""
        found: list[Explored[R]] = []
        waiting = [plan]
        while waiting:
            made, deferred = self._forked(partial(self._root, waiting.pop(), workload))
            found += made
            waiting += deferred
        return found

    def _root(self, plan: Plan, workload: Workload) -> None:
        self._plan, self._found, self._deferred = plan, [], []
        prepared = self._prepared
        if prepared is not None and not any(decision.site.where == "start" for decision in plan.decisions):
            self._run = run = prepared
            run.sites.fork, run.joins = self._branch, self._joined
            run.continue_as(plan, workload)
            recording = run.go_on()
        else:
            self._run = run = Execution(self._case, plan, workload, self._loaders, self._branch, self._joined)
            recording = run.run()
        # Here it may be any of the children: what it has found is its own, and that of its own branches.
        self._found.append(Explored(self._plan, self._judge(recording)))

    def _joined(self, snapshot: Snapshot) -> bool:
        return self._joins(self._plan, snapshot)

    def _branch(self, site: Site) -> Decision | None:
        """Called at each place: forks for each decision to be tried; gives the decision in the child, and None in the trunk."""
        run = self._run
        assert run is not None
        for decision in self._choose(self._plan, site):
            plan = msgspec.structs.replace(self._plan, decisions=(*self._plan.decisions, decision))
            if run.world.threads.running or not self._loaders.splits:
                self._deferred.append(plan)
                continue
            if self._fork(plan):
                return decision
            self._hear(len(self._found))
        return None

    def _fork(self, plan: Plan) -> bool:
        """True in the child."""
        reading, writing = os.pipe()
        pid = contextvars.Context().run(os.fork)  # it is not the simulated process that forks
        if pid == 0:
            os.close(reading)
            if self._pipe >= 0:
                os.close(self._pipe)
            self._pipe = writing
            self._plan, self._found, self._deferred = plan, [], []
            assert self._run is not None
            self._run.plan = plan
            self._run.loop.goes_on_in_child()
            _limit_cpu()
            return True
        os.close(writing)
        made, deferred = _received(reading, pid, plan)
        self._found += made
        self._deferred += deferred
        return False

    def _forked(self, work: Callable[[], None]) -> tuple[list[Explored[R]], list[Plan]]:
        reading, writing = os.pipe()
        pid = contextvars.Context().run(os.fork)  # it is not the simulated process that forks
        if pid == 0:
            os.close(reading)
            self._pipe = writing
            self._in_child(work)
        os.close(writing)
        return _received(reading, pid, self._plan)

    def _in_child(self, work: Callable[[], None]) -> None:
        """Does the work, sends what was found, and ends the process without any of Python's endings."""
        code = 1
        try:
            _limit_cpu()
            work()
            _send(self._pipe, (self._found, self._deferred))
            code = 0
        except CheckFailed as error:  # of a run that branched off this one: its own words
            _send(self._pipe, str(error))
        except BaseException:
            _send(self._pipe, f"{self._plan}:\n{traceback.format_exc()}")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _limit_cpu() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT)


def _send(pipe: int, value: Any) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    with os.fdopen(pipe, "wb") as file:
        file.write(data)


def _received(pipe: int, pid: int, plan: Plan) -> tuple[list[Explored[Any]], list[Plan]]:
    data = bytearray()
    with os.fdopen(pipe, "rb", buffering=0) as file:
        poll = select.poll()
        poll.register(file, select.POLLIN | select.POLLHUP)
        hung = False
        while True:
            if not poll.poll(WALL_LIMIT * 1000):
                os.kill(pid, signal.SIGKILL)
                hung = True
                break
            piece = file.read(1 << 20)
            if not piece:
                break
            data += piece
    _, status = os.waitpid(pid, 0)
    if hung or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF):
        return [Explored(plan, Hung("the run does not end: does a reconciler loop for ever?"))], []
    if not data:
        raise CheckFailed(f"{plan}: the process of the run ended without a word (status {status})")
    value = pickle.loads(bytes(data))
    if isinstance(value, str):
        raise CheckFailed(value)
    found, deferred = value
    return found, deferred
