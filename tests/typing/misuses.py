"""A line that ends in `# refused` must be an error to the type checkers; every other line must not be one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

from good import Bulb, Lamp, LampSpec, late

from setpoint.client import Client, SyncClient
from setpoint.controller import (
    Backoff,
    Bucket,
    Context,
    Controller,
    Cron,
    Every,
    MaxOf,
    Owns,
    Predicate,
    Reader,
    Result,
    Signature,
    SyncContext,
    mappers,
    predicates,
)
from setpoint.manager import Manager
from setpoint.objects import OMIT, Index, Object, Request

lamps = Controller(Lamp)


@lamps.reconciler  # refused
def plain_with_the_async_context(ctx: Context, request: Request) -> None: ...


@lamps.reconciler  # refused
async def async_with_the_blocking_context(ctx: SyncContext, request: Request) -> None: ...


@lamps.reconciler  # refused
async def returns_a_number(ctx: Context, request: Request) -> int:
    return 30


@lamps.reconciler  # refused
async def wants_the_event(ctx: Context, request: Request, event: object) -> None: ...


@lamps.reconciler
async def uses_things_wrongly(ctx: Context, request: Request) -> Result | None:
    await ctx.update_status(Bulb(colour="red"))  # refused
    lamp = await ctx.get(Lamp, request)
    lamp.status.lit = True  # refused
    ctx.set_condition(Bulb(colour="red"), "Lit", True, reason="Counted")  # refused
    await ctx.effect(sleep, "long")  # refused
    Bulb()  # refused
    Bulb(colour=OMIT)
    return Result(requeue_after="soon")  # refused


async def sleep(seconds: float) -> None: ...


def of_lamp(lamp: Lamp) -> Iterable[Request]:
    return [lamp.key]


async def of_bulb_without_reader(bulb: Bulb) -> Iterable[Request]:
    return []


async def of_lamp_with_reader(lamp: Lamp, reader: Reader) -> Iterable[Request]:
    return []


lamps.watch(Bulb, map=of_lamp)  # refused
lamps.watch(Bulb, map=of_lamp_with_reader)  # refused
lamps.watch(Bulb)(of_lamp)  # refused
lamps.watch(Bulb)(of_bulb_without_reader)  # refused
lamps.watch(Lamp)(of_lamp)


class NoKind: ...


Controller(NoKind)  # refused
Controller(Lamp, owns=[NoKind])  # refused
Index(Bulb, lambda bulb: [bulb.watts])  # refused
Controller[Object]


# triggers from outside


@lamps.source  # refused
async def without_a_yield() -> list[Request]:
    return []


@lamps.source  # refused
def that_blocks() -> Iterator[Request]:
    yield Request("default", "a")


@lamps.source  # refused
async def of_objects() -> AsyncIterator[Lamp]:
    yield Lamp(spec=LampSpec())


@lamps.source(name="named", finite=True)  # refused
async def of_names() -> AsyncIterator[str]:
    yield "a"


lamps.source(Every(300))  # refused
lamps.source(Every(seconds="300"))  # refused
lamps.source(Every(seconds=300, keys=of_lamp))  # refused
lamps.source(Every(seconds=300), name="named")  # refused
lamps.source(Cron(5))  # refused
lamps.source(Cron("@daily", timezone=1))  # refused


@lamps.hook()  # refused
def of_the_body_alone(body: bytes) -> list[Request]:
    return []


@lamps.hook("objects")  # refused
def that_gives_objects(headers: Mapping[str, str], body: bytes) -> list[Lamp]:
    return []


@lamps.hook("reads")  # refused
async def async_without_reader(headers: Mapping[str, str], body: bytes) -> list[Request]:
    return []


lamps.hook("secret", auth="secret")  # refused
lamps.hook(auth=Signature("SECRET"))  # refused

# which objects concern whom, and when

lamps.watch(Bulb, map=mappers.to_owner)  # refused
lamps.watch(Bulb, map=mappers.to_owner("Lamp"))  # refused
lamps.watch(Bulb, map=mappers.by_label(Lamp))  # refused
lamps.watch(Bulb, map=mappers.by_index("watts"))  # refused
lamps.watch(Bulb, map=mappers.by_label("lamp"), priority="high")  # refused
lamps.watch(Bulb, map=mappers.by_label("lamp"), predicate=Predicate[Lamp](lambda old, new: True))  # refused
lamps.new_watch(Bulb, of_lamp)  # refused
predicates.field_changed(["spec.watts"])  # refused
Controller(Lamp, predicate=predicates.field_changed)  # refused
Controller(Lamp, predicate=predicates.matching(lambda lamp: lamp.colour))  # refused
Controller(Lamp, owns=[Owns("Bulb")])  # refused
Controller(Lamp, owns=[Owns(Bulb, labels=["a=b"])])  # refused
Controller(Lamp, owns=Owns(Bulb))  # refused

# the order of work


class Half:
    """No rate limiter: it cannot forget."""

    def next(self, key: Request) -> float:
        return 60.0


Controller(Lamp, rate_limiter=Half())  # refused
Controller(Lamp, rate_limiter=lambda world: Half())  # refused
Controller(Lamp, rate_limiter=lambda world: Backoff(world.clock))  # refused
Controller(Lamp, rate_limiter=lambda world: MaxOf(Bucket(world.clock), 60))  # refused
Controller(Lamp, min_interval="5s")  # refused
Result(requeue_after=5, priority="high")  # refused

# a manager at work


async def at_work(manager: Manager) -> None:
    manager.trigger(Lamp, Request("default", "a"))  # refused
    manager.trigger(lamps, "default/a")  # refused
    manager.trigger_all(lamps, Request("default", "a"), "why")  # refused
    manager.set_namespaces(None)  # refused
    await manager.add_watch(lamps, Bulb)  # refused
    manager.remove_watch(late)  # refused
    manager.add(Lamp)  # refused
    manager.add_ready_check("bulbs", True)  # refused


# the client, in a run and blocking


async def verbs(ctx: Context, client: Client, lamp: Lamp) -> None:
    await ctx.client.set_scale(Lamp, "default/a", "3")  # refused
    await ctx.client.patch(Lamp, "default/a", {}, type="yaml")  # refused
    client.bound(field_validation="Loose")  # refused
    await client.wait(Lamp, "a", lambda lamp: lamp.colour)  # refused
    await client.edit(Lamp, "a", lambda lamp: lamp.status.lit, subresource="scale")  # refused
    with client.exec("web", ["sh"]):  # refused
        pass
    async with client.exec("web"):  # refused
        pass
    async with client.port_forward("web", "http"):  # refused
        pass
    for _ in client.watch(Lamp):  # refused
        pass


def plain_verbs(ctx: SyncContext, client: SyncClient, lamp: Lamp) -> None:
    client.get(Lamp, "a").status  # refused
    bulb: Bulb = client.apply(lamp)  # refused
    print(bulb)
    with client.port_forward("web", 80) as stream:
        stream.write("text")  # refused
    with client.exec("web", ["ls"]) as process:
        process.wait().bit_count()
        process.stdout.read().encode()  # refused
    ctx.client.set_scale(Lamp, "default/a", 3).replicas.upper()  # refused
