"""Jobs: pods that end, until enough of them have ended well or too many have not.

What is simpler than in a real cluster: finished pods are counted as long as they are there, so who deletes one before the Job is complete
has it run again; and policies for failures and success, and limits per index, are not simulated (an event says so).

https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from setpoint.client.errors import Forbidden
from setpoint.cluster.controllers.conditions import put_condition
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.workloads.podstate import is_ready
from setpoint.cluster.controllers.workloads.templates import pod_from
from setpoint.controller import Context, Controller, Result
from setpoint.k8s.batch.v1 import Job, JobCondition, JobSpec, UncountedTerminatedPods
from setpoint.k8s.core.v1 import Pod
from setpoint.objects import Request, whole_seconds

INDEX = "batch.kubernetes.io/job-completion-index"
BACKOFF_LIMIT = 6
FIRST_DELAY, LONGEST_DELAY = 10.0, 600.0
"""Seconds between a failure and the next try: doubled with each failure."""
_NOT_SIMULATED = {
    "pod_failure_policy": "podFailurePolicy",
    "success_policy": "successPolicy",
    "backoff_limit_per_index": "backoffLimitPerIndex",
}


def job_controller() -> Controller[Job]:
    """Makes pods, and says how they fare."""
    return Controller(Job, name="job", owns=[Pod], reconciler=reconcile)


async def reconcile(ctx: Context, request: Request) -> Result | None:
    """Corrects the number of pods, and says how many have ended, and how. Runs again at the next deadline."""
    job = await ctx.get(Job, request)
    if job is None or job.is_terminating or job.spec.managed_by not in (None, "", "kubernetes.io/job-controller"):
        return None
    if (finished := end_of(job)) is not None:
        return await _clean_up(ctx, job, finished)
    for field, name in _NOT_SIMULATED.items():
        if getattr(job.spec, field) is not None:
            ctx.event(job, "NotSimulated", f"spec.{name} is not simulated by the embedded control plane", type="Warning")
    now = ctx.now()
    pods = Pods(await ctx.list(Pod, namespace=job.namespace, owner=job), job.spec)
    if job.spec.suspend:
        if job.status.start_time is not None or not _condition(job, "Suspended"):
            _put(job, JobCondition(type="Suspended", status="True", reason="JobSuspended", message="Job suspended"), now)
            job.status.start_time = None
    else:
        if _condition(job, "Suspended"):
            _put(job, JobCondition(type="Suspended", status="False", reason="JobResumed", message="Job resumed"), now)
        job.status.start_time = job.status.start_time or whole_seconds(now)
    verdict = verdict_on(job, pods, now)
    due: list[datetime] = []
    if verdict is not None or job.spec.suspend:
        for pod in pods.active:
            await ctx.delete(pod)
        pods = Pods([pod for pod in pods.all if pod not in pods.active], job.spec)
    else:
        try:
            due += await _correct(ctx, job, pods, now)
        except Forbidden as error:
            if not namespace_is_terminating(error):
                raise
            return None
    _tell(job, pods)
    if verdict is not None:
        _conclude(job, verdict, now)
    await ctx.update_status(job)
    if (deadline := deadline_of(job)) is not None:
        due.append(deadline)
    # Once it is finished, its own change brings it here again.
    return Result(requeue_after=max(min(due) - now, timedelta(0))) if due and verdict is None else None


class Pods:
    """The pods of a Job by how they fare. `failures` counts restarts of their containers as well."""

    def __init__(self, pods: Iterable[Pod], spec: JobSpec) -> None:
        self.all = list(pods)
        ended = ("Succeeded", "Failed")
        self.active = [pod for pod in self.all if not pod.is_terminating and pod.status.phase not in ended]
        self.terminating = [pod for pod in self.all if pod.is_terminating and pod.status.phase not in ended]
        self.failed = [pod for pod in self.all if pod.status.phase == "Failed"]
        succeeded = [pod for pod in self.all if pod.status.phase == "Succeeded"]
        self.indexed = spec.completion_mode == "Indexed"
        self.done: list[int] = []
        if self.indexed:
            indexes = dict.fromkeys(index for pod in succeeded if (index := index_of(pod)) is not None)
            self.done = sorted(index for index in indexes if index < (spec.completions or 0))
        self.succeeded = len(self.done) if self.indexed else len(succeeded)
        restarts = sum(container.restart_count for pod in self.active for container in pod.status.container_statuses)
        self.failures = len(self.failed) + restarts


def index_of(pod: Pod) -> int | None:
    """The index that a pod works at."""
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isdigit() else None


class Verdict(msgspec.Struct, frozen=True):
    """How a Job has ended."""

    complete: bool
    reason: str
    message: str


def verdict_on(job: Job, pods: Pods, now: datetime) -> Verdict | None:
    """None as long as it goes on."""
    spec = job.spec
    limit = BACKOFF_LIMIT if spec.backoff_limit is None else spec.backoff_limit
    if pods.failures > limit:
        return Verdict(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    deadline = deadline_of(job)
    if deadline is not None and now >= deadline:
        return Verdict(False, "DeadlineExceeded", "Job was active longer than specified deadline")
    if spec.suspend:
        return None
    enough = pods.succeeded >= spec.completions if spec.completions is not None else bool(pods.succeeded) and not pods.active
    return Verdict(True, "CompletionsReached", "Reached expected number of succeeded pods") if enough else None


def deadline_of(job: Job) -> datetime | None:
    """When it has been active for as long as it may."""
    started, seconds = job.status.start_time, job.spec.active_deadline_seconds
    return started + timedelta(seconds=seconds) if started is not None and seconds is not None else None


async def _correct(ctx: Context, job: Job, pods: Pods, now: datetime) -> list[datetime]:
    """Makes the pods that are missing, or says when it will be time for that; deletes those that are too many."""
    parallelism = 1 if job.spec.parallelism is None else job.spec.parallelism
    if job.spec.completions is not None:
        wanted = min(parallelism, job.spec.completions - pods.succeeded)
    else:
        wanted = parallelism if not pods.succeeded else min(parallelism, len(pods.active))
    for pod in sorted(pods.active, key=lambda pod: (is_ready(pod), pod.name))[: max(0, len(pods.active) - wanted)]:
        await ctx.delete(pod)
        pods.active.remove(pod)
    missing = wanted - len(pods.active) - (len(pods.terminating) if pods.indexed else 0)
    if missing <= 0:
        return []
    if (due := _next_try(pods)) is not None and due > now:
        return [due]
    taken = {index_of(pod): None for pod in (*pods.active, *pods.terminating)} | dict.fromkeys(pods.done)
    free = (index for index in range(job.spec.completions or 0) if index not in taken)
    for _ in range(missing):
        pods.active.append(await ctx.create(pod_of(job, next(free) if pods.indexed else None), owner=job))
    return []


def _next_try(pods: Pods) -> datetime | None:
    ends = [end for pod in pods.failed if (end := _end_of_pod(pod)) is not None]
    delay = min(FIRST_DELAY * 2 ** min(len(pods.failed) - 1, 10), LONGEST_DELAY) if ends else 0
    return max(ends) + timedelta(seconds=delay) if ends else None


def _end_of_pod(pod: Pod) -> datetime | None:
    ends = [c.state.terminated.finished_at for c in pod.status.container_statuses if c.state.terminated is not None]
    return max((end for end in ends if end is not None), default=pod.metadata.creation_timestamp)


def pod_of(job: Job, index: int | None) -> Pod:
    """A new pod."""
    who = {"batch.kubernetes.io/controller-uid": job.uid, "batch.kubernetes.io/job-name": job.name}
    labels = {**who, "controller-uid": job.uid, "job-name": job.name}
    if index is None:
        return pod_from(job.spec.template, job.namespace, prefix=f"{job.name}-", labels=labels)
    at = {INDEX: str(index)}
    pod = pod_from(job.spec.template, job.namespace, prefix=f"{job.name}-{index}-", labels=labels | at, annotations=at)
    pod.spec = msgspec.structs.replace(pod.spec, hostname=f"{job.name}-{index}")
    return pod


# ---- status


def _tell(job: Job, pods: Pods) -> None:
    status = job.status
    status.active = len(pods.active) or None
    status.succeeded = pods.succeeded or None
    status.failed = len(pods.failed) or None
    status.ready = sum(map(is_ready, pods.active))
    status.terminating = len(pods.terminating)
    status.uncounted_terminated_pods = UncountedTerminatedPods()
    status.completed_indexes = ranges(pods.done) or None


def ranges(numbers: list[int]) -> str:
    """Sorted numbers, as `0,2-4,7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    texts = (f"{first}" if first == last else f"{first},{last}" if last == first + 1 else f"{first}-{last}" for first, last in spans)
    return ",".join(texts)


def _conclude(job: Job, verdict: Verdict, now: datetime) -> None:
    first, last = ("SuccessCriteriaMet", "Complete") if verdict.complete else ("FailureTarget", "Failed")
    for type in (first, last):
        _put(job, JobCondition(type=type, status="True", reason=verdict.reason, message=verdict.message), now)
    if verdict.complete:
        job.status.completion_time = whole_seconds(now)


def _put(job: Job, condition: JobCondition, now: datetime) -> None:
    condition.last_probe_time = whole_seconds(now)
    put_condition(job.status.conditions, condition, now)


def _condition(job: Job, type: str) -> bool:
    return any(condition.type == type and condition.status == "True" for condition in job.status.conditions)


# ---- the end


def end_of(job: Job) -> datetime | None:
    """When it has finished, well or not; None while it goes on."""
    ends = [c.last_transition_time for c in job.status.conditions if c.type in ("Complete", "Failed") and c.status == "True"]
    return ends[0] if ends else None


def is_complete(job: Job) -> bool:
    """Whether it has finished well."""
    return _condition(job, "Complete")


async def _clean_up(ctx: Context, job: Job, finished: datetime) -> Result | None:
    """Deletes it when it has been finished for as long as it is to be kept."""
    if job.spec.ttl_seconds_after_finished is None:
        return None
    due = finished + timedelta(seconds=job.spec.ttl_seconds_after_finished)
    if due > ctx.now():
        return Result(requeue_after=due - ctx.now())
    await ctx.delete(job, propagation="Foreground")
    return None
