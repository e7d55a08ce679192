"""`level_check`: the check as a whole, stage by stage.

1. *Reference*: a run without faults, twice, which must be the same to the letter; and in other orders of events, which must end alike.
2. *Variants* of the workload: other ways to the same end.
3. *Depth 1*: every single fault, wherever it matters.
4. *Depth 2*: chosen pairs.
5. *Chance*: faults and orders drawn at random, as far as the budget reaches.
6. What was found is made small, told apart by its signature, and explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from setpoint.controller import Controller
from setpoint.levelcheck.assumptions import Assumptions, Invariant, Periodic, Role, Waiver
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.outcome import Broken, Report
from setpoint.levelcheck.process import InLoop, SimulatedProcess, Surroundings, users_chance
from setpoint.levelcheck.processes.forked import Forked, ForkServer
from setpoint.levelcheck.processes.fresh import FreshModules
from setpoint.levelcheck.processes.seal import sealed
from setpoint.levelcheck.processes.target import Target, find
from setpoint.levelcheck.run.execution import Loaders
from setpoint.levelcheck.search.checking import Checking
from setpoint.levelcheck.search.worker import in_worker
from setpoint.levelcheck.workload import Workload
from setpoint.manager import App
from setpoint.world import Chance, Clock, SimulatedLoop, World

Progress = Callable[[int, int, str], None]
"""Hears how many runs are done, how many there will be as far as is known, and what goes on."""


def level_check(
    target: str | Target | Controller[Any] | App,
    workload: Workload,
    *,
    outside: Mapping[str, Callable[[], Any]] | None = None,
    environment: Sequence[str | Target | Controller[Any] | App] = (),
    invariants: Sequence[Invariant] = (),
    roles: Mapping[str, Role] | None = None,
    waivers: Sequence[Waiver] = (),
    periodic: Sequence[Periodic] = (),
    assumptions: Assumptions | None = None,
    leaders: int = 1,
    cluster_controllers: bool = True,
    depth: int = 1,
    budget: float | None = None,
    seed: int = 0,
    mode: str = "fast",
    progress: Progress | None = None,
) -> Report:
    """Checks whether a controller, or an app, is level-based: what it comes to depends on the state alone, whatever goes wrong on the way.

    `target` must be found by name (`"webapp.py:controller"`, `"package.module:app"`, or the object itself). `workload` is what a user does.
    `outside` makes fakes of systems outside the cluster, by the keyword under which the app takes them; each run gets new ones, and they
    survive crashes. `environment` are other controllers in the cluster, which never fail. `invariants` must hold at every revision; `roles`
    say, by resource, of which children there should be one; `waivers` are findings that are meant to be so; `periodic` fields change for
    ever. With `leaders` above one, so many processes run at a time, and one leads. Without `cluster_controllers` the cluster is an API
    server alone: nobody collects garbage, and Deployments make no pods.

    With `depth` 1 all single faults are tried, with 2 chosen pairs as well; with a `budget` of CPU seconds, then faults and orders by
    chance, decided by `seed`. `mode` is "fast" (simulated processes in one), or "fork", where each is an operating system's.

    Raises `BadTarget` for a target that cannot be found by name, and `ValueError` for what makes no sense.
    """
    case = case_of(
        target,
        workload,
        outside=outside,
        environment=environment,
        invariants=invariants,
        roles=roles,
        waivers=waivers,
        periodic=periodic,
        assumptions=assumptions,
        leaders=leaders,
        cluster_controllers=cluster_controllers,
        mode=mode,
    )
    if depth < 0:
        raise ValueError("depth is how many faults happen in a run: 0, 1 or 2")

    def check(heard: Progress) -> Report:
        with programs(case) as loaders:
            checking = Checking(case, loaders, name=_name(target, case), depth=depth, budget=budget, seed=seed, progress=heard)
            return replace(checking.check(), case=Case(target=None, workload=Workload(())))  # which need not be such as can be sent

    return replace(in_worker(check, progress or _unheard), case=case)


def replay(
    target: str | Target | Controller[Any] | App, workload: Workload, *, token: str, progress: Progress | None = None, **declared: Any
) -> Broken | None:
    """Runs again what a token of a report says; gives what is wrong with it, None if nothing is.

    Everything else is as for `level_check`. Raises `SiteGone` where a decision of the token has no place in the run any more.
    """
    for unused in ("depth", "budget", "seed"):
        declared.pop(unused, None)
    case = case_of(target, workload, **declared)

    def check(heard: Progress) -> Broken | None:
        with programs(case) as loaders:
            return Checking(case, loaders, name=_name(target, case), progress=heard).replay(token)

    return in_worker(check, progress or _unheard)


def _unheard(done: int, of: int, what: str) -> None:
    """Nobody wants to hear of progress."""


def case_of(target: Any, workload: Workload, **declared: Any) -> Case:
    """The case, with the target found. Raises as `level_check` does."""
    if not isinstance(workload, Workload):
        raise ValueError(f"workload is a Workload, and not {type(workload).__name__}: Workload.of(apply(...), wait(), ...)")
    if not workload.steps:
        raise ValueError("the workload has no steps: nothing would happen")
    leaders, mode = declared.get("leaders", 1), declared.get("mode", "fast")
    if leaders < 1:
        raise ValueError("leaders is how many processes run at a time: 1 or more")
    if mode not in ("fast", "fork"):
        raise ValueError(f"mode is 'fast' or 'fork', and not {mode!r}")
    return Case(
        target=target if isinstance(target, Target) else find(target),
        workload=workload,
        outside=dict(declared.get("outside") or {}),
        environment=tuple(each if isinstance(each, Target) else find(each) for each in declared.get("environment") or ()),
        invariants=tuple(declared.get("invariants") or ()),
        roles=dict(declared.get("roles") or {}),
        waivers=tuple(declared.get("waivers") or ()),
        periodic=tuple(declared.get("periodic") or ()),
        assumptions=declared.get("assumptions") or Assumptions(),
        leaders=leaders,
        cluster_controllers=bool(declared.get("cluster_controllers", True)),
        mode=mode,
    )


def _name(target: Any, case: Case) -> str:
    return target if isinstance(target, str) else str(case.target)


@contextmanager
def programs(case: Case) -> Iterator[Loaders]:
    """The programs of a case, loaded afresh for each process, and sealed, while the context is open."""
    clocks: dict[str, Clock] = {}
    chances: dict[str, Chance] = {}

    def in_loop(name: str, around: Surroundings, world: World, loop: SimulatedLoop) -> SimulatedProcess:
        process = InLoop(name, around, world, loop)
        clocks[name], chances[name] = process.clock, users_chance(around, name)
        return process

    with ExitStack() as within:
        fresh = within.enter_context(FreshModules(case.target, *case.environment))
        server = within.enter_context(ForkServer()) if case.mode == "fork" else None
        within.enter_context(sealed(clock_of=clocks.get, chance_of=chances.get))
        yield Loaders(
            partial(fresh.load, case.target),
            tuple(partial(fresh.load, each) for each in case.environment),
            process=in_loop if server is None else partial(Forked, server, (case.target,)),
            environment_process=in_loop,
            splits=server is None,
        )
