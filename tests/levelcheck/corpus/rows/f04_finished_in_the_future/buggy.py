"""Gives up on a job that has finished in the future."""

from datetime import timedelta

from setpoint import Context, Controller, Request, Result
from setpoint.k8s.batch.v1 import Job

TTL = "corpus.example.com/ttl"

controller = Controller(Job, name="ttl-after-finished")


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> Result | None:
    job = await ctx.get(Job, request)
    if job is None or job.is_terminating or TTL not in job.metadata.annotations:
        return None
    finished, now = job.status.completion_time, ctx.now()
    if finished is None:
        return None
    if finished > now:
        ctx.log.warning("job %s has finished in the future", job.key)
        return None
    expires = finished + timedelta(seconds=int(job.metadata.annotations[TTL]))
    if expires > now:
        return Result(requeue_after=expires - now)
    await ctx.delete(job)
    return None
