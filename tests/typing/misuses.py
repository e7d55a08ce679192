"""A line that ends in `# refused` must be an error to the type checkers; every other line must not be one."""

from __future__ import annotations

from collections.abc import Iterable

from good import Bulb, Lamp

from setpoint.controller import Context, Controller, Reader, Result, SyncContext
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
