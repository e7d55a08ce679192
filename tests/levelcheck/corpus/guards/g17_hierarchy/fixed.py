"""A Fleet has Ships, and a Ship has a ConfigMap, its log. Two controllers; what is below goes by garbage collection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from setpoint import Context, Controller, Field, Manager, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import ConfigMap


class FleetSpec(Struct):
    ships: Annotated[list[str], Field(list_type="set")] = []


class FleetStatus(Struct):
    at_sea: int = 0


@kind(group="guards.example.com", version="v1")
class Fleet(Resource[FleetSpec, FleetStatus]):
    """Ships under one flag."""


class ShipSpec(Struct):
    flag: str


class ShipStatus(Struct):
    at_sea: bool = False


@kind(group="guards.example.com", version="v1")
class Ship(Resource[ShipSpec, ShipStatus]):
    """A ship with a log."""


fleets = Controller(Fleet, owns=[Ship])
ships = Controller(Ship, owns=[ConfigMap])


@fleets.reconciler
async def send(ctx: Context, request: Request) -> None:
    fleet = await ctx.get(Fleet, request)
    if fleet is None or fleet.is_terminating:
        return
    wanted = [
        Ship(metadata=ObjectMeta(name=f"{fleet.name}-{name}", namespace=fleet.namespace), spec=ShipSpec(flag=fleet.name))
        for name in fleet.spec.ships
    ]
    sent = await ctx.apply_all(wanted, owner=fleet)
    await ctx.prune(Ship, keep=sent, owner=fleet)
    fleet.status.at_sea = sum(ship.status.at_sea for ship in sent)
    await ctx.update_status(fleet)


@ships.reconciler
async def keep_log(ctx: Context, request: Request) -> None:
    ship = await ctx.get(Ship, request)
    if ship is None or ship.is_terminating:
        return
    log = ConfigMap(metadata=ObjectMeta(name=f"log-{ship.name}", namespace=ship.namespace), data={"flag": ship.spec.flag})
    await ctx.apply(log, owner=ship)
    ship.status.at_sea = True
    await ctx.update_status(ship)


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    manager.add(fleets, ships)
    yield
