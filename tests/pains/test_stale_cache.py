"""Reads from a cache that has not caught up: with what this process wrote itself, and with a world in which names are used again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Result
from setpoint.controller import RunEnded
from setpoint.k8s.core.v1 import ConfigMap, Secret

from .faults import Line
from .planes import Embedded, Real
from .scenes import Gate, Thing, errors

# ---- own writes


def test_two_steps_that_ensure_the_same_object_do_not_collide(cluster: Embedded | Real, caplog: pytest.LogCaptureFixture) -> None:
    """cloudnative-pg/cloudnative-pg#10988, PR#10989: one run ensures a server's and a client's certificate, by default under the same name.
    The first step creates the Secret; the second finds none in the cache, creates it too, gets AlreadyExists, and the run fails.
    """
    issuer = Controller(Thing, name="issuer", owns=[Secret])

    async def ensure(ctx: Context, thing: Thing, name: str) -> None:
        if await ctx.get(Secret, f"{thing.namespace}/{name}") is None:
            await ctx.create(Secret(metadata=ObjectMeta(name=name, namespace=thing.namespace)), owner=thing)

    @issuer.reconciler
    async def issue(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is not None:
            await ensure(ctx, thing, f"{thing.name}-ca")
            await ensure(ctx, thing, f"{thing.name}-ca")

    line = cluster.launch(issuer)
    line.hold("secrets")
    cluster.thing()
    cluster.advance(timedelta(seconds=5))
    line.release("secrets")
    cluster.settle()
    assert len(line.asked("create", plural="secrets")) == 1
    assert {ended.result for ended in cluster.heard(RunEnded, controller="issuer")} == {"success"}
    assert errors(caplog) == []


def test_children_with_generated_names_are_not_made_twice(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/kubebuilder#1381, kubernetes-sigs/controller-runtime#403: a parent wants three children with generated names. The
    first run makes them; an event starts a second one before the cache shows them, which lists none, and makes three more.
    """
    parent, counts = Controller(Thing, name="parent", owns=[ConfigMap]), list[int]()

    @parent.reconciler
    async def populate(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        children = await ctx.list(ConfigMap, owner=thing)
        counts.append(len(children))
        for _ in range(thing.spec.size - len(children)):
            await ctx.create(ConfigMap(metadata=ObjectMeta(generate_name="child-", namespace=request.namespace)), owner=thing)

    line = cluster.launch(parent)
    line.hold("configmaps")
    thing = cluster.thing(size=3)
    cluster.until(lambda: counts == [0])
    for number in range(3):
        cluster.edit(thing, value=str(number))
        cluster.until(lambda number=number: len(counts) > number + 1)
    line.release("configmaps")
    cluster.settle()
    assert counts == [0, *[3] * (len(counts) - 1)]
    assert len([child for child in cluster.list(ConfigMap, namespace=cluster.namespace) if child.name.startswith("child-")]) == 3


def test_a_counter_is_not_lost_when_a_foreign_write_comes_between(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/cluster-api#10911, PR#13032, #13725, #13720, PR#14215: a retry counter in an annotation is read from an old object
    and written back, so that a step of it is lost. To wait until the cached version has *changed* does not help: somebody else's write
    changes it too. Here the cache is told of that write, but not yet of the own one after it.
    """
    gate, counts = Gate(), list[int]()
    counting = Controller(Thing, name="counting")

    @counting.reconciler
    async def count(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None or thing.spec.value != "go":
            return
        tries = int(thing.metadata.annotations.get("tries", "0"))
        counts.append(tries)
        if tries < 3:
            await gate.passed()
            await ctx.patch(Thing, request, {"metadata": {"annotations": {"tries": str(tries + 1)}}})

    thing = cluster.thing()
    line = cluster.launch(counting)
    cluster.settle()
    cluster.edit(thing, value="go")
    cluster.until(lambda: gate.reached)
    foreign = cluster.change(thing, lambda found: found.metadata.labels.update(by="somebody-else"))
    line.hold("things", after=foreign.metadata.resource_version)
    gate.open()
    cluster.advance(timedelta(seconds=10))
    assert counts == list(range(len(counts)))
    assert len(counts) > 1, "the foreign write was told of, and makes another run"
    line.release("things")
    cluster.settle()
    assert list(dict.fromkeys(counts)) == [0, 1, 2, 3]
    assert counts == sorted(counts)
    assert cluster.refresh(thing).metadata.annotations["tries"] == "3"


def test_a_call_to_the_outside_is_not_repeated_for_a_status_that_was_written_already(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#1464: the phase goes from Busy by a remote call to Ready; the next run reads Busy from the cache
    once more, and repeats the call.
    """
    calls: list[str] = []
    busy = Controller(Thing, name="busy")

    async def call(name: str) -> None:
        calls.append(name)

    @busy.reconciler
    async def work(ctx: Context, request: Request) -> Result | None:
        thing = await ctx.get(Thing, request)
        if thing is None or thing.status.phase == "Ready":
            return None
        if thing.status.phase == "Busy":
            await ctx.effect(call, thing.name)
        thing.status.phase = "Ready" if thing.status.phase == "Busy" else "Busy"
        await ctx.update_status(thing)
        return Result(requeue_after=0.1)

    thing = cluster.thing()
    line = cluster.launch(busy, prepare=lambda line: line.hold("things", after=thing.metadata.resource_version))
    cluster.advance(timedelta(seconds=20))
    assert cluster.refresh(thing).status.phase == "Ready"
    line.release("things")
    cluster.settle()
    assert calls == ["a"]


# ---- names that are used again


def test_deleting_what_was_recorded_does_not_delete_its_successor(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/kueue#14830: a Job is recorded to be deleted. It is deleted by somebody else, and made again under the same name;
    then the recorded deletion is carried out, and the new Job is gone.
    """
    gate = Gate()
    cleaner = Controller(Thing, name="cleaner", owns=[ConfigMap])

    @cleaner.reconciler
    async def clean(ctx: Context, request: Request) -> None:
        recorded = await ctx.get(ConfigMap, f"{request.namespace}/job")
        if await ctx.get(Thing, request) is not None and recorded is not None:
            await gate.passed()
            await ctx.delete(recorded)

    old = cluster.create(ConfigMap(metadata=cluster.meta("job")))
    thing = cluster.thing()
    cluster.launch(cleaner)
    cluster.until(lambda: gate.reached)
    cluster.delete(thing)
    cluster.delete(old)
    successor = cluster.create(ConfigMap(metadata=cluster.meta("job")))
    gate.open()
    cluster.until(lambda: cluster.heard(RunEnded, controller="cleaner"))
    assert cluster.refresh(successor).uid == successor.uid


def _claims(found: Callable[[Context, Thing], Awaitable[list[Secret]]]) -> Controller[Thing]:
    """As many claims (here Secrets) as a Thing has size. They are deleted with it, those which `found` finds, by a finalizer."""
    claims, finalizer = Controller(Thing, name="claims", owns=[Secret]), "pains.example.com/claims"

    @claims.reconciler
    async def keep(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        wanted = [] if thing.is_terminating else [f"{thing.name}-{number}" for number in range(thing.spec.size)]
        await ctx.add_finalizer(thing, finalizer)
        for name in wanted:
            await ctx.apply(Secret(metadata=ObjectMeta(name=name, namespace=request.namespace, labels={"thing": thing.name})), owner=thing)
        for claim in await found(ctx, thing):
            if claim.name not in wanted:
                await ctx.delete(claim)
        if thing.is_terminating:
            await ctx.remove_finalizer(thing, finalizer)

    return claims


async def _by_owner(ctx: Context, thing: Thing) -> list[Secret]:
    return await ctx.list(Secret, owner=thing)


async def _by_label(ctx: Context, thing: Thing) -> list[Secret]:
    return await ctx.list(Secret, namespace=thing.namespace, labels={"thing": thing.name})


def _use_the_name_again(cluster: Embedded | Real, claims: Controller[Thing]) -> tuple[str, list[str | None]]:
    """A Thing is deleted with its claims and made again. Gives a version at which the old one was terminating, and the UIDs of its new
    claims."""
    line = cluster.launch(claims)
    old = cluster.thing("x", size=2, finalizers=("pains.example.com/hold",))
    cluster.settle()
    cluster.delete(old)
    terminating = str(cluster.refresh(old).metadata.resource_version)
    cluster.settle()
    cluster.change(old, lambda found: found.metadata.finalizers.clear())
    cluster.until(lambda: cluster.get(Thing, old.key) is None)
    cluster.thing("x", size=2)
    cluster.settle()
    cluster.kill(line)
    return terminating, [claim.uid for claim in _of(cluster)]


def _of(cluster: Embedded | Real) -> list[Any]:
    return [secret for secret in cluster.list(Secret, namespace=cluster.namespace) if not secret.is_terminating]


@pytest.mark.parametrize("found", [_by_owner, _by_label])
def test_a_restart_against_a_lagging_replica_does_not_delete_the_claims_of_a_successor(
    cluster: Embedded | Real, found: Callable[[Context, Thing], Awaitable[list[Secret]]]
) -> None:
    """k8ssandra/cass-operator#118, datastax/cass-operator#412, instaclustr/cassandra-operator#402 and #407, Orange-OpenSource/casskop#316
    and #321, pravega/zookeeper-operator#312 and #314, rabbitmq/cluster-operator#653, elastic/cloud-on-k8s#4956: an object is deleted, its
    claims with it, and made again under the same name. The operator restarts against a replica of the API server that still shows the old
    one as terminating, and deletes the claims of the new one.
    """
    terminating, uids = _use_the_name_again(cluster, _claims(found))
    cluster.launch(_claims(found), prepare=lambda line: line.lag("things", terminating))
    cluster.settle(timedelta(minutes=1))
    assert [claim.uid for claim in _of(cluster)] == uids
    assert len(uids) == 2


def _hold_back(line: Line, version: str, *plurals: str) -> None:
    for plural in plurals:
        line.lag(plural, version, lies=True)
        line.hold(plural, after=version)


@pytest.mark.parametrize(
    ("found", "lagging", "kept"),
    [
        (_by_owner, ("things",), True),
        (_by_owner, ("things", "secrets"), True),
        (_by_label, ("things", "secrets"), True),  # what it decides to delete are the old claims, which are no more
        (_by_label, ("things",), False),
    ],
)
def test_not_even_a_server_that_shows_the_past_as_present_costs_a_successor_its_claims(
    embedded: Embedded, found: Callable[[Context, Thing], Awaitable[list[Secret]]], lagging: tuple[str, ...], kept: bool
) -> None:
    """The same threads, with a server that tells of the past whatever it is asked for. Claims that are found by their owner, which means by
    its UID, are safe, and so is what is deleted as it was read. Only who finds them by a label, in a cache that is newer, takes the new
    ones for the old one's.
    """
    terminating, uids = _use_the_name_again(embedded, _claims(found))
    line = embedded.launch(_claims(found), prepare=lambda line: _hold_back(line, terminating, *lagging))
    embedded.advance(timedelta(seconds=20))
    assert ([claim.uid for claim in _of(embedded)] == uids) is kept
    for plural in lagging:
        line.release(plural)
    embedded.settle(timedelta(minutes=1))
    assert len(_of(embedded)) == 2
    assert embedded.get(Thing, f"{embedded.namespace}/x").uid is not None


# ---- a cache that holds a part


def test_an_object_that_lost_the_selectors_label_is_adopted_again(cluster: Embedded | Real, caplog: pytest.LogCaptureFixture) -> None:
    """hashicorp/vault-secrets-operator#1212, openshift/external-secrets-operator#153, IBM/ibm-common-service-operator#2879: the cache holds
    Secrets with a label only. Somebody takes the label off one. From then on reading it finds nothing, creating it says AlreadyExists, and
    so it goes on for ever.
    """
    keeper = Controller(Thing, name="keeper")
    keeper.watch(Secret, labels="managed-by=me", map=lambda secret: [Request(secret.namespace, secret.name)])

    @keeper.reconciler
    async def keep(ctx: Context, request: Request) -> None:
        thing = await ctx.get(Thing, request)
        if thing is None:
            return
        secret = Secret(metadata=ObjectMeta(name=request.name, namespace=request.namespace, labels={"managed-by": "me"}))
        if await ctx.get(Secret, request) is None:
            await ctx.create(secret, owner=thing)
        else:
            await ctx.apply(secret, owner=thing)

    thing = cluster.thing()
    cluster.launch(keeper)
    cluster.settle()
    secret = cluster.get(Secret, thing.key)
    cluster.change(secret, lambda found: found.metadata.labels.clear())
    cluster.settle(timedelta(seconds=10))
    assert cluster.refresh(secret).metadata.labels == {"managed-by": "me"}
    assert [ended.error for ended in cluster.heard(RunEnded, controller="keeper") if ended.error] == []
    assert errors(caplog) == []


def test_creating_what_the_selector_hides_is_explained(cluster: Embedded | Real, caplog: pytest.LogCaptureFixture) -> None:
    """hashicorp/vault-secrets-operator#1212: the same, by a controller that lists before it creates. A list shows what the selector shows;
    that the Secret exists all the same must be said, or people look for it for days.
    """
    keeper = Controller(Thing, name="keeper")
    keeper.watch(Secret, labels="managed-by=me", map=lambda secret: [Request(secret.namespace, secret.name)])

    @keeper.reconciler
    async def keep(ctx: Context, request: Request) -> None:
        if not await ctx.list(Secret, namespace=request.namespace, labels="managed-by=me"):
            labels = {"managed-by": "me"}
            await ctx.create(Secret(metadata=ObjectMeta(name=request.name, namespace=request.namespace, labels=labels)))

    cluster.create(Secret(metadata=cluster.meta("a")))
    cluster.thing()
    cluster.launch(keeper)
    (said,) = cluster.until(lambda: errors(caplog)[:1], "the error")
    assert "managed-by=me" in said
    assert "live=True" in said
    cluster.stop()


@pytest.mark.parametrize("whole", [False, True], ids=["changed", "replaced"])
def test_what_the_cache_leaves_out_is_not_lost_by_an_update(cluster: Embedded | Real, whole: bool) -> None:
    """operator-framework/operator-controller#2328: to save memory the cache leaves an annotation out. Later the object is updated as a
    whole, as it was read, and the annotation is gone from the server too.
    """
    labelling, annotation = Controller(ConfigMap, name="labelling", labels="app=web"), "kubectl.kubernetes.io/last-applied-configuration"

    @labelling.reconciler
    async def label(ctx: Context, request: Request) -> None:
        found = await ctx.get(ConfigMap, request)
        if found is not None:
            assert annotation not in found.metadata.annotations
            assert found.data == {}
            found.metadata.labels = {"app": "web", "by": "me"}
            if whole:
                found.metadata.annotations = {"kept": "yes", "mine": "too"}
            await ctx.update(found)

    annotations = {annotation: "{}", "kept": "yes"}
    made = cluster.create(ConfigMap(metadata=cluster.meta("a", labels={"app": "web"}, annotations=annotations), data={"key": "value"}))
    strip = [f'metadata.annotations["{annotation}"]', "data"]
    cluster.launch(labelling, configure=lambda manager: manager.cache.configure(ConfigMap, strip=strip))
    cluster.settle()
    found = cluster.refresh(made)
    assert found.metadata.labels == {"app": "web", "by": "me"}
    assert found.metadata.annotations == annotations | ({"mine": "too"} if whole else {})
    assert found.data == {"key": "value"}
