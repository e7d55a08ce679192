"""Creates a set under a random name, and gives up too early waiting for the cache to show it."""

import asyncio

from setpoint import Context, Controller, ObjectMeta, Request

from .kinds import MachineDeployment, MachineSet, set_for

controller = Controller(MachineDeployment, name="machinedeployment", owns=[MachineSet])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    deployment = await ctx.get(MachineDeployment, request)
    if deployment is None or deployment.is_terminating:
        return
    sets = await ctx.list(MachineSet, namespace=deployment.namespace, owner=deployment)
    if not any(each.spec.template == deployment.spec.template for each in sets):
        metadata = ObjectMeta(generate_name=f"{deployment.name}-")
        created = await ctx.create(set_for(deployment, metadata), owner=deployment)
        await until_seen(ctx, created)
    for old in sets:
        if old.spec.template != deployment.spec.template and not old.is_terminating:
            await ctx.delete(old)
    if deployment.status.current != deployment.spec.template:
        deployment.status.current = deployment.spec.template
        await ctx.update_status(deployment)


async def until_seen(ctx: Context, created: MachineSet) -> None:
    for _ in range(5):
        if await ctx.get(MachineSet, created.key) is not None:
            return
        await asyncio.sleep(0.1)
    raise TimeoutError(f"timed out waiting for {created.key} to be in the cache")
