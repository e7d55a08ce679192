"""A story: whatever can happen to one informer, in any order, and after each step what must hold.

The steps come from a seed. Each may be left out, so that a story that fails can be cut down to the steps that matter.
"""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any, TypeAlias

from setpoint.api import LabelSelector
from setpoint.api.status import expired, failure
from setpoint.api.watch import encode_frame
from setpoint.objects import Request
from setpoint.world import new_loop, run_to_end, simulated_world

from .model import ModelServer, Setup, labels_of, version_of

Step: TypeAlias = tuple[str, dict[str, Any]]

KEYS = [Request("default", name) for name in "abc"]
REFUSALS = [failure(500, "InternalError", "x"), failure(429, "TooManyRequests", "x"), expired("too old"), failure(403, "Forbidden", "x")]
LENGTH = 50


def uid_of(data: bytes) -> str:
    uid: str = json.loads(data)["metadata"]["uid"]
    return uid


class Story:
    """One server, one informer, and what they have been through."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(f"setting {seed}")
        self.loop = new_loop()
        self.server = ModelServer(streaming_lists=chance.random() < 0.5, page=chance.choice([1, 2, 500]))
        self.server.mute = chance.random() < 0.15
        self.server.replays = chance.choice([0, 0, 1, 5])
        for name in "abc":
            if chance.random() < 0.5:
                self.server.put(name, labels={"app": "x"})
        selector = chance.choice(["", "app=x"])
        self.selector = LabelSelector.parse(selector)
        self.own: dict[Request, list[tuple[int, bytes | None]]] = {}
        """The answered own writes: version, and the object or None."""
        self.late: list[bytes] = []
        self.newest = 0
        self.told = 0

        async def make() -> Setup:
            return Setup(simulated_world(self.loop, seed=seed), self.server, labels=selector)

        self.setup = self.loop.run_until_complete(make())
        if chance.random() < 0.7:
            self.wait(1)
        if chance.random() < 0.3:
            self.server.hold()

    def tell(self, steps: list[Step]) -> None:
        """Goes through the steps, and then to rest."""
        try:
            for name, arguments in steps:
                getattr(self, name)(**arguments)
                self.check()
            self.come_to_rest()
        finally:
            run_to_end(self.loop, asyncio.sleep(0))
            self.loop.close()

    # the server

    def foreign_put(self, name: str, labels: dict[str, str]) -> None:
        """Somebody else's write, or one of ours whose answer never comes."""
        self.server.put(name, labels=labels)
        self.wait(0)

    def foreign_delete(self, name: str) -> None:
        if Request("default", name) in self.server.state:
            self.server.delete(name)
            self.wait(0)

    def foreign_recreate(self, name: str, labels: dict[str, str]) -> None:
        """Before anybody can have seen that it was gone."""
        if Request("default", name) in self.server.state:
            self.server.delete(name)
        self.server.put(name, labels=labels)
        self.wait(0)

    def quietly(self, what: str) -> None:
        getattr(self.server, what)()
        self.wait(0)

    # this process

    def own_put(self, name: str, labels: dict[str, str], late: bool) -> None:
        # Only the answers of updates overtake one another: nobody deletes what he does not know to be created.
        late = late and Request("default", name) in self.server.state
        answer = self.server.put(name, labels=labels)
        if late:
            self.late.append(answer)
        else:
            self._answered(answer)
        self.wait(0)

    def late_answer(self, at: int) -> None:
        if self.late:
            self._answered(self.late.pop(at % len(self.late)))

    def own_delete(self, name: str) -> None:
        key = Request("default", name)
        if key in self.server.state:
            seen = self.setup.informer.get(key)
            uid = self.server.delete(name)
            self.setup.informer.deleted(key, uid)
            if seen is not None and uid_of(seen) == uid:
                self.own.setdefault(key, []).append((self.server.version, None))
            self.wait(0)

    def own_recreate(self, name: str, labels: dict[str, str]) -> None:
        self.own_delete(name)
        self.own_put(name, labels, False)

    def _answered(self, data: bytes) -> None:
        self.setup.informer.wrote(data)
        self.own.setdefault(Request("default", json.loads(data)["metadata"]["name"]), []).append((version_of(data), data))

    # the network

    def hold(self) -> None:
        self.server.hold()

    def deliver_some(self, count: int) -> None:
        if self.server.held:
            for stream, event in self.server.held[:count]:
                stream.deliver(*event)
            del self.server.held[:count]
            self.wait(0)

    def release(self) -> None:
        self.server.release()
        self.wait(0)

    def fail(self, what: str) -> None:
        match what:
            case "cut":
                self.server.cut()
            case "end":
                self.server.end()
            case "expire":
                self.server.say(encode_frame("ERROR", expired("too old").status.encode()))
            case "fall silent":
                self.server.streams.clear()
        self.wait(0)

    def refuse(self, which: list[int]) -> None:
        self.server.failures = [REFUSALS[at].status.answer() for at in which]

    def relist(self) -> None:
        """The history is forgotten while nobody looks, also between two pages of a list."""
        self.server.cut()
        self.server.elsewhere()
        self.server.forget()
        self.wait(0.5)
        self.wait(0.0015)
        self.server.elsewhere()
        self.server.forget()
        self.wait(0)

    def later(self, seconds: float) -> None:
        self.wait(seconds)

    def wait(self, seconds: float) -> None:
        """Time passes; with 0, what is on its way arrives and nothing else."""
        self.loop.run_until_complete(asyncio.sleep(seconds or 0.0001))

    # what always holds

    def selected(self, state: dict[Request, bytes]) -> dict[Request, bytes]:
        return {key: data for key, data in state.items() if self.selector.matches(labels_of(data))}

    def base(self) -> dict[Request, bytes]:
        return {key: data for key in KEYS if (data := self.setup.informer.base(key)) is not None}

    def check(self) -> None:
        self.the_base_is_a_prefix_of_the_history_and_never_goes_back()
        self.the_view_is_the_base_and_our_own_writes_that_it_does_not_show_yet()

    def the_base_is_a_prefix_of_the_history_and_never_goes_back(self) -> None:
        version = self.setup.informer.version
        assert version >= self.newest, f"the base went back from {self.newest} to {version}"
        self.newest = version
        expected = self.selected(self.server.prefix(version)) if self.setup.informer.has_synced else {}
        assert self.base() == expected, f"the base is not the history at {version}"
        assert self.setup.told.state == expected, "what was told is not what is there"
        assert self.setup.informer.size == sum(map(len, expected.values()))
        assert not self.setup.mistakes, self.setup.mistakes
        assert not self.setup.task.done()

    def the_view_is_the_base_and_our_own_writes_that_it_does_not_show_yet(self) -> None:
        informer = self.setup.informer
        expected, view = self.base(), {key: data for key in KEYS if (data := informer.get(key)) is not None}
        assert informer.list() == informer.list(namespace="default") == [view[key] for key in sorted(view)]
        for key, writes in self.own.items():
            version, data = max(writes, key=lambda write: write[0])
            if version <= informer.version:
                continue
            if data is None and self.selector:
                # On its way to its deletion it may have left the selection and come back, which looks like a deletion and a creation.
                expected.pop(key, None)
                view.pop(key, None)
            elif data is not None and self.selector.matches(labels_of(data)):
                expected[key] = data
            else:
                expected.pop(key, None)
        assert view == expected, "the view is not the base and our own writes"

    def come_to_rest(self) -> None:
        self.server.failures = []
        self.server.mute = False
        self.server.release()
        for _ in range(4):
            self.wait(100)
            self.server.bookmark()
        self.wait(1)
        assert self.setup.informer.version == self.server.version, "it does not catch up"
        assert self.base() == self.selected(self.server.state) == self.setup.told.state
        assert self.setup.informer._view.own_writes == 0
        self.check()


