"""`Quiet`: waiting until the cluster is at rest, and what goes wrong then."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from setpoint.levelcheck.recording import Rested, Snapshot
from setpoint.levelcheck.run.rest import PATIENCE

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution


class Unsound(Exception):
    """The run cannot be made: the app does not start, a manifest is refused. The text says why."""


class Joined(Exception):
    """From here on the run would be the one without faults."""


class Restless(Exception):
    """The cluster does not come to rest."""


class Quiet:
    """Waits. `snapshots` are how everything was at each rest; `joined` is the rest at which the run was ended as the one without faults."""

    def __init__(self, run: Execution) -> None:
        self._run = run
        self._rests = 0
        self.snapshots: list[Snapshot] = []
        self.joined = 0

    async def rest(self) -> None:
        """Waits for the cluster to come to rest, and once more after what goes wrong then."""
        if self._run.programs.down and not self._run.user.steps_left:
            self._run.programs.down = False
            self._run.programs.start()
        late = any(hold.outlives_waiting for wire in self._run.wires.values() for hold in wire.holds.values())
        if self._run.user.steps_left and (self._run.programs.down or late):
            self._rests = self._run.sites.site("rest").nth
            await self.passes(5.0)  # what is late waits for the user's next step
            return
        await self._until_quiet_without_holds()
        site = self._run.sites.site("rest")
        decisions = self._run.decide(site, "")
        for decision in decisions:
            match decision.fault, decision.how:
                case (("F1" | "F6" | "F16"), _):
                    for name in list(self._run.processes):
                        self._run.programs.crash(name, decision)
                case _, how:
                    await self._run.foreign.do(how, decision.object)
        if decisions:
            await self._until_quiet_without_holds()
        if self._run.foreign.finalizers:
            for key in await self._run.foreign.let_go():
                self._run.violated.setdefault("foreign finalizers", f"somebody else's finalizer was taken off {key}")
            await self.until_quiet()
        self._rests = site.nth
        self._run.tell(Rested(at=self._run.now, process="", nth=site.nth, revision=self._run.plane.server.storage.revision))
        snapshot = self._snapshot(site.nth)
        self.snapshots.append(snapshot)
        if self._run.joins(snapshot):
            self.joined = site.nth
            raise Joined

    def _snapshot(self, nth: int) -> Snapshot:
        return Snapshot(
            nth=nth,
            moments=len(self._run.moments),
            at=self._run.now,
            objects=self._run.view.everything(),
            outside=self._run.outside_state(),
            timers=tuple(sorted(f"{controller} {key}: {cause}" for (controller, key), (_, _, cause) in self._run.activity.timers.items())),
            memory=self._memory(),
        )

    def _memory(self) -> str:
        """What all processes remember; empty if that cannot be told of one of them."""
        each = [process.memory for process in self._run.processes.values()]
        return "|".join(each) if all(each) else ""

    async def _until_quiet_without_holds(self) -> None:
        """Waits until nothing else happens; then what is late comes, and it waits again."""
        await self.until_quiet()
        while any(wire.holds for wire in self._run.wires.values()):
            for wire in self._run.wires.values():
                for resource in list(wire.holds):
                    wire.release(resource)
            await self.until_quiet()

    async def ask_again(self) -> None:
        """Every key is run once more, with nothing to do: whatever is done then is not idempotent."""
        for process in self._run.processes.values():
            process.trigger_all()
        await asyncio.sleep(1.0)
        await self.until_quiet()
        revision = self._run.plane.server.storage.revision
        self._run.tell(Rested(at=self._run.now, process="", nth=self._rests + 1, revision=revision))

    async def until_quiet(self, *, without_processes: bool = False) -> None:
        """Waits until nothing goes on. Raises `Restless` if that never comes, `Unsound` if the run makes no sense."""
        began = self._run.now
        while True:
            self.check()
            until = self._run.activity.quiet_until(began)
            if self._run.now >= until and (without_processes or self._is_idle()):
                return
            if self._run.now - began > PATIENCE:
                raise Restless(f"after {PATIENCE / 3600:.0f} simulated hours it still goes on")
            await self._nap(max(1.0, until - self._run.now))

    async def passes(self, seconds: float) -> None:
        """So much time passes; what would never end is noticed."""
        until = self._run.now + seconds
        while self._run.now < until:
            self.check()
            await self._nap(until - self._run.now)

    async def _nap(self, seconds: float) -> None:
        """So much time passes, less if there will never be rest."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._run.activity.noticed.wait(), seconds)

    def check(self) -> None:
        """Raises what makes waiting useless."""
        if self._run.programs.trouble:
            raise Unsound(self._run.programs.trouble)
        if self._run.activity.endless:
            raise Restless(self._run.activity.endless)

    def _is_idle(self) -> bool:
        if len(self._run.processes) < self._run.case.leaders or self._run.programs.standing_still:
            return False
        if any(wire.is_silent for wire in self._run.wires.values()):
            return False
        return self._run.programs.are_idle and self._run.plane.is_idle and not self._failing()

    def _failing(self) -> bool:
        """Whether a failed run will be tried again soon: that is no rest."""
        return any(cause == "backoff" and after <= 60.0 for _, after, cause in self._run.activity.timers.values())
