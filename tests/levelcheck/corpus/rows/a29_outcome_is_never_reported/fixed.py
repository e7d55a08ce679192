"""The correction: each run reports what the job says by then, and the job's changes bring the next run."""

from setpoint import Context, Controller, Request
from setpoint.k8s.batch.v1 import Job

from .kinds import Push, job_for, outcome

controller = Controller(Push, owns=[Job], resync=None)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    push = await ctx.get(Push, request)
    if push is None or push.is_terminating:
        return
    jobs = await ctx.list(Job, namespace=push.namespace, owner=push)
    job = jobs[0] if jobs else await ctx.create(job_for(push), owner=push)  # of one commit: a job's template cannot be changed
    push.status.phase = outcome(job) or "Running"
    await ctx.update_status(push)
