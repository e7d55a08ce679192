"""The correction: pods are kept by their UIDs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from tests.levelcheck.corpus.raw import beside, events

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import Pod

from .kinds import QUEUES, GangJob


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(GangJob, name="gang")
    jobs: dict[str, tuple[str, str]] = {}  # the job and the name of each pod, by the pod's UID
    synced = {queue: asyncio.Event() for queue in QUEUES}

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        for told in synced.values():
            await told.wait()
        job = await ctx.get(GangJob, request)
        if job is not None and not job.is_terminating:
            job.status.running = sorted(pod for its, pod in jobs.values() if its == job.name)
            await ctx.update_status(job)

    async def follow(queue: str) -> None:
        async with aclosing(events(manager.client, Pod, labels=f"queue={queue}", synced=synced[queue])) as heard:
            async for event in heard:
                if event.object is None:
                    continue
                metadata = event.object["metadata"]
                if event.type == "DELETED":
                    jobs.pop(metadata["uid"], None)
                else:
                    jobs[metadata["uid"]] = metadata["labels"]["job"], metadata["name"]
                manager.trigger(controller, Request(event.key.namespace, metadata["labels"]["job"]))

    async def follow_all() -> None:
        await asyncio.gather(*(follow(queue) for queue in QUEUES))

    manager.add(controller)
    async with beside(follow_all()):
        yield
