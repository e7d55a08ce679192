"""Everything here must be accepted by the type checkers: the ways in which reconcilers, mappers and controllers are written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from setpoint.client import Client, SyncClient, connect
from setpoint.controller import (
    Backoff,
    Bearer,
    Bucket,
    Context,
    Controller,
    Cron,
    Every,
    Feed,
    MaxOf,
    Owns,
    Predicate,
    RateLimiter,
    Reader,
    Result,
    Signature,
    SyncContext,
    Watch,
    mappers,
    predicates,
)
from setpoint.manager import App, Manager
from setpoint.objects import Condition, Index, Object, ObjectMeta, Request, Resource, Struct, kind


class LampSpec(Struct):
    watts: int = 5


class LampStatus(Struct):
    lit: bool = False
    conditions: list[Condition] = []


@kind(group="test.example.com", version="v1")
class Lamp(Resource[LampSpec, LampStatus]):
    """A kind with a status."""


@kind(group="test.example.com", version="v1")
class Bulb(Object):
    """A kind without one."""

    colour: str


by_colour = Index(Bulb, lambda bulb: [bulb.colour])
async_controller = Controller(Lamp, owns=[Bulb], indexes=[by_colour], predicate=predicates.generation_changed)


@async_controller.reconciler
async def returns_nothing(ctx: Context, request: Request) -> None:
    lamp = await ctx.get(Lamp, request)
    if lamp is None:
        return
    bulb = await ctx.apply(Bulb(metadata=ObjectMeta(name=lamp.name), colour="red"), owner=lamp)
    colour: str = bulb.colour
    untyped = await ctx.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": colour}})
    ctx.log.info("applied %s", untyped["metadata"])
    typed = await ctx.apply({"metadata": {"name": "x"}}, Bulb)
    ctx.log.info("applied %s", typed.colour)
    gone: list[Request] = await ctx.prune(Bulb, owner=lamp, keep=[bulb])
    found: list[Bulb] = await ctx.list(Bulb, index=by_colour("red"))
    ctx.set_condition(lamp, "Lit", bool(found), reason="Counted", message=str(gone))
    lamp.status.lit = await ctx.effect(switch, "on", seconds=3)
    updated: Lamp = await ctx.update_status(lamp)
    ctx.event(updated, "Lit", "it shines")


async def switch(to: str, *, seconds: int) -> bool:
    return to == "on" and seconds > 0


def switch_blocking(to: str) -> bool:
    return to == "on"


maybe = Controller(Lamp, name="maybe")


@maybe.reconciler
async def returns_a_result(ctx: Context, request: Request) -> Result | None:
    return Result(requeue_after=timedelta(minutes=5)) if await ctx.get(Lamp, request) else None


blocking = Controller(Lamp, name="blocking", concurrency=4, deadline=30.0)


@blocking.reconciler
def blocks(ctx: SyncContext, request: Request) -> Result:
    lamp = ctx.get(Lamp, request)
    if lamp is not None:
        lamp.status.lit = ctx.effect(switch_blocking, "on")
        kept: list[Bulb] = ctx.apply_all([Bulb(colour="red")], owner=lamp)
        ctx.prune(Bulb, owner=lamp, keep=kept)
        ctx.update_status(lamp)
    return Result(requeue_after=60)


class Switchboard:
    async def __call__(self, ctx: Context, request: Request) -> None: ...

    async def method(self, ctx: Context, request: Request) -> Result | None: ...


Controller(Lamp, reconciler=Switchboard())
Controller(Lamp, reconciler=Switchboard().method)
Controller(Lamp, predicate=Predicate[Lamp](lambda old, new: old is None) & predicates.labelled("a=b"))


@blocking.watch(Bulb, labels="colour=red")
def lamps_of(bulb: Bulb) -> Iterable[Request]:
    yield Request(bulb.namespace, bulb.colour)


@blocking.watch(Bulb)
async def lamps_read(bulb: Bulb, reader: Reader) -> list[Request]:
    return [lamp.key for lamp in await reader.list(Lamp, labels={"colour": bulb.colour})]


still_a_controller: Controller[Lamp] = Controller(Lamp).watch(Bulb, map=lamps_of).watch(Bulb, map=lamps_read)
requests: Iterable[Request] = lamps_of(Bulb(colour="red"))


async def outside(client: Client) -> None:
    waited: Lamp = await client.wait(Lamp, "a", lambda lamp: lamp.status.lit, timeout=5)
    edited: Lamp = await client.edit(Lamp, waited.key, lambda lamp: lamp.metadata.labels.update(seen="yes"))
    async for key, obj in client.watch(Lamp, namespace="default"):
        known: Request = key
        seen: Lamp | None = obj
        print(known, seen, edited.spec.watts)
    async with client.exec("web", ["sh"], stdin=True) as process:
        await process.write("ls\n")
        code: int = (await process.communicate()).exit_code
        print(code)
    token: str = (await client.request_token("robot")).token
    print(token)


def script() -> None:
    with connect(namespace="default") as client:
        found: Lamp | None = client.get(Lamp, "a")
        bulbs: list[Bulb] = client.list(Bulb)
        for key, obj in client.watch(Bulb):
            print(key.name, obj.colour if obj is not None else found, bulbs)
        with client.port_forward("web", 80) as stream:
            data: bytes = stream.read()
            print(data)


async def asynchronous_script() -> None:
    async with connect(as_user="jane") as client:
        await outside(client)


async def by_the_client(ctx: Context) -> None:
    replicas: int = (await ctx.client.set_scale(Lamp, "default/a", 3)).replicas
    print(replicas)


def by_the_client_blocking(ctx: SyncContext) -> None:
    replicas: int = ctx.client.get_scale(Lamp, "default/a").replicas
    print(replicas)


# triggers from outside


outer = Controller(Lamp, name="outer", owns=[Bulb, Owns(Bulb, labels={"colour": "red"}, fields="metadata.name=a", metadata_only=True)])


@outer.source
async def lit_elsewhere() -> AsyncIterator[Request]:
    yield Request("default", "a")


@outer.source(name="feed", finite=True)
async def read_elsewhere(feed: Feed) -> AsyncIterator[Request]:
    started: datetime = feed.now()
    lamps: list[Lamp] = await feed.list(Lamp, namespace="default")
    print(started, lamps)
    for key in feed.primary_keys():
        yield key


def all_red() -> Iterable[Request]:
    return [Request("default", "red")]


async def all_of(reader: Reader) -> list[Request]:
    return [lamp.key for lamp in await reader.list(Lamp)]


every: Every = outer.source(Every(seconds=300, jitter=0.1))
outer.source(Every(seconds=300, keys=all_red, name="red"))
cron: Cron = outer.source(Cron("0 3 * * *", timezone="Europe/Berlin", keys=all_of))
next_tick: datetime = cron.after(datetime.now())
still_a_source: AsyncIterator[Request] = lit_elsewhere()


@outer.hook()
def called(headers: Mapping[str, str], body: bytes) -> list[Request]:
    return [Request("default", headers["x-name"])] if body else []


@outer.hook("signed", auth=Signature(env="SECRET"), max_bytes=1000)
async def called_and_read(headers: Mapping[str, str], body: bytes, reader: Reader) -> Iterable[Request]:
    return await all_of(reader)


outer.hook("token", auth=Bearer(file="/token"))(called)
keys_of_a_call: list[Request] = called({}, b"")

# which objects concern whom, and when


def colours_of(bulb: Bulb) -> list[str]:
    return [bulb.colour]


by_watts = Index(Lamp, lambda lamp: [str(lamp.spec.watts)])
chained: Controller[Lamp] = (
    Controller(Lamp, name="mapped", predicate=predicates.field_changed("spec.watts", "metadata.labels") | ~predicates.ignoring_status)
    .watch(Bulb, map=mappers.to_owner(Lamp))
    .watch(Bulb, map=mappers.to_all(Lamp), labels="colour=red", priority=5)
    .watch(Bulb, map=mappers.by_label("lamp", namespace="default"), predicate=predicates.field_changed("colour"))
    .watch(Bulb, map=mappers.by_annotation("example.com/lamp"), metadata_only=True)
    .watch(Bulb, map=mappers.by_index(by_watts, colours_of))
)
late: Watch = chained.new_watch(Bulb, mappers.to_owner(Lamp), fields="metadata.name=a")
brighter: Predicate[Lamp] = predicates.comparing(lambda old, new: new.spec.watts > old.spec.watts)
bright: Predicate[Lamp] = predicates.matching(lambda lamp: lamp.spec.watts > 9)
relabelled: Predicate[Lamp] = predicates.changed(lambda lamp: lamp.metadata.labels)
Controller(Lamp, predicate=brighter & bright | ~relabelled)

# the order of work


class Minutes:
    """Whatever has these three is a rate limiter."""

    def next(self, key: Request) -> float:
        return 60.0

    def forget(self, key: Request) -> None: ...

    def failures(self, key: Request) -> int:
        return 0


limiter: RateLimiter = Minutes()
Controller(Lamp, rate_limiter=lambda world: Backoff(world.chance, base=1, cap=60), min_interval=5.0, resync=3600)
Controller(Lamp, rate_limiter=lambda world: MaxOf(Backoff(world.chance), Bucket(world.clock, rate=10, burst=100)), resync=None)
Controller(Lamp, rate_limiter=lambda world: Minutes())


async def with_a_priority(ctx: Context, request: Request) -> Result:
    return Result(requeue_after=5, priority=10)


Controller(Lamp, reconciler=with_a_priority)

# a manager at work


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    manager.add(outer, chained)
    manager.cache.configure(Bulb, strip=["metadata.managedFields"], compress=True)
    manager.add_health_check("bulbs", lambda: None)
    yield


still_an_app: App = app


async def at_work(manager: Manager) -> None:
    manager.trigger(outer, Request("default", "a"), "somebody asked")
    manager.trigger("outer", Request("default", "a"))
    manager.trigger_all(outer)
    manager.trigger_threadsafe(outer, Request("default", "a"))
    manager.set_namespaces(["team-a", "team-b"])
    watched: tuple[str, ...] | None = manager.namespaces
    ended: Watch = await manager.add_watch(chained, late)
    await manager.remove_watch(chained, ended)
    async with manager.running():
        print(watched, manager.is_idle)


# the client, in a run and blocking


async def all_verbs(ctx: Context, lamp: Lamp) -> None:
    patched: Lamp = await ctx.client.patch(Lamp, lamp.key, [{"op": "remove", "path": "/spec"}], type="json")
    await ctx.client.delete_collection(Bulb, namespace="default", labels={"colour": "red"})
    tried: Lamp = await ctx.client.bound(dry_run=True, field_validation="Strict").update(patched)
    await ctx.client.wait_gone(Bulb, "default/a", timeout=5)
    await ctx.client.evict("default/web", grace_seconds=5)
    async for line in ctx.client.logs("default/web", follow=True, tail=10):
        text: str = line
        print(text, tried)
    async with ctx.client.port_forward("default/web", 80) as stream:
        await stream.write(b"GET /")
        async for data in stream:
            part: bytes = data
            print(part)


def plain_verbs(client: SyncClient, lamp: Lamp) -> None:
    edited: Lamp = client.edit(Lamp, lamp.key, lambda lamp: lamp.metadata.labels.update(seen="yes"), namespace="default")
    waited: Lamp = client.wait(Lamp, edited.key, lambda lamp: lamp.status.lit, timeout=5)
    applied: Bulb = client.apply(Bulb(colour="red"), owner=waited)
    for line in client.logs("web"):
        text: str = line
        print(text, applied)
    with client.exec("web", ["sh", "-c", "ls"], namespace="default") as process:
        process.write("exit\n")
        code: int = process.wait()
        data: bytes = process.stdout.read_all()
        print(code, data)
