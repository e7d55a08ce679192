"""The correction: before something is started, the server is asked whether it is still to run."""

from setpoint import Context, Controller, Request

from .kinds import FINALIZER, Container, Task, container_for, task_of

NODE = "north"
controller = Controller(Task, name=f"agent-{NODE}")
controller.watch(Container, map=task_of)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    task = await ctx.get(Task, request)
    here = [
        each for each in await ctx.list(Container, namespace=request.namespace) if (each.spec.node, each.spec.task) == (NODE, request.name)
    ]
    if task is not None and is_wanted(task):
        if not here and await is_current(ctx, task):
            await ctx.create(container_for(task))
    elif here and not is_wanted(await ctx.get(Task, request, live=True)):
        for container in here:
            await ctx.delete(container)
    elif task is not None and task.is_terminating and task.spec.node == NODE:
        await ctx.remove_finalizer(task, FINALIZER)


def is_wanted(task: Task | None) -> bool:
    return task is not None and not task.is_terminating and task.spec.node == NODE


async def is_current(ctx: Context, task: Task) -> bool:
    """Whether the server still has what was seen; if not, the cache is behind, and what comes makes another run."""
    live = await ctx.get(Task, task.key, live=True)
    return live is not None and live.uid == task.uid and is_wanted(live)
