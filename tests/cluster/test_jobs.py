"""Simulated Jobs and CronJobs, from the outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from setpoint.k8s.batch.v1 import CronJob, CronJobSpec, Job, JobSpec, JobTemplateSpec
from setpoint.k8s.core.v1 import Container, Pod, PodSpec, PodTemplateSpec
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster


def spec(restart_policy: str = "Never", annotations: dict[str, str] | None = None, **more: object) -> JobSpec:
    template = PodTemplateSpec(
        metadata=ObjectMeta(annotations=annotations or {}),
        spec=PodSpec(restart_policy=restart_policy, containers=[Container(name="main", image="main:1")]),
    )
    return JobSpec(template=template, **more)


def a_job(name: str = "job", **more: object) -> Job:
    return Job(metadata=ObjectMeta(name=name, namespace="default"), spec=spec(**more))


FAILING = {"setpoint.dev/exit-code": "1"}


def conditions(job: Job) -> list[tuple[str, str, str | None]]:
    return [(condition.type, condition.status, condition.reason) for condition in job.status.conditions]


def test_a_job_completes_when_enough_pods_have_ended_well(cluster: Cluster) -> None:
    job = cluster.create(a_job(completions=5, parallelism=2))
    cluster.advance(timedelta(seconds=0.5))
    assert (cluster.refresh(job).status.active, len(cluster.list(Pod))) == (2, 2)
    cluster.settle(timedelta(seconds=30))
    job = cluster.refresh(job)
    assert (job.status.succeeded, job.status.active, job.status.failed) == (5, None, None)
    assert conditions(job) == [("SuccessCriteriaMet", "True", "CompletionsReached"), ("Complete", "True", "CompletionsReached")]
    assert job.status.start_time is not None
    assert job.status.completion_time is not None
    assert {pod.status.phase for pod in cluster.list(Pod)} == {"Succeeded"}


def test_each_index_is_done_once(cluster: Cluster) -> None:
    job = cluster.create(a_job(completions=4, parallelism=3, completion_mode="Indexed"))
    cluster.settle(timedelta(seconds=30))
    assert (cluster.refresh(job).status.completed_indexes, cluster.refresh(job).status.succeeded) == ("0-3", 4)
    indexes = sorted(pod.metadata.annotations["batch.kubernetes.io/job-completion-index"] for pod in cluster.list(Pod))
    assert indexes == ["0", "1", "2", "3"]
    assert sorted(pod.spec.hostname or "" for pod in cluster.list(Pod)) == ["job-0", "job-1", "job-2", "job-3"]


def test_a_job_that_fails_is_tried_again_with_growing_delay_until_it_is_given_up(cluster: Cluster) -> None:
    job = cluster.create(a_job(annotations=FAILING, backoff_limit=2))
    cluster.advance(timedelta(seconds=8))
    assert len(cluster.list(Pod)) == 1
    cluster.advance(timedelta(seconds=8))
    assert len(cluster.list(Pod)) == 2
    cluster.settle(timedelta(minutes=5))
    job = cluster.refresh(job)
    assert (job.status.failed, job.status.succeeded, job.status.completion_time) == (3, None, None)
    assert conditions(job) == [("FailureTarget", "True", "BackoffLimitExceeded"), ("Failed", "True", "BackoffLimitExceeded")]


def test_restarts_count_as_failures(cluster: Cluster) -> None:
    job = cluster.create(a_job(restart_policy="OnFailure", annotations=FAILING, backoff_limit=1))
    cluster.settle(timedelta(minutes=5))
    assert conditions(cluster.refresh(job))[-1] == ("Failed", "True", "BackoffLimitExceeded")
    assert cluster.list(Pod) == []


def test_a_deadline_ends_it(cluster: Cluster) -> None:
    job = cluster.create(a_job(annotations={"setpoint.dev/run-for": "1000"}, active_deadline_seconds=60))
    cluster.settle(timedelta(minutes=2))
    assert conditions(cluster.refresh(job))[-1] == ("Failed", "True", "DeadlineExceeded")
    assert cluster.list(Pod) == []


def test_a_suspended_job_has_no_pods_until_it_is_resumed(cluster: Cluster) -> None:
    job = cluster.create(a_job(suspend=True))
    cluster.settle(timedelta(seconds=30))
    job = cluster.refresh(job)
    assert (cluster.list(Pod), conditions(job), job.status.start_time) == ([], [("Suspended", "True", "JobSuspended")], None)
    job.spec.suspend = False
    cluster.update(job)
    cluster.settle(timedelta(seconds=30))
    assert conditions(cluster.refresh(job))[0] == ("Suspended", "False", "JobResumed")
    assert conditions(cluster.refresh(job))[-1][0] == "Complete"


def test_a_finished_job_goes_with_its_pods_when_its_time_is_over(cluster: Cluster) -> None:
    cluster.create(a_job(ttl_seconds_after_finished=100))
    cluster.settle(timedelta(seconds=90))
    assert len(cluster.list(Job)) == 1
    cluster.settle(timedelta(seconds=30))
    assert (cluster.list(Job), cluster.list(Pod)) == ([], [])


def test_a_deleted_job_leaves_its_pods_unless_the_policy_says_otherwise(cluster: Cluster) -> None:
    for name in ("one", "two"):
        cluster.create(a_job(name))
    cluster.settle(timedelta(seconds=30))
    cluster.delete(cluster.get(Job, "default/one"), propagation="Orphan")
    cluster.delete(cluster.get(Job, "default/two"), propagation="Background")
    cluster.settle()
    assert [(pod.name[:4], pod.metadata.owner_references) for pod in cluster.list(Pod)] == [("one-", [])]


def a_cron_job(schedule: str = "*/5 * * * *", annotations: dict[str, str] | None = None, **more: object) -> CronJob:
    template = JobTemplateSpec(spec=spec(annotations=annotations))
    metadata = ObjectMeta(name="cron", namespace="default")
    return CronJob(metadata=metadata, spec=CronJobSpec(schedule=schedule, job_template=template, **more))


LONG = {"setpoint.dev/run-for": "700"}


def starts(cluster: Cluster) -> list[datetime]:
    return [datetime.fromtimestamp(int(job.name.removeprefix("cron-")) * 60, tz=cluster.now.tzinfo) for job in cluster.list(Job)]


def test_a_cron_job_starts_a_job_at_each_time_and_keeps_the_last_three(cluster: Cluster) -> None:
    cron = cluster.create(a_cron_job())
    cluster.settle(timedelta(minutes=32))
    assert [(start.hour, start.minute) for start in starts(cluster)] == [(0, 20), (0, 25), (0, 30)]
    status = cluster.refresh(cron).status
    assert status.active == []
    assert status.last_schedule_time is not None
    assert (status.last_schedule_time.minute, status.last_schedule_time.second) == (30, 0)
    assert status.last_successful_time is not None


def test_a_time_zone_counts(cluster: Cluster) -> None:
    cluster.create(a_cron_job("30 * * * *", time_zone="Asia/Kolkata"))
    cluster.settle(timedelta(minutes=61))
    [job] = cluster.list(Job)
    scheduled = job.metadata.annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert scheduled.endswith(":30:00+05:30")
    assert datetime.fromisoformat(scheduled).astimezone(UTC).minute == 0


def test_jobs_run_side_by_side_one_after_another_or_in_place_of_each_other(cluster: Cluster) -> None:
    found = {}
    for policy in ("Allow", "Forbid", "Replace"):
        cron = a_cron_job(annotations=LONG, concurrency_policy=policy)
        cron.metadata.name = policy.lower()
        cluster.create(cron)
    cluster.settle(timedelta(minutes=11))
    for policy in ("allow", "forbid", "replace"):
        found[policy] = len([job for job in cluster.list(Job) if job.name.startswith(policy) and not job.is_terminating])
    assert found == {"allow": 2, "forbid": 1, "replace": 1}
    cluster.settle(timedelta(minutes=8))
    # What was due while the first one ran is started when that has ended.
    assert len([job for job in cluster.list(Job) if job.name.startswith("forbid")]) == 2


def test_a_suspended_cron_job_starts_nothing_and_makes_up_for_the_last_time_only(cluster: Cluster) -> None:
    cron = cluster.create(a_cron_job(suspend=True))
    cluster.settle(timedelta(hours=1))
    assert cluster.list(Job) == []
    cron = cluster.refresh(cron)
    cron.spec.suspend = False
    cluster.update(cron)
    cluster.settle(timedelta(seconds=10))
    assert len(cluster.list(Job)) == 1


def test_what_is_due_for_too_long_is_not_started(cluster: Cluster) -> None:
    cron = cluster.create(a_cron_job("0 * * * *", suspend=True, starting_deadline_seconds=60))
    cluster.settle(timedelta(minutes=70))
    cron = cluster.refresh(cron)
    cron.spec.suspend = False
    cluster.update(cron)
    cluster.settle(timedelta(seconds=10))
    assert cluster.list(Job) == []
