"""The rules of level-based control, on the whole stack in simulated time.

Each rule is a check, a function of its own. One test runs it; another one breaks the rule in the production code and sees the check fail,
so that no check can pass by saying nothing.
"""

import asyncio
import contextvars
import logging
import sys
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from setpoint import Condition, Context, Controller, ObjectMeta, Request, Resource, Result, Struct, kind
from setpoint.api import Answer, Unknown
from setpoint.client.errors import Conflict
from setpoint.controller import queue, runner, triggers
from setpoint.controller.events import QueueAdded, RunEnded, RunStarted
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.testing import Cluster
from setpoint.testing.cluster import NotSettled

from .faults import FaultyTransport

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "webapp"))
import itertools

from webapp import WebApp, WebAppSpec
from webapp import controller as webapps


class NoteSpec(Struct):
    text: str


class NoteStatus(Struct):
    seen: str = ""
    conditions: list[Condition] = []


@kind(group="test.example.com", version="v1")
class Note(Resource[NoteSpec, NoteStatus]):
    """A text, which its controller copies into its status."""


def edit(cluster: Cluster, obj, **fields) -> None:
    """Sets fields of the spec, as often as it takes: the controller may write the status at the same time."""
    while True:
        current = cluster.refresh(obj)
        for name, value in fields.items():
            setattr(current.spec, name, value)
        try:
            cluster.update(current)
        except Conflict:
            continue
        return


def note(name: str, text: str = "a") -> Note:
    return Note(metadata=ObjectMeta(name=name, namespace="default"), spec=NoteSpec(text=text))


def app(name: str = "shop", replicas: int = 3) -> WebApp:
    return WebApp(metadata=ObjectMeta(name=name, namespace="default"), spec=WebAppSpec(image="nginx:1", replicas=replicas))


def refused(check, *arguments) -> None:
    """The check must fail: the rule is broken. That nothing settles any more is no such failure: then the breaking itself is broken."""
    with pytest.raises(AssertionError) as failure:
        check(*arguments)
    assert not isinstance(failure.value, NotSettled), failure.value


# ---- L6, L2: a change made while the controller is down is acted on at start


def check_a_change_while_down_is_acted_on_at_start() -> None:
    with Cluster() as cluster:
        cluster.start(webapps)
        shop = cluster.create(app(replicas=1))
        cluster.settle()
        cluster.stop()
        edit(cluster, shop, replicas=4)
        cluster.settle()
        cluster.start(webapps)
        cluster.settle()
        deployment = cluster.get(Deployment, shop.key)
        assert deployment is not None
        assert deployment.spec.replicas == 4
        assert cluster.refresh(shop).status.ready_replicas == 4


def test_a_change_while_down_is_acted_on_at_start():
    check_a_change_while_down_is_acted_on_at_start()


def test_broken_a_start_that_enqueues_nothing_is_noticed(monkeypatch):
    original = triggers.Trigger._hear
    monkeypatch.setattr(triggers.Trigger, "_hear", lambda self, change: None if change.initial else original(self, change))
    refused(check_a_change_while_down_is_acted_on_at_start)


# ---- L3: a deleted child comes back though its deletion fell into a cut of the watch


def check_a_child_deleted_in_a_cut_comes_back() -> None:
    faults = []
    with Cluster() as cluster:
        cluster.start(webapps, through=lambda inner: faults.append(FaultyTransport(inner)) or faults[0])
        shop = cluster.create(app())
        cluster.settle()
        before = cluster.get(Deployment, shop.key)
        assert before is not None
        faults[0].cut("deployments", expire=True, down=True)
        cluster.delete(before)
        cluster.settle(timedelta(seconds=5))
        faults[0].heal("deployments")
        cluster.settle(timedelta(minutes=5))
        after = cluster.get(Deployment, shop.key)
        assert after is not None, "the deleted child did not come back"
        assert after.uid != before.uid
        assert cluster.refresh(shop).status.ready_replicas == 3


def test_a_child_deleted_in_a_cut_of_the_watch_comes_back():
    check_a_child_deleted_in_a_cut_comes_back()


