"""Creates a task run under a random name where neither the status nor the lister tells of one."""

from setpoint import Context, Controller, ObjectMeta, Request

from .kinds import PipelineRun, TaskRun, task_run_for

controller = Controller(PipelineRun, name="pipelinerun", owns=[TaskRun])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    run = await ctx.get(PipelineRun, request)
    if run is None or run.is_terminating:
        return
    task_runs = {each.name: each for each in await ctx.list(TaskRun, namespace=run.namespace, owner=run)}
    noted = run.status.task_run
    if noted and noted not in task_runs and await ctx.get(TaskRun, noted, namespace=run.namespace, live=True) is not None:
        return  # it is there, and will show
    if not task_runs:
        metadata = ObjectMeta(generate_name=f"{run.name}-{run.spec.task}-")
        created = await ctx.create(task_run_for(run, metadata), owner=run)
        task_runs[created.name] = created
    if noted not in task_runs:
        run.status.task_run = next(iter(task_runs))
        await ctx.update_status(run)
