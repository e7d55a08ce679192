"""Hands the report to a task that writes it in the background, and says in the status that it is taken care of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from setpoint import ApiError, Client, Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Report, text_for


async def write_all(queue: asyncio.Queue[Report], client: Client) -> None:
    """Writes reports, each as often as it takes."""
    while True:
        report = await queue.get()
        try:
            await client.apply(text_for(report), owner=report)
        except ApiError:
            queue.put_nowait(report)
            await asyncio.sleep(1)


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Report, owns=[ConfigMap])
    queue: asyncio.Queue[Report] = asyncio.Queue()

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        report = await ctx.get(Report, request)
        if report is None or report.is_terminating or report.status.topic == report.spec.topic:
            return
        report.status.topic = report.spec.topic
        await ctx.update_status(report)
        queue.put_nowait(report)

    manager.add(controller)
    writing = asyncio.create_task(write_all(queue, manager.client))
    yield
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing
