"""An Archive is prepared (a ConfigMap), loaded (a Job), and served (a Service). Another version begins anew.

The phase says how far it has come, and never what is there: each phase states all that it needs, as if it were the first time.
"""

from collections.abc import Awaitable, Callable

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.batch.v1 import Job, JobSpec, PodTemplateSpec
from setpoint.k8s.core.v1 import ConfigMap, Container, PodSpec, Service, ServicePort, ServiceSpec


class ArchiveSpec(Struct):
    version: str


class ArchiveStatus(Struct):
    version: str = ""
    phase: str = ""


@kind(group="guards.example.com", version="v1")
class Archive(Resource[ArchiveSpec, ArchiveStatus]):
    """An archive of books."""


def named(archive: Archive, name: str) -> ObjectMeta:
    return ObjectMeta(name=name, namespace=archive.namespace)


def job_for(archive: Archive) -> Job:
    loader = Container(name="load", image=f"loader:{archive.spec.version}")
    pod = PodSpec(containers=[loader], restart_policy="Never")
    return Job(metadata=named(archive, f"{archive.name}-load-{archive.spec.version}"), spec=JobSpec(template=PodTemplateSpec(spec=pod)))


async def prepare(ctx: Context, archive: Archive) -> str:
    await ctx.apply(ConfigMap(metadata=named(archive, archive.name), data={"version": archive.spec.version}), owner=archive)
    return "Loading"


async def load(ctx: Context, archive: Archive) -> str:
    await prepare(ctx, archive)
    job = await ctx.apply(job_for(archive), owner=archive)
    await ctx.prune(Job, keep=[job], owner=archive)
    return "Serving" if job.status.succeeded else "Loading"


async def serve(ctx: Context, archive: Archive) -> str:
    await load(ctx, archive)
    spec = ServiceSpec(selector={"archive": archive.name}, ports=[ServicePort(port=80)])
    await ctx.apply(Service(metadata=named(archive, archive.name), spec=spec), owner=archive)
    return "Serving"


PHASES: dict[str, Callable[[Context, Archive], Awaitable[str]]] = {"Preparing": prepare, "Loading": load, "Serving": serve}
controller = Controller(Archive, owns=[ConfigMap, Job, Service])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    archive = await ctx.get(Archive, request)
    if archive is None or archive.is_terminating:
        return
    known = archive.status.version == archive.spec.version
    archive.status.phase = await PHASES[archive.status.phase if known else "Preparing"](ctx, archive)
    archive.status.version = archive.spec.version
    await ctx.update_status(archive)
