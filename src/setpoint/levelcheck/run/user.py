"""`User`: who does the steps of the workload."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from setpoint.levelcheck.recording import Stepped
from setpoint.levelcheck.workload import Advance, Apply, Delete, Patch, Recreate, Step, Wait, Workload

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution


class User:
    """Does one step after the other. `steps_left` are those that change something."""

    def __init__(self, run: Execution) -> None:
        self._run = run
        self.steps_left = 0

    async def work(self, workload: Workload) -> None:
        """All steps; at the end the cluster is at rest."""
        self.steps_left = sum(not isinstance(step, Wait | Advance) for step in workload.steps)
        for step in workload.steps:
            await self.step(step)
        if not workload.steps or not isinstance(workload.steps[-1], Wait):
            await self._run.quiet.rest()

    async def step(self, step: Step) -> None:
        """The user does a step."""
        await asyncio.sleep(0.02)  # a user is slower than a network
        if isinstance(step, Wait):
            await self._run.quiet.rest()
            return
        if isinstance(step, Advance):
            self._run.tell(Stepped(at=self._run.now, process="user", index=len(self._run.moments), step=str(step)))
            await self._run.quiet.passes(step.seconds)
            return
        site = self._run.sites.site("step", "user", str(step))
        self.steps_left -= 1
        back = ""
        for decision in self._run.decide(site, "user"):
            match decision.fault, decision.how:
                case "F13", how:
                    back = how
                    for name in list(self._run.processes):
                        self._run.programs.die(name)
                case "F18", "finalizer":
                    await self._run.foreign.do("finalizer", decision.object)
                case _:
                    raise ValueError(f"{decision}: this cannot happen to a step")
        error, key = await self._do(step), self._run.foreign.key(step.ref)
        self._run.tell(Stepped(at=self._run.now, process="user", index=len(self._run.moments), step=str(step), error=error, key=key))
        if self._run.programs.down:
            self._run.programs.down, back = False, "rest"
        if back and len(self._run.processes) < self._run.case.leaders:
            await self._come_back(back)

    async def _come_back(self, how: str) -> None:
        if how == "rest":
            await self._run.quiet.until_quiet(without_processes=True)
        else:
            await asyncio.sleep(1.0)
        self._run.programs.start_all()

    def _wait_for_controllers(self) -> None:
        """What is late comes, and who is down comes back: an object does not go before they let it go, and the user waits for that."""
        for wire in self._run.wires.values():
            for resource in list(wire.holds):
                wire.release(resource)
        if not self._run.processes:
            self._run.programs.start_all()

    async def _do(self, step: Step) -> str:
        match step:
            case Apply():
                return await self._run.foreign.apply(step.ref, step.manifest)
            case Patch(ref, patch, subresource):
                return await self._run.foreign.patch(ref, patch, subresource)
            case Delete(ref, propagation):
                return await self._run.foreign.delete(ref, propagation)
            case Recreate(ref, manifest):
                error = await self._run.foreign.delete(ref, "Background")
                for turn in range(1000):
                    if not self._run.foreign.is_there(ref):
                        break
                    if turn == 100:
                        self._wait_for_controllers()
                    self._run.quiet.check()
                    await asyncio.sleep(0.05 if turn < 100 else 1.0)
                return error or await self._run.foreign.apply(ref, manifest)
        raise ValueError(f"{step}: the user does not know how to")
