"""Changes that were missed, told twice, or only understood by who saw them happen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Result, TerminalError
from setpoint.controller.events import QueueAdded
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec
from setpoint.k8s.core.v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec, Secret
from setpoint.k8s.meta.v1 import LabelSelector

from .planes import Embedded, Real
from .scenes import Gate, Thing

A_MOMENT = 0.05
"""Seconds for which a run has something left to do: the events of what it wrote come meanwhile."""

# ---- a change during a run


@pytest.mark.parametrize("locked", [False, True], ids=["patch", "update"])
def test_a_change_made_during_a_run_is_not_swallowed(cluster: Embedded | Real, locked: bool) -> None:
    """nolar/kopf#1178: while a handler that moves a state machine from A to B is at work, a user annotates the object. Both changes land in
    one handling cycle, the snapshot of "last seen" is taken from the newest object, and so the step to B is never seen as a change: the
    machine stops there.
    """
    gate, steps = Gate(), {"": "A", "A": "B", "B": "C"}
    machine = Controller(Thing, name="machine")

    @machine.reconciler
    async def move(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None or thing.status.phase not in steps:
            return
        if thing.status.phase == "A":
            await gate.passed()
        thing.status.phase = steps[thing.status.phase]
        if locked:
            await ctx.update_status(thing)
        else:
            await ctx.patch(Thing, request, {"status": {"phase": thing.status.phase}}, subresource="status")
        await asyncio.sleep(A_MOMENT)

    thing = cluster.thing()
    cluster.launch(machine)
    cluster.until(lambda: gate.reached)
    cluster.change(thing, lambda found: found.metadata.annotations.update(note="by a user"))
    gate.open()
    cluster.settle()
    assert cluster.refresh(thing).status.phase == "C"


def test_the_last_of_several_quick_changes_reaches_every_child(cluster: Embedded | Real) -> None:
    """zalando-incubator/kopf#279, nolar/kopf#641: five sub-handlers run for one object; its field is changed to value1 and at once to
    value2, and some of the five never run for value2.
    """
    gate, parent = Gate(), Controller(Thing, name="parent", owns=[ConfigMap])

    @parent.reconciler
    async def spread(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return

        async def child(number: int) -> None:
            await gate.passed()
            await asyncio.sleep(0.01 * number)
            await ctx.apply(ConfigMap(metadata=cluster.meta(f"child-{number}"), data={"value": thing.spec.value}), owner=thing)

        await asyncio.gather(*(child(number) for number in range(5)))
        await asyncio.sleep(A_MOMENT)

    thing = cluster.thing(value="value0")
    cluster.launch(parent)
    cluster.until(lambda: gate.reached)
    cluster.edit(thing, value="value1")
    gate.open()
    cluster.edit(thing, value="value2")
    cluster.settle()
    children = {name: cluster.get(ConfigMap, f"{cluster.namespace}/child-{name}") for name in range(5)}
    assert {name: child and child.data["value"] for name, child in children.items()} == dict.fromkeys(range(5), "value2")


@pytest.mark.parametrize("delayed", [False, True], ids=["prompt", "held back"])
def test_a_change_by_a_user_is_not_taken_for_the_echo_of_an_own_write(cluster: Embedded | Real, delayed: bool) -> None:
    """operator-framework/java-operator-sdk#3398, #3455, PR#3484: a run ends with a status patch that changes nothing. Meanwhile a user
    changes the spec. The filter for own events takes the user's event for the patch's, and no run follows.
    """
    gate, seen = Gate(), list[str]()
    reader = Controller(Thing, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            seen.append(thing.spec.value)
            await gate.passed()
            await ctx.patch(Thing, request, {"status": {"phase": "Ready"}}, subresource="status")

    thing = cluster.thing(value="old")
    thing.status.phase = "Ready"
    cluster.update_status(thing)
    line = cluster.launch(reader)
    cluster.until(lambda: gate.reached)
    if delayed:
        line.hold("things")
    cluster.edit(thing, value="new")
    gate.open()
    if delayed:
        cluster.advance(timedelta(seconds=3))
        line.release("things")
    cluster.settle()
    assert seen[-1] == "new"


def test_a_change_of_a_child_by_two_writers_without_a_lock_is_acted_on(cluster: Embedded | Real) -> None:
    """operator-framework/java-operator-sdk#3455, the other form: controller and user patch the same child, neither with a version. The
    user's event falls into the window of the own patch, is dropped, and the child stays as the user left it.
    """
    gate = Gate()
    owner = Controller(Thing, name="owner", owns=[ConfigMap])

    @owner.reconciler
    async def keep(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        child = await ctx.get(ConfigMap, f"{cluster.namespace}/child")
        if thing is None:
            return
        if child is None:
            await ctx.apply(ConfigMap(metadata=cluster.meta("child"), data={"a": "0", "b": "0"}), owner=thing)
        elif child.data != {"a": thing.spec.value, "b": "0"}:
            await gate.passed()
            await ctx.patch(ConfigMap, child.key, {"data": {"a": thing.spec.value}})
            if child.data["b"] != "0":
                await ctx.patch(ConfigMap, child.key, {"data": {"b": "0"}})

    thing = cluster.thing(value="0")
    cluster.launch(owner)
    cluster.settle()
    cluster.edit(thing, value="1")
    cluster.until(lambda: gate.reached)
    cluster.change(ConfigMap(metadata=cluster.meta("child")), lambda child: child.data.update(b="by a user"))
    gate.open()
    cluster.settle()
    assert cluster.get(ConfigMap, f"{cluster.namespace}/child").data == {"a": "1", "b": "0"}


def test_a_change_during_a_run_that_ends_with_a_status_write_is_handled_and_timers_go_on(cluster: Embedded | Real) -> None:
    """operator-framework/java-operator-sdk#1006: an event comes while its key runs and is skipped; the run ends with a status write, whose
    event is skipped as an own one. The first event is never handled, and timed runs do not happen any more either.
    """
    gate, runs, period = Gate(), list[tuple[str, float]](), 1.0 if cluster.real else 30.0
    ticking = Controller(Thing, name="ticking")

    @ticking.reconciler
    async def tick(ctx: Context, request: Request) -> Result | None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return None
        runs.append((thing.spec.value, cluster.world.clock.monotonic()))
        await gate.passed()
        await ctx.patch(Thing, request, {"status": {"seen": thing.spec.value}}, subresource="status")
        await asyncio.sleep(A_MOMENT)
        return Result(requeue_after=period)

    thing = cluster.thing(value="old")
    cluster.launch(ticking)
    cluster.until(lambda: gate.reached)
    cluster.edit(thing, value="new")
    cluster.advance(timedelta(seconds=1))
    opened = cluster.world.clock.monotonic()
    gate.open()
    cluster.until(lambda: runs[-1][0] == "new", "a run that sees the change")
    assert next(at for value, at in runs if value == "new") < opened + period, "it is not the timer that saw it"
    seen = len(runs)
    cluster.until(lambda: len(runs) >= seen + 3, "runs by the timer")
    assert cluster.refresh(thing).status.seen == "new"


# ---- keys that never run again


def _returns() -> None:
    """As most runs end."""


def _fails() -> None:
    raise RuntimeError("no")


def _gives_up() -> None:
    raise TerminalError("no")


def _exits() -> None:
    raise SystemExit("no")


def _is_cancelled() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("end", [_returns, _fails, _gives_up, _exits, _is_cancelled])
def test_a_key_whose_object_was_not_there_when_it_ran_runs_again_when_it_is_back(cluster: Embedded | Real, end: Callable[[], None]) -> None:
    """operator-framework/java-operator-sdk#3416, PR#3417, PR#3525: a key is taken and marked as in progress; then its object is not in the
    cache any more. The early return leaves the mark, and each later event of that name is skipped, until restart.
    """
    gate, seen = Gate(), list[tuple[str, str | None]]()
    reader = Controller(Thing, name="reader", labels="tier=web")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        if request.name == "blocker":
            await gate.passed()
            return
        thing = await ctx.get(Thing, request)
        seen.append((request.name, thing and thing.spec.value))
        if thing is None:
            end()

    cluster.thing("blocker", labels={"tier": "web"})
    cluster.launch(reader)
    cluster.until(lambda: gate.reached)
    gone = cluster.thing("gone", value="first", labels={"tier": "web"})
    cluster.until(lambda: [e for e in cluster.heard(QueueAdded) if e.request == gone.key])
    cluster.delete(gone)
    cluster.advance(timedelta(seconds=2))
    gate.open()
    cluster.until(lambda: ("gone", None) in seen, "the run that finds nothing")
    cluster.thing("gone", value="second", labels={"tier": "web"})
    cluster.until(lambda: ("gone", "second") in seen, "the run that finds it again")


def test_a_key_whose_object_left_the_selector_runs_again_when_it_is_back(cluster: Embedded | Real) -> None:
    """operator-framework/java-operator-sdk#3416: the same, where the object only lost the label that the operator selects by."""
    seen: list[str] = []
    reader = Controller(Thing, name="reader", labels="tier=web")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        seen.append(f"{thing.spec.value} {thing.metadata.labels}" if thing else "nothing")

    thing = cluster.thing(value="first", labels={"tier": "web"})
    line = cluster.launch(reader)
    cluster.settle()
    line.cut("things")  # the selector's loss is found out by a list
    cluster.change(thing, lambda found: found.metadata.labels.clear())
    cluster.settle(timedelta(seconds=30))
    cluster.edit(thing, value="second")
    cluster.settle()
    cluster.change(thing, lambda found: found.metadata.labels.update(tier="web"))
    cluster.settle()
    assert seen[0].startswith("first")
    assert seen[-1] == "second {'tier': 'web'}"


