"""`ctx.client`: the whole client on behalf of a run, on the embedded server, whose watches are held back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from setpoint.api import Operation, Outcome, Unknown
from setpoint.cache import Cache
from setpoint.client import Client, Connection, InProcessTransport, RequestSent, errors
from setpoint.cluster.server import ApiServer
from setpoint.controller import Context, Controller, ControllerRuntime, PruneRefused, RunEnded, SyncContext
from setpoint.controller.view import still_exists
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap, Pod
from setpoint.objects import ObjectMeta, Request, Scheme
from setpoint.world import World, simulate

A = Request("default", "a")
SELECTOR = {"matchLabels": {"app": "a"}}
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "a", "namespace": "default"},
    "spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE},
}
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}, "spec": TEMPLATE["spec"]}


def config(name: str = "a", **metadata: object) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", **metadata))


class Line:
    """The way to the server: what went over it, frames that wait, and outcomes that get lost."""

    def __init__(self, world: World) -> None:
        self.inner = InProcessTransport(ApiServer(world).handle)
        self.sent: list[Operation] = []
        self.lost: Callable[[Operation], bool] = lambda operation: False
        self.flows = asyncio.Event()
        self.flows.set()

    async def send(self, operation: Operation, /) -> Outcome:
        self.sent.append(operation)
        outcome = await self.inner.send(operation)
        if self.lost(operation):
            return Unknown("the line went dead")
        return Held(outcome, self.flows) if operation.verb == "watch" else outcome

    async def close(self) -> None:
        await self.inner.close()


class Held:
    """A stream whose frames wait until they may flow."""

    def __init__(self, inner, flows: asyncio.Event) -> None:
        self.inner, self.flows = inner, flows

    async def read(self) -> list[bytes] | None:
        await self.flows.wait()
        lines = await self.inner.read()
        await self.flows.wait()
        return lines

    async def close(self) -> None:
        await self.inner.close()


class Story:
    """One controller of ConfigMaps that runs for one key; the first run is the test."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.line = Line(world)
        self.client = Client(Connection(self.line, world, timeout=5.0), namespace="default")
        self.runs: list[RunEnded] = []
        self.told: list[RequestSent] = []
        world.observer.subscribe(self.hear)

    def hear(self, event: object) -> None:
        if isinstance(event, RunEnded):
            self.runs.append(event)
        if isinstance(event, RequestSent):
            self.told.append(event)


def in_first_run(body: Callable[[Context, Story], Awaitable[None]], *, then: Callable[[Context, Story], Awaitable[None]] | None = None):
    """Runs the body with synced caches, frames held back; `then` is the run after it. What they raise is raised."""

    async def main(world: World) -> Story:
        story = Story(world)
        for manifest in (DEPLOYMENT, POD):
            await story.client.apply(manifest)
        await story.client.create(config())
        await story.client.create(config("b", finalizers=["example.com/kept"]))
        bodies, done = [body] if then is None else [body, then], asyncio.get_running_loop().create_future()
        controller = Controller(ConfigMap, owns=[Deployment, Pod], predicate=None)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            if request != A or done.done():
                return
            story.line.flows.clear()
            story.line.sent.clear()
            try:
                await bodies.pop(0)(ctx, story)
            except errors.OutcomeUnknown:
                raise
            except Exception as error:
                done.set_exception(error)
            if not bodies:
                done.set_result(None)

        cache = Cache(story.client.connection, Scheme(ConfigMap, Deployment, Pod))
        runtime = ControllerRuntime(controller, world=world, cache=cache, client=story.client)
        running = asyncio.ensure_future(cache.run())
        await runtime.start()
        await done
        await runtime.stop(wait=False)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return story

    return simulate(main)


def test_a_scale_that_is_set_is_seen_by_the_read_that_follows_though_its_answer_holds_no_deployment() -> None:
    async def body(ctx: Context, story: Story) -> None:
        assert (await ctx.client.set_scale(Deployment, A, 5)).replicas == 5
        found = await ctx.get(Deployment, A)
        assert found is not None
        assert found.spec.replicas == 5
        assert (await ctx.list(Deployment))[0].spec.replicas == 5

    in_first_run(body)


def test_a_collection_that_is_deleted_is_seen_gone_but_for_what_waits_for_its_finalizers() -> None:
    async def body(ctx: Context, story: Story) -> None:
        await ctx.client.create(config("c", labels={"keep": "yes"}))
        await ctx.client.delete_collection(ConfigMap, namespace="default", labels="keep!=yes")
        assert [(obj.name, obj.is_terminating) for obj in await ctx.list(ConfigMap)] == [("b", True), ("c", False)]
        assert await ctx.get(ConfigMap, A) is None

    in_first_run(body)


def test_writes_by_the_client_are_seen_as_those_of_the_context_are() -> None:
    async def body(ctx: Context, story: Story) -> None:
        client = ctx.client
        await client.patch(ConfigMap, A, {"data": {"k": "1"}})
        mine = await ctx.get(ConfigMap, A)
        assert mine is not None
        assert mine.data == {"k": "1"}
        await client.delete(ConfigMap, "default/a")
        assert await ctx.get(ConfigMap, A) is None
        await client.delete(ConfigMap, "default/a")  # it is gone, which is what was wanted
        await client.create(config(labels={"new": "yes"}))
        again = await ctx.get(ConfigMap, A)
        assert again is not None
        assert again.metadata.labels == {"new": "yes"}
        await client.delete(again)
        assert await ctx.get(ConfigMap, A) is None

    in_first_run(body)


