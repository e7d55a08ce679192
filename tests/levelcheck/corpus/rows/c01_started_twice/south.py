"""The environment: the agent of the other node."""

from setpoint import Context, Controller, Request

from .kinds import FINALIZER, Container, Task, container_for, task_of

NODE = "south"
controller = Controller(Task, name=f"agent-{NODE}")
controller.watch(Container, map=task_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    task = await ctx.get(Task, request)
    here = [
        each for each in await ctx.list(Container, namespace=request.namespace) if (each.spec.node, each.spec.task) == (NODE, request.name)
    ]
    if task is not None and is_wanted(task):
        if not here:
            await ctx.create(container_for(task))
    elif here and not is_wanted(await ctx.get(Task, request, live=True)):
        for container in here:
            await ctx.delete(container)
    elif task is not None and task.is_terminating and task.spec.node == NODE:
        await ctx.remove_finalizer(task, FINALIZER)


def is_wanted(task: Task | None) -> bool:
    return task is not None and not task.is_terminating and task.spec.node == NODE
