"""The stateful test: hypothesis makes a sequence of steps about one kind, and both servers must answer alike, step by step."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from .coverage import Coverage
from .generate import Author
from .kinds import BY_SORT, DEFINITIONS, Kind
from .servers import Server
from .session import FIRST, Different, Session, Side
from .steps import Answer, Json, Request, Step

WATCHES = 3
"""That many watches stand at once in a sequence, at most."""


@dataclass
class Field:
    """What the sequences of one run share: the two servers, and what has been counted."""

    real: Server
    ours: Server
    coverage: Coverage = field(default_factory=Coverage)
    prefix: str = "diff"
    found: Callable[[Session, Different], None] | None = None
    """Takes a difference instead of letting it end the run."""

    def __post_init__(self) -> None:
        self._numbers: Iterator[int] = itertools.count(1)

    def namespace(self) -> str:
        """One that has not been used."""
        return f"{self.prefix}-{next(self._numbers):06d}"

    def sides(self) -> list[Side]:
        """Both servers, the real one first, for a new sequence."""
        namespace = self.namespace()
        return [Side(server, namespace) for server in (self.real, self.ours)]

    def define(self) -> None:
        """Has both servers serve the custom kinds. Raises AssertionError."""
        for server in (self.real, self.ours):
            define(server)


def ask(server: Server, method: str, path: str, body: Json = None, content_type: str = "application/json") -> Answer:
    """One plain request."""
    step = Step("", "", method, path, (), body, content_type)
    return server.begin(Side(server, "none").memory.request(step))()


def define(server: Server) -> None:
    """Defines the custom kinds, and waits until they are served."""
    for definition in DEFINITIONS:
        answer = ask(server, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        assert answer.status in (201, 409), answer.body
    for definition in DEFINITIONS:
        spec = definition["spec"]
        for version in spec["versions"]:
            while ask(server, "GET", f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}").status == 404:
                pass


@cache
def below(limit: int) -> st.SearchStrategy[int]:
    """Numbers below one; they shrink to 0."""
    return st.integers(0, limit - 1)


@st.composite
def written(draw: st.DrawFn, author: Author) -> Step:
    """The next step of an author."""
    return author.write(lambda limit: draw(below(limit)))


def machine(common: Field, kinds: tuple[Kind, ...], weights: Mapping[str, int]) -> type[RuleBasedStateMachine]:
    """A state machine about one of these kinds. `weights` say how often each verb is wanted, and so which kinds are."""
    limits = tuple(accumulate(1 + sum(weights.get(verb, 0) for verb in kind.verbs) for kind in kinds))

    class Conversation(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.over = False
            self.session = Session(common.sides())

        @initialize(data=st.data())
        def begin(self, data: st.DataObject) -> None:
            kind = kinds[bisect_right(limits, data.draw(below(limits[-1])))]
            self.author = Author(kind, self.session.sides[0].memory, weights)
            self.take(FIRST)

        @rule(data=st.data())
        def step(self, data: st.DataObject) -> None:
            if self.over:
                return
            step = data.draw(written(self.author))
            if step.what == "watch" and len(self.session.watching) >= WATCHES:
                return
            self.take(step)

        def take(self, step: Step) -> None:
            try:
                answer = self.session.take(step)
            except Different as different:
                self.end(different)
                return
            if step.what != "watch" or not answer.ok:
                common.coverage.count(step, answer.ok)
            self.author.saw(step, answer)

        def end(self, different: Different) -> None:
            self.over = True
            if common.found is None:
                raise different
            common.found(self.session, different)

        def teardown(self) -> None:
            try:
                if not self.over:
                    for watching in self.session.watching:
                        self.take(self.author.marker(watching.step))
                        if self.over:
                            return
                    for watching in self.session.watching:
                        try:
                            self.session.drain(watching)
                        except Different as different:
                            self.end(different)
                            return
                        common.coverage.count(watching.step, True)
            finally:
                common.coverage.waived.update(self.session.waived)
                self.session.close()
                swept(self.session, self.author)

    return Conversation


def swept(session: Session, author: Author) -> None:
    """Removes what a sequence has made, on each server by itself."""
    kind = author.kind
    for side in session.sides:
        for reference in side.memory.objects:
            if reference.startswith(f"{kind.plural}/") and kind.plural != "namespaces":
                remove(side, author.path(reference, kind.versions[0]), side.memory.objects[reference][-1])


def remove(side: Side, path: str, last: Json) -> None:
    """Deletes an object for good, if it is there."""
    target = side.memory.resolve(path)
    let_go = Request("PATCH", target, b'{"metadata":{"finalizers":null}}', "application/merge-patch+json", "application/json")
    if last["metadata"].get("finalizers"):
        side.server.begin(let_go)()
    answer = side.server.begin(Request("DELETE", f"{target}?gracePeriodSeconds=0", b"", "", "application/json"))()
    if answer.ok and isinstance(answer.body, dict) and answer.body.get("metadata", {}).get("finalizers"):
        side.server.begin(let_go)()


def converse(
    common: Field,
    sort: str,
    *,
    seed: int,
    examples: int,
    steps: int,
    shrink: bool = True,
    kinds: tuple[Kind, ...] | None = None,
    focus: Mapping[str, int] | None = None,
) -> None:
    """So many sequences about kinds of one class, or about the kinds given. Raises `Different`, after the smallest sequence that shows it.

    `focus` says how often each verb is wanted; otherwise that goes by what has succeeded least.
    """
    chosen = kinds or BY_SORT[sort]
    weights = focus if focus is not None else common.coverage.lacking(sort)
    run_state_machine_as_test(
        seeded(seed)(machine(common, chosen, weights)),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=[Phase.generate, *([Phase.shrink] if shrink else [])],
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        ),
    )