def test_a_trial_is_not_seen() -> None:
    async def body(ctx: Context, story: Story) -> None:
        tried = await ctx.client.bound(dry_run=True).patch(ConfigMap, A, {"data": {"k": "1"}})
        assert tried.data == {"k": "1"}
        await ctx.client.bound(dry_run=True).delete(ConfigMap, A)
        mine = await ctx.get(ConfigMap, A)
        assert mine is not None
        assert mine.data == {}

    in_first_run(body)


def test_a_write_of_unknown_outcome_makes_the_next_run_wait_for_the_cache() -> None:
    async def first(ctx: Context, story: Story) -> None:
        story.line.lost = lambda operation: operation.subresource == "scale"
        asyncio.get_running_loop().call_later(7, story.line.flows.set)
        with pytest.raises(errors.OutcomeUnknown):
            await ctx.client.set_scale(Deployment, A, 5)
        story.line.lost = lambda operation: False
        raise_again = await ctx.client.get_scale(Deployment, A)
        assert raise_again.replicas == 5

    async def again(ctx: Context, story: Story) -> None:
        found = await ctx.get(Deployment, A)
        assert found is not None
        assert found.spec.replicas == 5
        assert asyncio.get_running_loop().time() >= 7

    async def failing(ctx: Context, story: Story) -> None:
        await first(ctx, story)
        story.lost = True
        raise errors.OutcomeUnknown(errors.unreachable("", story.line.sent[0]).status)

    in_first_run(failing, then=again)


def test_a_collection_whose_deletion_is_of_unknown_outcome_is_waited_for_too() -> None:
    async def first(ctx: Context, story: Story) -> None:
        story.line.lost = lambda operation: operation.verb == "deletecollection"
        asyncio.get_running_loop().call_later(7, story.line.flows.set)
        await ctx.client.delete_collection(ConfigMap, namespace="default", fields="metadata.name=a")

    async def again(ctx: Context, story: Story) -> None:
        assert [obj.name for obj in await ctx.list(ConfigMap)] == ["b"]
        assert asyncio.get_running_loop().time() >= 7

    in_first_run(first, then=again)


class Late:
    """A server that takes a second for scales, and for collections that are deleted."""

    def __init__(self, inner: InProcessTransport) -> None:
        self.inner = inner

    async def send(self, operation: Operation, /) -> Outcome:
        if operation.is_write:
            await asyncio.sleep(1)
        return await self.inner.send(operation)


def test_what_a_write_did_is_seen_by_the_next_run_also_if_its_own_had_ended_when_it_was_answered() -> None:
    """As in a `gather` of which one part fails while the others are under way; the answers hold no object."""

    async def failing(ctx: Context, story: Story) -> None:
        story.line.inner = Late(story.line.inner)

        async def fail() -> None:
            await asyncio.sleep(0.5)
            raise errors.OutcomeUnknown(errors.unreachable("", story.line.sent[0]).status)

        await asyncio.gather(ctx.client.set_scale(Deployment, A, 5), ctx.client.delete_collection(ConfigMap, namespace="default"), fail())

    async def again(ctx: Context, story: Story) -> None:
        found = await ctx.get(Deployment, A)
        assert found is not None
        assert found.spec.replicas == 5
        assert [(obj.name, obj.is_terminating) for obj in await ctx.list(ConfigMap)] == [("b", True)]

    in_first_run(failing, then=again)


def test_an_apply_of_the_client_that_fails_keeps_prune_from_deleting() -> None:
    async def body(ctx: Context, story: Story) -> None:
        with pytest.raises(errors.NotFound):
            await ctx.client.apply(ConfigMap(metadata=ObjectMeta(name="x", namespace="nowhere")))
        with pytest.raises(PruneRefused):
            await ctx.prune(ConfigMap, keep=[], labels="a=b")

    in_first_run(body)


def test_the_client_names_the_run_for_observers_and_ends_with_it() -> None:
    kept: list[Client] = []

    async def body(ctx: Context, story: Story) -> None:
        kept.append(ctx.client)
        story.told.clear()
        await ctx.client.get_scale(Deployment, A)
        assert [told.operation.run for told in story.told] == ["configmap default/a"]

    async def main(world: World) -> None:
        with pytest.raises(RuntimeError, match="of no use any more"):
            await kept[0].get(ConfigMap, A)

    in_first_run(body)
    simulate(main)


def test_a_plain_reconciler_has_the_same_client_blocking() -> None:
    async def main(world: World) -> None:
        story = Story(world)
        await story.client.apply(DEPLOYMENT)
        await story.client.create(config())
        seen, done = [], asyncio.get_running_loop().create_future()
        controller = Controller(ConfigMap, owns=[Deployment])

        @controller.reconciler
        def reconcile(ctx: SyncContext, request: Request) -> None:
            if request == A:
                ctx.client.set_scale(Deployment, A, 3)
                found = ctx.get(Deployment, A)
                seen.append(found is not None and found.spec.replicas)

        story.world.observer.subscribe(lambda event: isinstance(event, RunEnded) and not done.done() and done.set_result(event))
        cache = Cache(story.client.connection, Scheme(ConfigMap, Deployment))
        runtime = ControllerRuntime(controller, world=world, cache=cache, client=story.client)
        running = asyncio.ensure_future(cache.run())
        await runtime.start()
        await done
        await runtime.stop(wait=False)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert seen == [3]

    simulate(main)


def test_a_terminating_namespace_that_a_run_writes_to_is_still_there() -> None:
    """It has finalizers of its own, in its spec."""
    terminating = b'{"deletionTimestamp":"2026-01-01T00:00:00Z"}'
    for kind, spec, stays in (("Namespace", b'{"finalizers":["kubernetes"]}', True), ("Namespace", b"{}", False), ("Pod", b"{}", False)):
        answer = b'{"apiVersion":"v1","kind":"%b","metadata":%b,"spec":%b}' % (kind.encode(), terminating, spec)
        assert still_exists(answer) == stays
