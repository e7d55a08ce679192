"""The correction: the run writes the report itself, before the status says so, and looks at it again in each run."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Report, text_for


@asynccontextmanager
async def app(manager: Manager) -> AsyncIterator[None]:
    controller = Controller(Report, owns=[ConfigMap])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        report = await ctx.get(Report, request)
        if report is None or report.is_terminating:
            return
        await ctx.apply(text_for(report), owner=report)
        report.status.topic = report.spec.topic
        await ctx.update_status(report)

    manager.add(controller)
    yield
