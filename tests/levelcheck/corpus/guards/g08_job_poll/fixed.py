"""A Job for each Backup, looked at every five seconds until it is done, and from time to time after that.

Every run that finds the backup asks for the next one, so it does not matter which of them asked, or whether one is lost.
"""

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Result, Struct, kind
from setpoint.k8s.batch.v1 import Job, JobSpec, PodTemplateSpec
from setpoint.k8s.core.v1 import Container, PodSpec

HALF_A_MINUTE = ObjectMeta(annotations={"setpoint.dev/run-for": "30"})


class BackupSpec(Struct):
    source: str


class BackupStatus(Struct):
    done: bool = False


@kind(group="guards.example.com", version="v1")
class Backup(Resource[BackupSpec, BackupStatus]):
    """Copies something to where it is safe."""


def job_for(backup: Backup) -> Job:
    dump = Container(name="dump", image="dump:1", args=[backup.spec.source])
    return Job(
        metadata=ObjectMeta(name=f"backup-{backup.name}", namespace=backup.namespace),
        spec=JobSpec(template=PodTemplateSpec(metadata=HALF_A_MINUTE, spec=PodSpec(containers=[dump], restart_policy="Never"))),
    )


controller = Controller(Backup)


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> Result | None:
    backup = await ctx.get(Backup, request)
    if backup is None or backup.is_terminating:
        return None
    job = await ctx.get(Job, f"backup-{backup.name}", namespace=backup.namespace)
    if job is None:
        job = await ctx.create(job_for(backup), owner=backup)
    if not any(reference.uid == backup.uid for reference in job.metadata.owner_references):
        return Result(requeue_after=5)  # a predecessor's, which is on its way out
    backup.status.done = bool(job.status.succeeded)
    await ctx.update_status(backup)
    return Result(requeue_after=300 if backup.status.done else 5)
