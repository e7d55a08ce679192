"""Whatever happens, in any order: the base is a prefix of the history, the view adds our own writes, and nothing is lost."""

import asyncio
import json

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from setpoint.api import LabelSelector
from setpoint.api.status import expired, failure
from setpoint.api.watch import encode_frame
from setpoint.objects import Request
from setpoint.world import new_loop, run_to_end, simulated_world

from .model import ModelServer, Setup, labels_of, version_of

KEYS = [Request("default", name) for name in "abc"]
NAMES = st.sampled_from(["a", "b", "c"])
LABELS = st.sampled_from([{}, {"app": "x"}])
REFUSALS = [failure(500, "InternalError", "x"), failure(429, "TooManyRequests", "x"), expired("too old"), failure(403, "Forbidden", "x")]


def uid_of(data):
    return json.loads(data)["metadata"]["uid"]


class History(RuleBasedStateMachine):
    @initialize(
        streaming_lists=st.booleans(),
        selector=st.sampled_from(["", "app=x"]),
        seed=st.integers(0, 3),
        existing=st.lists(NAMES, unique=True),
        synced=st.booleans(),
        held=st.booleans(),
    )
    def start(self, streaming_lists, selector, seed, existing, synced, held):
        self.loop = new_loop()
        self.server = ModelServer(streaming_lists=streaming_lists)
        for name in existing:
            self.server.put(name, labels={"app": "x"})
        self.selector = LabelSelector.parse(selector)
        self.own = {}  # key -> [(version, bytes or None)] of answered own writes
        self.late = []  # own updates whose answer is on its way
        self.newest = 0

        async def make():
            return Setup(simulated_world(self.loop, seed=seed), self.server, labels=selector)

        self.setup = self.loop.run_until_complete(make())
        if synced:
            self.wait(1)
        if held:
            self.server.hold()

    def teardown(self):
        if hasattr(self, "setup"):
            try:
                self.come_to_rest()
            finally:
                run_to_end(self.loop, asyncio.sleep(0))
                self.loop.close()

    # the server

    @rule(name=NAMES, labels=LABELS)
    def foreign_put(self, name, labels):
        self.server.put(name, labels=labels)
        self.wait(0)

    @rule(name=NAMES)
    def foreign_delete(self, name):
        if Request("default", name) in self.server.state:
            self.server.delete(name)
            self.wait(0)

    @rule(what=st.sampled_from(["elsewhere", "bookmark", "forget"]))
    def quietly(self, what):
        getattr(self.server, what)()
        self.wait(0)

    # this process

    @rule(name=NAMES, labels=LABELS, late=st.booleans())
    def own_put(self, name, labels, late):
        # Only the answers of updates overtake one another: nobody deletes what he does not know to be created.
        late = late and Request("default", name) in self.server.state
        answer = self.server.put(name, labels=labels)
        if late:
            self.late.append(answer)
        else:
            self._answered(answer)
        self.wait(0)

    @precondition(lambda self: self.late)
    @rule(at=st.integers(0, 5))
    def late_answer(self, at):
        self._answered(self.late.pop(at % len(self.late)))

    @rule(name=NAMES)
    def own_delete(self, name):
        key = Request("default", name)
        if key in self.server.state:
            seen = self.setup.informer.get(key)
            uid = self.server.delete(name)
            self.setup.informer.deleted(key, uid)
            if seen is not None and uid_of(seen) == uid:
                self.own.setdefault(key, []).append((self.server.version, None))
            self.wait(0)

    def _answered(self, data):
        self.setup.informer.wrote(data)
        self.own.setdefault(Request("default", json.loads(data)["metadata"]["name"]), []).append((version_of(data), data))

    # the network

    @rule()
    def hold(self):
        self.server.hold()

    @precondition(lambda self: self.server.held)
    @rule(count=st.integers(1, 3))
    def deliver_some(self, count):
        for stream, event in self.server.held[:count]:
            stream.deliver(*event)
        del self.server.held[:count]
        self.wait(0)

    @precondition(lambda self: self.server.held)
    @rule()
    def release(self):
        self.server.release()
        self.wait(0)

    @precondition(lambda self: self.server.streams)
    @rule(what=st.sampled_from(["cut", "end", "expire", "fall silent"]))
    def fail(self, what):
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

    @rule(refusals=st.lists(st.sampled_from(REFUSALS), min_size=1, max_size=3))
    def refuse(self, refusals):
        self.server.failures = [refusal.status.answer() for refusal in refusals]

    @rule(seconds=st.sampled_from([0.0015, 0.01, 1.0, 100.0]))
    def later(self, seconds):
        self.wait(seconds)

    def wait(self, seconds):
        """Time passes; with 0, what is on its way arrives and nothing else."""
        self.loop.run_until_complete(asyncio.sleep(seconds or 0.0001))

    # what always holds

    def selected(self, state):
        return {key: data for key, data in state.items() if self.selector.matches(labels_of(data))}

    def base(self):
        return {key: data for key in KEYS if (data := self.setup.informer.base(key)) is not None}

    @invariant()
    def the_base_is_a_prefix_of_the_history_and_never_goes_back(self):
        if hasattr(self, "setup"):
            version = self.setup.informer.version
            assert version >= self.newest
            self.newest = version
            assert self.base() == (self.selected(self.server.prefix(version)) if self.setup.informer.has_synced else {})
            assert self.setup.told.state == self.base()
            assert not self.setup.mistakes
            assert not self.setup.task.done()

    @invariant()
    def the_view_is_the_base_and_our_own_writes_that_it_does_not_show_yet(self):
        if not hasattr(self, "setup"):
            return
        informer = self.setup.informer
        expected, view = self.base(), {key: informer.get(key) for key in KEYS if informer.get(key) is not None}
        assert informer.list() == informer.list(namespace="default") == [view[key] for key in sorted(view)]
        for key, writes in self.own.items():
            version, data = max(writes)
            if version <= informer.version:
                continue
            if data is None and self.selector:
                # On its way to its deletion it may have left the selection and come back, which looks like a deletion and a creation.
                expected.pop(key, None), view.pop(key, None)
                continue
            if data is not None and self.selector.matches(labels_of(data)):
                expected[key] = data
            else:
                expected.pop(key, None)
        assert view == expected

    def come_to_rest(self):
        self.server.failures = []
        self.server.release()
        for _ in range(4):
            self.wait(100)
            self.server.bookmark()
        self.wait(1)
        assert self.setup.informer.version == self.server.version
        assert self.base() == self.selected(self.server.state) == self.setup.told.state
        assert self.setup.informer._view.own_writes == 0
        self.the_view_is_the_base_and_our_own_writes_that_it_does_not_show_yet()


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=80, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
