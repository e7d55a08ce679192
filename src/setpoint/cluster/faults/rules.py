"""Which requests a fault hits, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import msgspec

from setpoint.api import Identity, Operation
from setpoint.api.operation import WRITES, Verb
from setpoint.cluster.faults.actions import Action, Cut, Late, Stale
from setpoint.world import Chance

VERBS: tuple[str, ...] = get_args(Verb)
GROUPS_OF_VERBS = {"read": tuple(verb for verb in VERBS if verb not in WRITES), "write": WRITES}
"""Words for several verbs."""


class Match(msgspec.Struct, frozen=True):
    """Requests that agree in all that is said here; what is not said does not matter.

    `verb` may be several, and `read` or `write`. A `resource` is a plural, with or without its group: `pods`, `deployments.apps`.
    A `subresource` of `""` is the object itself. `user` is who the server says is asking, `agent` how the client's user agent begins.
    Raises `ValueError` for a verb that there is not.
    """

    verb: tuple[str, ...] = ()
    resource: str | None = None
    subresource: str | None = None
    namespace: str | None = None
    name: str | None = None
    user: str | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        for verb in self.verb:
            if verb not in VERBS:
                raise ValueError(f"there is no verb {verb!r}; there are {', '.join(VERBS)}, and read and write for several of them")

    def fits(self, operation: Operation, identity: Identity) -> bool:
        """Whether a request is meant."""
        if self.verb and operation.verb not in self.verb:
            return False
        if self.resource is not None:
            resource = operation.resource
            if resource is None or self.resource not in (resource.resource, str(resource.group_resource)):
                return False
        return (
            self.subresource in (None, operation.subresource)
            and self.namespace in (None, operation.namespace)
            and self.name in (None, operation.name)
            and self.user in (None, identity.user)
            and (self.agent is None or operation.user_agent.startswith(self.agent))
        )


def verbs(words: str | Iterable[str]) -> tuple[str, ...]:
    """Verbs, with the words for several of them put in full."""
    single = (words,) if isinstance(words, str) else words
    return tuple(dict.fromkeys(verb for word in single for verb in GROUPS_OF_VERBS.get(word, (word,))))


class Rule:
    """An action, and which requests it is for.

    Of the requests that match, the first that is hit is the `nth`; each is hit with probability `chance`, and `times` at most (None: for
    ever). `seen` counts those that matched, `hits` those that were hit. Raises `ValueError`.
    """

    def __init__(self, action: Action, match: Match | None = None, *, nth: int = 1, times: int | None = None, chance: float = 1.0) -> None:
        if nth < 1:
            raise ValueError("nth counts from 1 on")
        if times is not None and times < 1:
            raise ValueError("times is a number from 1 on")
        if not 0 < chance <= 1:
            raise ValueError("chance is a probability: more than 0, and 1 at most")
        self.action = action
        self.match = match if match is not None else Match()
        self.nth = nth
        self.times = times
        self.chance = chance
        self.seen = 0
        self.hits = 0

    def hit(self, operation: Operation, identity: Identity, chance: Chance) -> bool:
        """Whether this request is hit, which counts it."""
        if not _can_meet(self.action, operation) or not self.match.fits(operation, identity):
            return False
        self.seen += 1
        spent = self.times is not None and self.hits >= self.times
        if spent or self.seen < self.nth or (self.chance < 1 and chance.uniform(0, 1) >= self.chance):
            return False
        self.hits += 1
        return True

    def __repr__(self) -> str:
        return f"<Rule {self.action} on {self.match}: {self.hits} of {self.seen} hit>"


def _can_meet(action: Action, operation: Operation) -> bool:
    match action:
        case Late() | Cut():
            return operation.verb == "watch"
        case Stale(always=always):
            # What goes on with a list shows the same state as its beginning.
            begins = operation.verb in ("get", "list") and not operation.options.get("continue")
            return begins and (always or operation.options.get("resourceVersion") == "0")
    return True
