"""The correction: a task run is looked for by its owner, and the status only tells of what was found."""

from setpoint import Context, Controller, Request

from .kinds import PipelineRun, TaskRun, task_run_for

controller = Controller(PipelineRun, name="pipelinerun", owns=[TaskRun])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    run = await ctx.get(PipelineRun, request)
    if run is None or run.is_terminating:
        return
    owned = await ctx.list(TaskRun, namespace=run.namespace, owner=run)
    if not owned:
        owned = [await ctx.create(task_run_for(run), owner=run)]
    if run.status.task_run != owned[0].name:
        run.status.task_run = owned[0].name
        await ctx.update_status(run)