# ---- who waits for whom


def _by_timer(seconds: float, period: float, runs: list[str]) -> Controller[Thing]:
    """One worker, which each object called busy-... asks for a run of so many seconds in each period."""
    restless = Controller(Thing, name="restless")

    @restless.reconciler
    async def work(ctx: Context, request: Request) -> Result | None:
        runs.append(request.name)
        await asyncio.sleep(seconds)
        return Result(requeue_after=period) if request.name.startswith("busy") else None

    return restless


def _by_changes(seconds: float, runs: list[str]) -> Controller[Thing]:
    """The same, but each object called busy-... is changed in each of its runs, and so is always a fresh change."""
    restless = Controller(Thing, name="restless")

    @restless.reconciler
    async def work(ctx: Context, request: Request) -> None:
        runs.append(request.name)
        if request.name.startswith("busy"):
            await ctx.patch(Thing, request, {"status": {"count": len(runs)}}, subresource="status")
        await asyncio.sleep(seconds)

    return restless


def _check_that_all_get_their_turn(cluster: Embedded | Real, restless: Controller[Thing], runs: list[str], busy: int) -> None:
    for number in range(busy):
        cluster.thing(f"busy-{number:02}")
    quiet = [cluster.thing(f"quiet-{number}").name for number in range(3)]
    cluster.launch(restless)
    cluster.until(lambda: set(quiet) <= set(runs), "a run of each")
    waited = max(runs.index(name) for name in quiet)
    assert waited < 5 * busy  # in the story it was more than forty times
    cluster.until(lambda: len(runs) > waited + busy)
    fresh = cluster.thing("fresh")
    before = len(runs)
    cluster.until(lambda: fresh.name in runs)
    assert runs.index("fresh") - before < 2 * busy