def test_broken_a_relist_that_infers_no_deletion_is_noticed(monkeypatch):
    original = triggers.OwnedTrigger._take
    monkeypatch.setattr(triggers.OwnedTrigger, "_take", lambda self, change: None if change.new is None else original(self, change))
    refused(check_a_child_deleted_in_a_cut_comes_back)


# ---- L3, L5: cut, replayed and expired streams, with events of different kinds in any order, end in the same state


def end_state(cluster: Cluster) -> bytes:
    """Everything that controllers made, less what no two clusters have alike."""
    everything = []
    for cls in (WebApp, Deployment):
        for obj in cluster.list(cls):
            data = msgspec.to_builtins(obj)
            meta = {"name": obj.name, "labels": obj.metadata.labels, "owners": [o.name for o in obj.metadata.owner_references]}
            conditions = [{"type": c.type, "status": c.status} for c in obj.status.conditions]
            everything.append((cls.__name__, meta, data["spec"], obj.status.ready_replicas or 0, conditions))
    return msgspec.json.encode(everything, order="sorted", enc_hook=str)


def disturbed_run(seed: int, *, faulty: bool, lossy: bool = False) -> bytes:
    faults = []

    def through(inner):
        faults.append(FaultyTransport(inner))
        if lossy:  # what no real stream does, and what no controller could survive: a healthy stream skips
            faults[0].after.append(skip_changes_of_webapps)
        return faults[0]

    with Cluster(seed=seed) as cluster:
        cluster.start(webapps, through=through)
        chance, plurals = cluster.world.chance, ("webapps", "deployments", "services")
        names = ["a", "b", "c"]
        for name in names:
            cluster.create(app(name, replicas=1))
        releases = []
        for step in range(12):
            if faulty:
                plural = plurals[chance.below(3)]
                match chance.below(6):
                    case 0:
                        releases.append(faults[0].hold(plural))
                    case 1:
                        faults[0].cut(plural)
                    case 2:
                        faults[0].cut(plural, expire=True)
                    case 3:
                        faults[0].expire_in_stream(plural)
                    case 4:
                        faults[0].replay[plural] = 1 + chance.below(8)
                        faults[0].cut(plural)
                    case 5:
                        while releases:
                            releases.pop()()
            edit(cluster, app(names[step % 3]), replicas=1 + (step * 7) % 5)
            if step % 4 == 3:
                child = cluster.get(Deployment, f"default/{names[step % 2]}")
                if child is not None:
                    cluster.delete(child)
            cluster.advance(timedelta(seconds=chance.below(4)))
        for release in releases:
            release()
        cluster.settle(timedelta(minutes=2))
        return end_state(cluster)


def skip_changes_of_webapps(operation, outcome):
    if operation.resource is None or operation.resource.resource != "webapps" or not hasattr(outcome, "read"):
        return None
    original = outcome.read

    async def read():
        frames = await original()
        return None if frames is None else [frame for frame in frames if b'"MODIFIED"' not in frame[:20]] or await read()

    outcome.read = read
    return outcome


@pytest.fixture(scope="module")
def undisturbed() -> bytes:
    return disturbed_run(0, faulty=False)


@pytest.mark.parametrize("seed", range(12))
def test_cut_replayed_and_expired_streams_end_in_the_same_state(seed, undisturbed):
    assert disturbed_run(seed, faulty=True) == undisturbed


def test_broken_a_stream_that_skips_is_noticed(undisturbed):
    assert disturbed_run(1, faulty=False, lossy=True) != undisturbed


# ---- L1, L2: the four activations are indistinguishable from all that a reconciler can reach