_WEIGHTS = {
    "foreign_put": 6,
    "foreign_delete": 3,
    "foreign_recreate": 2,
    "quietly": 5,
    "own_put": 8,
    "late_answer": 3,
    "own_delete": 4,
    "own_recreate": 2,
    "hold": 3,
    "deliver_some": 4,
    "release": 3,
    "fail": 5,
    "refuse": 2,
    "relist": 1,
    "later": 4,
}


def steps_of(seed: int) -> list[Step]:
    """The steps of a story."""
    chance = random.Random(f"steps {seed}")
    name, labels = lambda: chance.choice("abc"), lambda: chance.choice([{}, {"app": "x"}])
    arguments = {
        "foreign_put": lambda: {"name": name(), "labels": labels()},
        "foreign_delete": lambda: {"name": name()},
        "foreign_recreate": lambda: {"name": name(), "labels": labels()},
        "quietly": lambda: {"what": chance.choice(["elsewhere", "bookmark", "forget"])},
        "own_put": lambda: {"name": name(), "labels": labels(), "late": chance.random() < 0.3},
        "late_answer": lambda: {"at": chance.randrange(6)},
        "own_delete": lambda: {"name": name()},
        "own_recreate": lambda: {"name": name(), "labels": labels()},
        "deliver_some": lambda: {"count": chance.randint(1, 3)},
        "fail": lambda: {"what": chance.choice(["cut", "end", "expire", "fall silent"])},
        "refuse": lambda: {"which": [chance.randrange(len(REFUSALS)) for _ in range(chance.randint(1, 3))]},
        "later": lambda: {"seconds": chance.choice([0.0015, 0.01, 1.0, 100.0])},
    }
    chosen = chance.choices(list(_WEIGHTS), weights=list(_WEIGHTS.values()), k=LENGTH)
    return [(step, arguments.get(step, dict)()) for step in chosen]


def mistake_of(seed: int, steps: list[Step] | None = None) -> str:
    """What was wrong in a story; empty if nothing was."""
    try:
        Story(seed).tell(steps_of(seed) if steps is None else steps)
    except AssertionError as error:
        return str(error).partition("\n")[0] or "something"
    return ""


def cut_down(seed: int) -> list[Step]:
    """The steps of a story that fails, without those that it fails without."""
    steps = steps_of(seed)
    at = 0
    while at < len(steps):
        fewer = steps[:at] + steps[at + 1 :]
        if mistake_of(seed, fewer):
            steps = fewer
        else:
            at += 1
    return steps