def test_an_object_of_the_initial_list_does_not_wait_for_ever_behind_busy_ones(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#3496, home-operations/miroir#122: what the initial list tells of has a low priority. Ninety
    objects ask again and again to run, so that the only worker is never without one; three that were made just before the restart wait
    for more than half an hour, until somebody touches a label of theirs.
    """
    runs, busy = list[str](), 30 if cluster.real else 90
    seconds, period = (0.004, 0.1) if cluster.real else (0.4, 30.0)  # more work than there is time
    _check_that_all_get_their_turn(cluster, _by_timer(seconds, period, runs), runs, busy)


def test_an_object_of_the_initial_list_does_not_wait_for_ever_behind_objects_that_always_change(embedded: Embedded) -> None:
    """kubernetes-sigs/controller-runtime#3496: the same, where all the others are fresh changes, and so do go first."""
    runs: list[str] = []
    _check_that_all_get_their_turn(embedded, _by_changes(0.4, runs), runs, 30)


def test_a_new_object_does_not_wait_for_the_whole_initial_list(cluster: Embedded | Real) -> None:
    """flux-iac/tofu-controller#1641: the opposite. Fifteen old objects, a restart, and a new object: it is handled as the sixteenth."""
    gate, runs = Gate(), list[str]()
    slow = Controller(Thing, name="slow")

    @slow.reconciler
    async def work(ctx: Context, request: Request) -> None:
        runs.append(request.name)
        await gate.passed()

    for number in range(15):
        cluster.thing(f"old-{number:02}")
    cluster.launch(slow)
    cluster.until(lambda: gate.reached)
    new = cluster.thing("new")
    cluster.until(lambda: [e for e in cluster.heard(QueueAdded) if e.request == new.key])
    gate.open()
    cluster.settle()
    assert len(runs) == 16
    assert runs.index("new") <= 2


# ---- states that nobody saw


def _set_of(request: Request, size: int, **annotations: str) -> Deployment:
    """Some pods."""
    labels = {"app": request.name}
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="main", image="nginx")]))
    metadata = ObjectMeta(name=request.name, namespace=request.namespace, annotations=annotations)
    return Deployment(metadata=metadata, spec=DeploymentSpec(replicas=size, selector=LabelSelector(match_labels=labels), template=template))