def reachable(ctx: Context, request: Request) -> list[str]:
    """Everything that a run could tell its own kind by: arguments, the context's attributes, context variables, task, log fields."""
    task = asyncio.current_task()
    assert task is not None
    own = {name: getattr(ctx, name) for name in sorted(dir(ctx)) if not name.startswith("__")}
    plain = {name: value for name, value in own.items() if isinstance(value, str | int | float | bytes | tuple | None)}
    record = logging.LogRecord("x", 20, "", 0, "", (), None)
    fields = dict(ctx.log.extra or {})
    variables = sorted(f"{variable.name}={value!r}" for variable, value in contextvars.copy_context().items())
    deeper = sorted(
        f"{name}:{type(value).__name__}:{sorted(vars(value)) if hasattr(value, '__dict__') else ''}" for name, value in own.items()
    )
    state = {name: getattr(ctx._run, name) for name in ctx._run.__slots__}
    return [repr(request), repr(plain), *variables, task.get_name(), repr(fields), record.name, *deeper, repr(state)]


def check_activations_are_indistinguishable() -> None:
    runs: list[list[str]] = []
    reasons: list[str] = []
    behaviour = {"next": "return"}
    watcher = Controller(Note, name="watcher")

    @watcher.reconciler
    async def look(ctx: Context, request: Request) -> Result | None:
        runs.append(reachable(ctx, request))
        match behaviour["next"]:
            case "requeue":
                behaviour["next"] = "return"
                return Result(requeue_after=30)
            case "fail":
                behaviour["next"] = "return"
                raise RuntimeError("once")
        return None

    with Cluster() as cluster:
        cluster.world.observer.subscribe(
            lambda e: reasons.append(e.reason) if isinstance(e, QueueAdded) and e.controller == "watcher" else None
        )
        cluster.create(note("n"))
        cluster.start(watcher)
        cluster.settle()  # start-up
        behaviour["next"] = "requeue"
        edit(cluster, note("n"), text="b")
        cluster.settle(timedelta(minutes=2))  # event, then requeue_after
        behaviour["next"] = "fail"
        edit(cluster, note("n"), text="c")
        cluster.settle(timedelta(minutes=2))  # event, then backoff
    assert len(runs) == 5, reasons
    kinds = ["listed", "changed", "requeue_after", "changed", "failed"]
    assert all(word in reason for word, reason in zip(kinds, reasons, strict=True)), reasons
    assert all(run == runs[0] for run in runs), "a run can be told from another by what it reaches"


def test_the_four_activations_are_indistinguishable():
    check_activations_are_indistinguishable()


@pytest.mark.parametrize("leak", ["variable", "task name"])
def test_broken_a_run_that_knows_its_reason_is_noticed(monkeypatch, leak):
    attempts = contextvars.ContextVar("attempts", default=0)
    counter = {"runs": 0}
    original = runner.Runner._call

    async def telling(self, request, state):
        counter["runs"] += 1
        if leak == "variable":
            attempts.set(counter["runs"])
        else:
            asyncio.current_task().set_name(f"attempt-{counter['runs']}")
        return await original(self, request, state)

    monkeypatch.setattr(runner.Runner, "_call", telling)
    refused(check_activations_are_indistinguishable)


# ---- L3: a key changed during its run runs again, and ends with the last change


def check_a_key_changed_during_its_run_runs_again() -> None:
    copier = Controller(Note, name="copier")

    @copier.reconciler
    async def copy(ctx: Context, request: Request) -> None:
        found = await ctx.get(Note, request)
        if found is None:
            return
        text = found.spec.text
        await asyncio.sleep(10)  # the change comes while this run sleeps, in simulated time
        await ctx.patch(Note, request, {"status": {"seen": text}}, subresource="status")

    with Cluster() as cluster:
        cluster.start(copier)
        created = cluster.create(note("n", "first"))
        for text in ("second", "third"):
            cluster.advance(timedelta(seconds=2))
            edit(cluster, created, text=text)
        cluster.settle(timedelta(minutes=1))
        assert cluster.refresh(created).status.seen == "third"


def test_a_key_changed_during_its_run_runs_again_and_ends_with_the_last_change():
    check_a_key_changed_during_its_run_runs_again()


