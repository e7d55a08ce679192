"""The correction: each machine has a number and thus a name, so that one that is not seen yet cannot be created again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, ObjectMeta, Request

from .kinds import FINALIZER, ControlPlane, Machine, machine_for
from .outside import Cloud


async def keep_plane(ctx: Context, request: Request) -> None:
    plane = await ctx.get(ControlPlane, request)
    if plane is None or plane.is_terminating:
        return
    machines = await ctx.list(Machine, namespace=plane.namespace, owner=plane)
    for name in [f"{plane.name}-{number}" for number in range(plane.spec.replicas)]:
        if name not in [machine.name for machine in machines]:
            await ctx.create(machine_for(plane, ObjectMeta(name=name)), owner=plane)
    if plane.status.replicas != plane.spec.replicas:
        plane.status.replicas = plane.spec.replicas
        await ctx.update_status(plane)


@asynccontextmanager
async def app(manager: Manager, cloud: Cloud) -> AsyncIterator[None]:
    async def keep_machine(ctx: Context, request: Request) -> None:
        machine = await ctx.get(Machine, request)
        if machine is None:
            return
        if machine.is_terminating:
            await ctx.effect(cloud.remove, machine.uid)
            await ctx.remove_finalizer(machine, FINALIZER)
        elif not machine.status.rented:
            await ctx.add_finalizer(machine, FINALIZER)
            await ctx.effect(cloud.ensure, machine.uid)
            machine.status.rented = True
            await ctx.update_status(machine)

    manager.add(Controller(ControlPlane, name="controlplane", owns=[Machine], reconciler=keep_plane))
    manager.add(Controller(Machine, name="machine", reconciler=keep_machine))
    yield
