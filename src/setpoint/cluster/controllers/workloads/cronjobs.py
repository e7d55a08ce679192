"""CronJobs: a Job for each time that the schedule names.

https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from setpoint.client.errors import AlreadyExists, Forbidden
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.workloads.jobs import end_of, is_complete
from setpoint.controller import Context, Controller, Cron, Result
from setpoint.k8s.batch.v1 import CronJob, Job
from setpoint.k8s.core.v1 import ObjectReference
from setpoint.objects import ObjectMeta, Request

SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
KEPT_WELL, KEPT_FAILED = 3, 1
"""Finished Jobs that are kept where nothing is said."""
MISSED = 100
"""Of so many times that were missed the latest is known; what was before them has been missed for good."""


def cron_job_controller() -> Controller[CronJob]:
    """Makes Jobs, and deletes those that finished long ago."""
    return Controller(CronJob, name="cronjob", owns=[Job], reconciler=reconcile)


async def reconcile(ctx: Context, request: Request) -> Result | None:
    """Starts what is due, says what is active, and runs again at the next time."""
    cron_job = await ctx.get(CronJob, request)
    if cron_job is None or cron_job.is_terminating:
        return None
    jobs = sorted(
        await ctx.list(Job, namespace=cron_job.namespace, owner=cron_job), key=lambda job: (job.metadata.creation_timestamp, job.name)
    )
    active = [job for job in jobs if end_of(job) is None]
    await _forget(ctx, cron_job, [job for job in jobs if job not in active])
    ended = [job.status.completion_time for job in jobs if is_complete(job) and job.status.completion_time is not None]
    known = cron_job.status.last_successful_time
    cron_job.status.last_successful_time = max([*ended, *([known] if known is not None else [])], default=None)
    wait = None
    if not cron_job.spec.suspend:
        try:
            cron = Cron(cron_job.spec.schedule, timezone=cron_job.spec.time_zone or "UTC")
        except ValueError as error:
            ctx.event(cron_job, "UnparseableSchedule", f"unparseable schedule {cron_job.spec.schedule!r}: {error}", type="Warning")
        else:
            active = await _start_what_is_due(ctx, cron_job, cron, active)
            wait = Result(requeue_after=cron.after(ctx.now()) - ctx.now())
    cron_job.status.active = [_reference(job) for job in active]
    await ctx.update_status(cron_job)
    return wait


async def _start_what_is_due(ctx: Context, cron_job: CronJob, cron: Cron, active: list[Job]) -> list[Job]:
    """The active Jobs after that."""
    due = latest(cron, cron_job, ctx.now())
    if due is None:
        return active
    policy = cron_job.spec.concurrency_policy or "Allow"
    if policy == "Forbid" and active:
        ctx.event(cron_job, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
        return active
    if policy == "Replace":
        for job in active:
            await ctx.delete(job)
        active = []
    try:
        created = await ctx.create(job_of(cron_job, cron, due), owner=cron_job)
    except AlreadyExists:
        pass  # made before, and not yet seen
    except Forbidden as error:
        if not namespace_is_terminating(error):
            raise
        return active
    else:
        ctx.event(cron_job, "SuccessfulCreate", f"Created job {created.name}")
        active = [*active, created]
    cron_job.status.last_schedule_time = due
    return active


def latest(cron: Cron, cron_job: CronJob, now: datetime) -> datetime | None:
    """The latest time that has passed and for which nothing has been started; None if there is none that is not too old."""
    since = cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp or now
    if cron_job.spec.starting_deadline_seconds is not None:
        since = max(since, now - timedelta(seconds=cron_job.spec.starting_deadline_seconds))
    found, missed = None, 0
    while (following := cron.after(since)) <= now:
        found = since = following
        missed += 1
        if missed == MISSED:
            # As long a gap as this is leapt over: what was due last lies within one of the last intervals before now.
            since = max(since, now - (cron.after(since) - since) * 2)
    return found


def job_of(cron_job: CronJob, cron: Cron, due: datetime) -> Job:
    """The Job for one time: it has one name, so that it cannot be started twice."""
    template = cron_job.spec.job_template
    zone = cron_job.spec.time_zone
    local = due.astimezone(ZoneInfo(zone)) if zone else due
    return Job(
        metadata=ObjectMeta(
            name=f"{cron_job.name}-{int(due.timestamp()) // 60}",
            namespace=cron_job.namespace,
            labels=template.metadata.labels,
            annotations=template.metadata.annotations | {SCHEDULED: local.isoformat(timespec="seconds").replace("+00:00", "Z")},
        ),
        spec=template.spec,
    )


async def _forget(ctx: Context, cron_job: CronJob, finished: list[Job]) -> None:
    well, failed = cron_job.spec.successful_jobs_history_limit, cron_job.spec.failed_jobs_history_limit
    for complete, keep in ((True, KEPT_WELL if well is None else well), (False, KEPT_FAILED if failed is None else failed)):
        some = [job for job in finished if is_complete(job) is complete and not job.is_terminating]
        for job in some[: max(0, len(some) - keep)]:
            await ctx.delete(job)


def _reference(job: Job) -> ObjectReference:
    metadata = job.metadata
    return ObjectReference(
        api_version="batch/v1", kind="Job", name=job.name, namespace=job.namespace, uid=job.uid, resource_version=metadata.resource_version
    )