def test_broken_a_queue_that_forgets_changes_during_a_run_is_noticed(monkeypatch):
    original = queue.Queue.add
    monkeypatch.setattr(
        queue.Queue,
        "add",
        lambda self, key, reason="", **how: None if key in self._busy else original(self, key, reason, **how),
    )
    refused(check_a_key_changed_during_its_run_runs_again)


# ---- L4: never two runs of one key at once


def check_never_two_runs_of_one_key() -> None:
    running: dict[Request, int] = {}
    most: list[int] = []
    busy = Controller(Note, name="busy", concurrency=8)

    @busy.reconciler
    async def work(ctx: Context, request: Request) -> None:
        running[request] = running.get(request, 0) + 1
        most.append(running[request])
        await asyncio.sleep(3)
        running[request] -= 1

    with Cluster() as cluster:
        cluster.start(busy)
        objects = [cluster.create(note(name)) for name in "abc"]
        for step in range(10):
            for obj in objects:
                edit(cluster, obj, text=str(step))
            cluster.advance(timedelta(seconds=1))
        cluster.settle(timedelta(minutes=1))
    assert len(most) > 6
    assert max(most) == 1


def test_never_two_runs_of_one_key_at_once():
    check_never_two_runs_of_one_key()


def test_broken_a_queue_without_processing_marks_is_noticed(monkeypatch):
    original = queue.Queue._take

    def take(self):
        key = original(self)
        self._busy.pop(key, None)
        return key

    monkeypatch.setattr(queue.Queue, "_take", take)
    monkeypatch.setattr(queue.Queue, "done", lambda self, key: None)
    refused(check_never_two_runs_of_one_key)


# ---- L5: reads see this process's own writes


def check_own_writes_are_read_while_the_watch_is_held() -> None:
    faults = []
    seen: list[tuple[int, bool]] = []
    maker = Controller(Note, name="maker", owns=[ConfigMap])

    @maker.reconciler
    async def make(ctx: Context, request: Request) -> Result | None:
        found = await ctx.get(Note, request)
        if found is None:
            return None
        children = await ctx.list(ConfigMap, owner=found)
        seen.append((len(children), bool(children) and await ctx.get(ConfigMap, children[0].key) is not None))
        if not children:
            await ctx.create(ConfigMap(metadata=ObjectMeta(generate_name="child-", namespace="default"), data={"a": "b"}), owner=found)
            return Result(requeue_after=0.5)
        return None

    with Cluster() as cluster:
        cluster.start(maker, through=lambda inner: faults.append(FaultyTransport(inner)) or faults[0])
        cluster.settle()
        release = faults[0].hold("configmaps")
        before = len(faults[0].asked("get", "list", plural="configmaps"))
        cluster.create(note("n"))
        cluster.advance(timedelta(seconds=5))
        while_held = list(seen)
        asked = len(faults[0].asked("get", "list", plural="configmaps")) - before
        release()
        cluster.settle(timedelta(minutes=1))
        assert len(cluster.list(ConfigMap, namespace="default")) == 1, "a duplicate was made"
    assert while_held[:2] == [(0, False), (1, True)], while_held
    assert asked == 0, "the read went to the server"


def test_a_read_sees_its_own_creation_though_the_watch_is_held_back_for_five_seconds():
    check_own_writes_are_read_while_the_watch_is_held()


def test_broken_a_view_without_own_writes_is_noticed(monkeypatch):
    from setpoint.controller import view

    monkeypatch.setattr(view.View, "wrote", lambda self, info, answer: None)
    refused(check_own_writes_are_read_while_the_watch_is_held)


# ---- L6: nothing is stored on objects, and every object is reconciled once at start


