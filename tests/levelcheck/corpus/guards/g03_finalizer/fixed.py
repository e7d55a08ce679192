"""A DNS record for each Site. The finalizer is there before the record is, and goes after it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus.guards.outside import Dns

from setpoint import Context, Controller, Manager, Request, Resource, Struct, kind

FINALIZER = "guards.example.com/dns"


class SiteSpec(Struct):
    address: str


class SiteStatus(Struct):
    published: str = ""


@kind(group="guards.example.com", version="v1")
class Site(Resource[SiteSpec, SiteStatus]):
    """A site with a name in the DNS."""


def host_of(site: Site) -> str:
    return f"{site.name}.{site.namespace}.example.com"


def publisher(dns: Dns) -> Controller[Site]:
    controller = Controller(Site)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        site = await ctx.get(Site, request)
        if site is None:
            return
        if site.is_terminating:
            await ctx.effect(dns.remove, host_of(site))
            await ctx.remove_finalizer(site, FINALIZER)
            return
        await ctx.add_finalizer(site, FINALIZER)
        await ctx.effect(dns.ensure, host_of(site), site.spec.address)
        site.status.published = site.spec.address
        await ctx.update_status(site)

    return controller


@asynccontextmanager
async def app(manager: Manager, dns: Dns) -> AsyncIterator[None]:
    manager.add(publisher(dns))
    yield
