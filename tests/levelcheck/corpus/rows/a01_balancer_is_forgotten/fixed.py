"""The correction: a finalizer keeps the service until its balancer is removed, and nothing is remembered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import LoadBalancerIngress, LoadBalancerStatus, Service, ServiceStatus

from .outside import Cloud

FINALIZER = "example.com/load-balancer"


@asynccontextmanager
async def app(manager: Manager, cloud: Cloud) -> AsyncIterator[None]:
    controller = Controller(Service, name="service-lb")

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        service = await ctx.get(Service, request)
        if service is None:
            return
        if not service.is_terminating and service.spec.type == "LoadBalancer":
            await ctx.add_finalizer(service, FINALIZER)
        if service.is_terminating or service.spec.type != "LoadBalancer":
            if FINALIZER in service.metadata.finalizers:
                await ctx.effect(cloud.remove, str(request))
                await ctx.remove_finalizer(service, FINALIZER)
            return
        host = await ctx.effect(cloud.ensure, str(request))
        service.status = ServiceStatus(load_balancer=LoadBalancerStatus(ingress=[LoadBalancerIngress(hostname=host)]))
        await ctx.update_status(service)

    manager.add(controller)
    yield
