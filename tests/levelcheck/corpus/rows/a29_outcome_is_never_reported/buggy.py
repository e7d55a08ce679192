"""Starts a job, waits for its end, and reports it."""

from setpoint import Context, Controller, Request
from setpoint.k8s.batch.v1 import Job

from .kinds import Push, job_for, outcome

controller = Controller(Push, resync=None)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    push = await ctx.get(Push, request)
    if push is None or push.is_terminating or push.status.phase:
        return  # started already
    await ctx.apply(job_for(push), owner=push)
    push.status.phase = "Running"
    await ctx.update_status(push)
    job = await ctx.client.wait(Job, request, lambda job: outcome(job) != "", timeout=3600)
    push.status.phase = outcome(job)
    await ctx.update_status(push)
