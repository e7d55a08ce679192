"""`Faults`: what stands before an API server and does to requests what its rules say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from setpoint.api import ADMIN, Answer, Identity, Operation, ServedStream
from setpoint.api.operation import ConnectionDropped
from setpoint.api.watch import encode_frame
from setpoint.cluster.faults.actions import Action, Cut, Delay, Drop, Late, Refuse, Stale
from setpoint.cluster.faults.clock import ShiftedClock
from setpoint.cluster.faults.rules import Match, Rule, verbs
from setpoint.cluster.faults.stale import stale
from setpoint.cluster.faults.streams import Ending, Told, broken_off, delayed
from setpoint.cluster.server import ApiServer


class Faults:
    """The rules for one server, empty at first. `clock` is the server's, to be put ahead or behind."""

    def __init__(self, server: ApiServer, clock: ShiftedClock) -> None:
        self.clock = clock
        self._server = server
        self._rules: list[Rule] = []
        self._ending: dict[Ending, None] = {}

    def add(
        self,
        action: Action | Rule,
        *,
        verb: str | Iterable[str] = (),
        resource: str | None = None,
        subresource: str | None = None,
        namespace: str | None = None,
        name: str | None = None,
        user: str | None = None,
        agent: str | None = None,
        nth: int = 1,
        times: int | None = None,
        chance: float = 1.0,
    ) -> Rule:
        """Adds a rule, which counts from now on, and gives it: `faults.add(Refuse(429), verb="list", resource="pods", times=3)`.

        What the rest means, `Match` and `Rule` say. Raises `ValueError`.
        """
        if isinstance(action, Rule):
            rule = action
        else:
            match = Match(verbs(verb), resource, subresource, namespace, name, user, agent)
            rule = Rule(action, match, nth=nth, times=times, chance=chance)
        self._rules.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        """Takes a rule out again. That it is out already is no error."""
        self._rules = [kept for kept in self._rules if kept is not rule]

    def clear(self) -> None:
        """Takes all rules out, and sets the clock right. Watches that are late stay so."""
        self._rules.clear()
        self.clock.offset = type(self.clock.offset)()

    def cut(self, resource: str | None = None, *, namespace: str | None = None, cleanly: bool = False) -> int:
        """Breaks off the watches that are open now, of one resource or all, and says how many. With `cleanly`, the server ends them."""
        match = Match(resource=resource, namespace=namespace)
        cut = [ending for ending in self._ending if match.fits(ending.operation, ADMIN)]
        for ending in cut:
            ending.end(cleanly=cleanly)
        return len(cut)

    def __len__(self) -> int:
        return len(self._rules)

    async def handle(self, operation: Operation, identity: Identity = ADMIN) -> Answer | ServedStream:
        """What comes of an operation: see `ApiServer.handle`. Raises `ConnectionDropped`."""
        after: list[Action] = []
        for rule in list(self._rules):
            if not rule.hit(operation, identity, self._server.world.chance):
                continue
            match rule.action:
                case Delay(seconds=seconds, landed=False):
                    await asyncio.sleep(seconds)
                case Drop(before=True):
                    raise ConnectionDropped("the connection was dropped before an answer came")
                case Refuse(landed=False) as refusal:
                    return _refused(refusal, operation)
                case action:
                    after.append(action)
        return await self._landed(operation, identity, after)

    async def _landed(self, operation: Operation, identity: Identity, after: list[Action]) -> Answer | ServedStream:
        behind = next((action for action in after if isinstance(action, Stale)), None)
        if behind is not None:
            return await stale(self._server, operation, identity, behind.behind)
        outcome = await self._server.handle(operation, identity)
        for action in after:
            match action:
                case Delay(seconds=seconds):
                    await asyncio.sleep(seconds)
                case Drop():
                    await _closed(outcome)
                    raise ConnectionDropped("the connection was dropped before an answer came")
                case Refuse():
                    await _closed(outcome)
                    return _refused(action, operation)
                case Late(seconds=seconds) if not isinstance(outcome, Answer):
                    outcome = delayed(outcome, seconds)
                case Cut(events=events, seconds=seconds, cleanly=cleanly) if not isinstance(outcome, Answer):
                    outcome = broken_off(outcome, operation, events, seconds, cleanly=cleanly)
        return outcome if isinstance(outcome, Answer) else self._kept(outcome, operation)

    def _kept(self, stream: ServedStream, operation: Operation) -> ServedStream:
        """The watch, in such a way that `cut` finds it."""
        ending = Ending(stream, operation, forget=lambda: self._ending.pop(ending, None))
        self._ending[ending] = None
        return ending


def _refused(refusal: Refuse, operation: Operation) -> Answer | ServedStream:
    answer = refusal.answer(operation)
    return Told([encode_frame("ERROR", answer.body)]) if operation.verb == "watch" and refusal.code == 410 else answer


async def _closed(outcome: Answer | ServedStream) -> None:
    if not isinstance(outcome, Answer):
        await outcome.close()