def _members(guard: Callable[[Thing, int], bool], gate: Gate) -> Controller[Thing]:
    """As many pods as a Thing's size says. If `guard` says that there will be fewer, they are drained first, of which a note is made."""
    members = Controller(Thing, name="members", owns=[Deployment])

    @members.reconciler
    async def scale(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        existing = await ctx.get(Deployment, request)
        actual = existing.spec.replicas or 0 if existing is not None else 0
        if guard(thing, actual):
            thing.metadata.annotations["drained-to"] = str(thing.spec.size)
            await ctx.update(thing)
        await ctx.apply(_set_of(request, thing.spec.size), owner=thing)
        if thing.spec.size == 3:
            await gate.passed()
        thing.status.count = thing.spec.size
        await ctx.update_status(thing)

    return members


def _less_than_there_are(thing: Thing, actual: int) -> bool:
    return thing.spec.size < actual


def _less_than_last_seen(thing: Thing, actual: int) -> bool:
    return thing.spec.size < thing.status.count


@pytest.mark.parametrize(("guard", "drained_to"), [(_less_than_there_are, "2"), (_less_than_last_seen, None)])
def test_members_are_drained_though_the_larger_size_was_never_noted(
    cluster: Embedded | Real, guard: Callable[[Thing, int], bool], drained_to: str | None
) -> None:
    """rabbitmq/cluster-operator#758: the size goes from 1 to 3 to 2 while the operator is held up at 3. Its guard, which compares the
    wanted size with the one that it saw last, takes that for growth, and the members go from 3 to 2 without being drained. A guard that
    compares with the child as it is misses nothing.
    """
    gate = Gate()
    thing = cluster.thing(size=1)
    line = cluster.launch(_members(guard, gate))
    cluster.settle()
    cluster.edit(thing, size=3)
    cluster.until(lambda: gate.reached)
    cluster.kill(line)
    cluster.edit(thing, size=2)
    cluster.launch(_members(guard, Gate()))
    cluster.settle()
    child = cluster.get(Deployment, thing.key)
    assert child is not None
    assert child.spec.replicas == 2
    assert cluster.refresh(thing).metadata.annotations.get("drained-to") == drained_to


def _nodes(clean_up: Callable[[Context, Thing, list[str]], Awaitable[None]]) -> Controller[Thing]:
    """A pod and a claim (here a Secret) for each node of a Thing; of a node that is not wanted any more, the pod is deleted."""
    nodes = Controller(Thing, name="nodes", owns=[Pod, Secret])

    @nodes.reconciler
    async def scale(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        wanted = [f"{thing.name}-{number}" for number in range(thing.spec.size)]
        for name in wanted:
            metadata = ObjectMeta(name=name, namespace=request.namespace)
            await ctx.apply(Secret(metadata=metadata), owner=thing)
            await ctx.apply(Pod(metadata=metadata, spec=PodSpec(containers=[Container(name="main", image="nginx")])), owner=thing)
        await clean_up(ctx, thing, wanted)
        for pod in await ctx.list(Pod, owner=thing):
            if pod.name not in wanted and not pod.is_terminating:
                await ctx.delete(pod)

    return nodes


async def _claims_without_pod(ctx: Context, thing: Thing, wanted: list[str]) -> None:
    pods = [pod.name for pod in await ctx.list(Pod, owner=thing)]
    for claim in await ctx.list(Secret, owner=thing):
        if claim.name not in [*wanted, *pods]:
            await ctx.delete(claim)


async def _claims_of_terminating_pods(ctx: Context, thing: Thing, wanted: list[str]) -> None:
    for pod in await ctx.list(Pod, owner=thing):
        claim = await ctx.get(Secret, pod.key)
        if pod.name not in wanted and pod.is_terminating and claim is not None:
            await ctx.delete(claim)


@pytest.mark.parametrize(("clean_up", "left"), [(_claims_without_pod, ["a-0"]), (_claims_of_terminating_pods, ["a-0", "a-1"])])
def test_the_claim_of_a_pod_that_was_never_seen_terminating_is_cleaned_up(
    cluster: Embedded | Real, clean_up: Callable[[Context, Thing, list[str]], Awaitable[None]], left: list[str]
) -> None:
    """instaclustr/cassandra-operator#398: a node set goes from 2 to 1. The pod begins to terminate and is gone before the operator looks;
    the branch for a terminating pod, in which its claim is deleted, is never taken, and the claim stays. Whoever looks at the claims that
    there are needs to have seen nothing.
    """
    thing = cluster.thing(size=2)
    line = cluster.launch(_nodes(clean_up))
    cluster.settle()
    line.hold("pods")
    cluster.edit(thing, size=1)
    cluster.until(lambda: cluster.get(Pod, f"{cluster.namespace}/a-1") is None, "the end of the pod")
    line.release("pods")
    cluster.settle()
    assert [secret.name for secret in cluster.list(Secret, namespace=cluster.namespace)] == left


def _storage(gate: Gate, *, all_at_once: bool) -> Controller[Thing]:
    """Pods, and a claim (here a ConfigMap) with the storage that a Thing's value says. How much the pods have cannot be changed: for that,
    what made them is deleted and made anew. The steps are decided one by one, or all at once.
    """
    storage = Controller(Thing, name="storage", owns=[Deployment, ConfigMap])

    @storage.reconciler
    async def resize(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        claim = ConfigMap(metadata=ObjectMeta(name="claim", namespace=request.namespace), data={"storage": thing.spec.value})
        pods, there = await ctx.get(Deployment, request), await ctx.get(ConfigMap, claim.key)
        grows = pods is not None and pods.metadata.annotations["storage"] != thing.spec.value
        if pods is not None and grows:
            await ctx.delete(pods)
            await gate.passed()
        if there is None or (grows if all_at_once else there.data["storage"] != thing.spec.value):
            await ctx.apply(claim, owner=thing)
        await ctx.apply(_set_of(request, 1, storage=thing.spec.value), owner=thing)

    return storage


@pytest.mark.parametrize(("all_at_once", "storage"), [(False, "15Gi"), (True, "10Gi")])
def test_a_crash_between_two_steps_leaves_neither_undone(cluster: Embedded | Real, all_at_once: bool, storage: str) -> None:
    """rabbitmq/cluster-operator#782 (of the same class: Orange-OpenSource/casskop#342, Orange-OpenSource/nifikop#49 and #79): storage grows
    from 10Gi to 15Gi. The operator deletes the StatefulSet, means to resize the claim next, and is killed in between. After the restart
    "has the storage changed?" is asked of the StatefulSet made anew: no. The claim stays small for ever.
    """
    gate = Gate()
    thing = cluster.thing(value="10Gi")
    line = cluster.launch(_storage(gate, all_at_once=all_at_once))
    cluster.settle()
    cluster.edit(thing, value="15Gi")
    cluster.until(lambda: gate.reached)
    cluster.kill(line)
    cluster.until(lambda: cluster.get(Deployment, thing.key) is None)
    cluster.launch(_storage(Gate(), all_at_once=all_at_once))
    cluster.settle()
    assert cluster.get(Deployment, thing.key).metadata.annotations["storage"] == "15Gi"
    assert cluster.get(ConfigMap, f"{cluster.namespace}/claim").data["storage"] == storage


# ---- bookkeeping


def test_an_object_with_somebodys_bookkeeping_on_it_is_left_alone(cluster: Embedded | Real) -> None:
    """nolar/kopf#686, PR#728, zalando-incubator/kopf#223: an object carries bookkeeping annotations from elsewhere or from before; the
    operator, whose only handler does not even apply to it, patches dummy values in a loop, or takes it for unfinished again and again.
    """
    marks = {
        "kopf.zalando.org/last-handled-configuration": '{"simulated-change":123}',
        "kopf.zalando.org/bbb": '{"started":"2020-01-01T00:00:00"}',
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    runs: list[str] = []
    reader = Controller(ConfigMap, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        runs.append(request.name)

    made = cluster.create(ConfigMap(metadata=cluster.meta("marked", annotations=marks)))
    line = cluster.launch(reader)
    cluster.settle(timedelta(hours=1))
    assert runs.count("marked") == 1
    assert [str(op) for op in line.operations if op.is_write] == []
    assert cluster.refresh(made) == made
