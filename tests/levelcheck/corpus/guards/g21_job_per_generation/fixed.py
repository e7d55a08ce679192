"""A Job for each generation of a Migration. Its name says which, so it is made once; those of earlier generations go."""

from setpoint import Condition, Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.batch.v1 import Job, JobSpec, PodTemplateSpec
from setpoint.k8s.core.v1 import Container, PodSpec


class MigrationSpec(Struct):
    script: str


class MigrationStatus(Struct):
    job: str = ""
    conditions: list[Condition] = []


@kind(group="guards.example.com", version="v1")
class Migration(Resource[MigrationSpec, MigrationStatus]):
    """Changes a database by a script."""


def job_for(migration: Migration) -> Job:
    run = Container(name="run", image="sql:1", args=[migration.spec.script])
    return Job(
        metadata=ObjectMeta(name=f"{migration.name}-{migration.metadata.generation}", namespace=migration.namespace),
        spec=JobSpec(backoff_limit=2, template=PodTemplateSpec(spec=PodSpec(containers=[run], restart_policy="Never"))),
    )


controller = Controller(Migration, owns=[Job])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    migration = await ctx.get(Migration, request)
    if migration is None or migration.is_terminating:
        return
    job = await ctx.apply(job_for(migration), owner=migration)
    await ctx.prune(Job, keep=[job], owner=migration)
    migration.status.job = job.name
    ctx.set_condition(migration, "Done", bool(job.status.succeeded), reason="Succeeded" if job.status.succeeded else "Running")
    await ctx.update_status(migration)
