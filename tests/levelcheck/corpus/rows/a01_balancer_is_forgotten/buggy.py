"""Removes the balancer of a service that is gone, if it remembers the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import LoadBalancerIngress, LoadBalancerStatus, Service, ServiceStatus

from .outside import Cloud


@asynccontextmanager
async def app(manager: Manager, cloud: Cloud) -> AsyncIterator[None]:
    controller = Controller(Service, name="service-lb")
    known: dict[Request, str] = {}  # which services have a balancer

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        service = await ctx.get(Service, request)
        if service is None or service.is_terminating or service.spec.type != "LoadBalancer":
            if request in known:
                await ctx.effect(cloud.remove, str(request))
                del known[request]
            return  # a service that was never seen cannot have a balancer
        known[request] = host = await ctx.effect(cloud.ensure, str(request))
        service.status = ServiceStatus(load_balancer=LoadBalancerStatus(ingress=[LoadBalancerIngress(hostname=host)]))
        await ctx.update_status(service)

    manager.add(controller)
    yield
