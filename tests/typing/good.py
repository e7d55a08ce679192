"""Everything here must be accepted by the type checkers: the ways in which reconcilers, mappers and controllers are written."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from setpoint.client import Client, connect
from setpoint.controller import Context, Controller, Predicate, Reader, Result, SyncContext, predicates
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