def check_every_object_is_reconciled_once_at_start() -> None:
    runs: list[str] = []
    reader = Controller(Note, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        runs.append(request.name)

    with Cluster() as cluster:
        made = [cluster.create(note(name)) for name in "abc"]
        for _ in range(3):
            runs.clear()
            cluster.start(reader)
            cluster.settle(timedelta(hours=1))
            cluster.stop()
            assert sorted(runs) == ["a", "b", "c"]
        for obj in made:
            assert cluster.refresh(obj).metadata.resource_version == obj.metadata.resource_version


def test_every_object_is_reconciled_once_at_start_and_nothing_is_stored_on_it():
    check_every_object_is_reconciled_once_at_start()


def test_broken_a_start_that_skips_what_it_knows_is_noticed(monkeypatch):
    known = set()
    original = queue.Queue.add

    def add(self, key, reason="", **how):
        if (self.name, key) not in known:
            known.add((self.name, key))
            original(self, key, reason, **how)

    monkeypatch.setattr(queue.Queue, "add", add)
    refused(check_every_object_is_reconciled_once_at_start)


# ---- L7: failure is a trigger


def runs_of(failures: int, error: Exception) -> tuple[list[float], list[RunEnded]]:
    """When a reconciler ran that fails so many times, and how each run ended."""
    times: list[float] = []
    ends: list[RunEnded] = []
    failing = Controller(Note, name="failing")

    with Cluster() as cluster:

        @failing.reconciler
        async def fail(ctx: Context, request: Request) -> None:
            times.append(cluster.now.timestamp())
            if len(times) <= failures:
                raise error

        cluster.world.observer.subscribe(lambda e: ends.append(e) if isinstance(e, RunEnded) and e.controller == "failing" else None)
        cluster.start(failing)
        cluster.create(note("n"))
        cluster.settle(timedelta(hours=2))
    return times, ends


def test_an_exception_means_another_run_later_each_time():
    times, ends = runs_of(5, RuntimeError("no"))
    waits = [b - a for a, b in itertools.pairwise(times)]
    assert len(waits) == 5
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    assert [end.result for end in ends] == ["error"] * 5 + ["success"]


def test_a_conflict_is_a_quiet_quick_retry():
    from setpoint.api import GroupVersionResource
    from setpoint.api.status import modified

    conflict = modified(GroupVersionResource("test.example.com", "v1", "notes"), "n")
    assert isinstance(conflict, Conflict)
    times, ends = runs_of(1, conflict)
    assert times[1] - times[0] < 0.1
    assert [end.result for end in ends] == ["requeue", "success"]


def test_after_a_write_of_unknown_outcome_the_next_run_waits_until_the_cache_has_seen_it():
    faults = []
    runs: list[tuple[float, int]] = []
    maker = Controller(Note, name="maker", owns=[ConfigMap])

    @maker.reconciler
    async def make(ctx: Context, request: Request) -> None:
        found = await ctx.get(Note, request)
        if found is None:
            return
        children = await ctx.list(ConfigMap, owner=found)
        runs.append((asyncio.get_running_loop().time(), len(children)))
        if not children:
            await ctx.create(ConfigMap(metadata=ObjectMeta(generate_name="child-", namespace="default")), owner=found)

    lost = []

    def lose_first_reply(operation, outcome):
        if operation.verb == "create" and operation.resource.resource == "configmaps" and not lost and isinstance(outcome, Answer):
            lost.append(operation)
            return Unknown("the reply was lost")
        return None

    with Cluster() as cluster:
        cluster.start(maker, through=lambda inner: faults.append(FaultyTransport(inner)) or faults[0])
        cluster.settle()
        faults[0].after.append(lose_first_reply)
        release = faults[0].hold("configmaps")
        cluster.create(note("n"))
        cluster.advance(timedelta(seconds=20))
        assert len(runs) == 1, "it ran again before the cache had seen what came of the write"
        release()
        cluster.settle(timedelta(minutes=1))
        assert lost
        assert runs[1][1] == 1
        assert len(cluster.list(ConfigMap, namespace="default")) == 1


# ---- L8: deleting is careful


def check_a_delete_never_hits_a_successor() -> None:
    faults = []
    cleaner = Controller(Note, name="cleaner", owns=[ConfigMap])

    @cleaner.reconciler
    async def clean(ctx: Context, request: Request) -> None:
        child = await ctx.get(ConfigMap, "default/child")
        if child is not None and child.data.get("old"):
            await ctx.delete(child)

    def child(old: bool) -> ConfigMap:
        return ConfigMap(metadata=ObjectMeta(name="child", namespace="default"), data={"old": "yes"} if old else {})

    with Cluster() as cluster:
        old = cluster.create(child(old=True))
        cluster.start(cleaner, through=lambda inner: faults.append(FaultyTransport(inner)) or faults[0])
        cluster.settle()
        release = faults[0].hold("configmaps")
        cluster.delete(old)
        successor = cluster.create(child(old=False))
        cluster.create(note("n"))  # a run that still sees the old one
        cluster.advance(timedelta(seconds=10))
        release()
        cluster.settle()
        found = cluster.get(ConfigMap, successor.key)
        assert found is not None, "the successor was deleted"
        assert found.uid == successor.uid


def test_a_delete_decided_from_the_cache_never_hits_a_successor_of_the_same_name():
    check_a_delete_never_hits_a_successor()


def test_broken_a_delete_without_uid_is_noticed(monkeypatch):
    from setpoint.client import raw, verbs

    original = verbs.delete

    def careless(info, key, **options):
        return original(info, key, **{**options, "uid": None})

    monkeypatch.setattr(verbs, "delete", careless)
    monkeypatch.setattr(raw.verbs, "delete", careless, raising=False)
    refused(check_a_delete_never_hits_a_successor)


def test_finalizer_edits_touch_our_own_entry_only_and_never_add_to_a_terminating_object():
    ours, theirs = "test.example.com/ours", "test.example.com/theirs"
    keeper = Controller(Note, name="keeper")

    @keeper.reconciler
    async def keep(ctx: Context, request: Request) -> None:
        found = await ctx.get(Note, request)
        if found is None:
            return
        if found.is_terminating:
            await ctx.remove_finalizer(found, ours)
        await ctx.add_finalizer(found, ours)  # on a terminating object: nothing

    with Cluster() as cluster:
        cluster.start(keeper)
        first = note("n")
        first.metadata.finalizers = [theirs]
        created = cluster.create(first)
        cluster.settle()
        assert cluster.refresh(created).metadata.finalizers == [theirs, ours]
        cluster.delete(created)
        cluster.settle()
        assert cluster.refresh(created).metadata.finalizers == [theirs]
        last = cluster.refresh(created)
        last.metadata.finalizers = []
        cluster.update(last)
        assert cluster.get(Note, created.key) is None


# ---- apps: dependencies without globals


def test_an_app_opens_what_its_controllers_need_and_closes_it_at_the_end():
    order: list[str] = []
    reader = Controller(Note, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        order.append(f"run {request.name}")

    @asynccontextmanager
    async def opened(manager):
        order.append("open")
        manager.add(reader)
        yield
        order.append("close")

    with Cluster() as cluster:
        cluster.create(note("n"))
        cluster.start(opened)
        cluster.settle()
    assert order == ["open", "run n", "close"]


def test_a_run_starts_after_the_last_change_was_observed():
    """L3 over random changes: the last run of every key starts after its last change."""
    starts: dict[str, float] = {}
    with Cluster(seed=3) as cluster:
        reader = Controller(Note, name="reader", concurrency=2)

        @reader.reconciler
        async def read(ctx: Context, request: Request) -> None:
            await asyncio.sleep(cluster.world.chance.uniform(0, 3))

        loop_time = cluster.world.clock.monotonic
        cluster.world.observer.subscribe(
            lambda e: starts.__setitem__(e.request.name, loop_time()) if isinstance(e, RunStarted) and e.controller == "reader" else None
        )
        cluster.start(reader)
        changed: dict[str, float] = {}
        objects = [cluster.create(note(name)) for name in "abcd"]
        for step in range(40):
            obj = objects[cluster.world.chance.below(4)]
            edit(cluster, obj, text=str(step))
            changed[obj.name] = loop_time()
            cluster.advance(timedelta(seconds=cluster.world.chance.uniform(0, 2)))
        cluster.settle(timedelta(minutes=1))
    assert all(starts[name] >= at for name, at in changed.items())
