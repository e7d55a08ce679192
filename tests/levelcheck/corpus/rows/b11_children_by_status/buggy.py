"""Knows its task run by the name in its own status alone."""

from setpoint import Context, Controller, Request

from .kinds import PipelineRun, TaskRun, task_run_for

controller = Controller(PipelineRun, name="pipelinerun", owns=[TaskRun])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    run = await ctx.get(PipelineRun, request)
    if run is None or run.is_terminating:
        return
    name = run.status.task_run
    if not name or await ctx.get(TaskRun, name, namespace=run.namespace) is None:
        created = await ctx.create(task_run_for(run), owner=run)
        run.status.task_run = created.name
        await ctx.update_status(run)
