"""The correction: the name of a set follows from its template, so that making it again is no other one."""

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
        metadata = ObjectMeta(name=f"{deployment.name}-{deployment.spec.template}")
        await ctx.apply(set_for(deployment, metadata), owner=deployment)
    for old in sets:
        if old.spec.template != deployment.spec.template and not old.is_terminating:
            await ctx.delete(old)
    if deployment.status.current != deployment.spec.template:
        deployment.status.current = deployment.spec.template
        await ctx.update_status(deployment)
