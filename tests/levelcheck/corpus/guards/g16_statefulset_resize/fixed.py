"""A StatefulSet for each Ring, of whose pods each is a member of the ring while it runs.

To shrink, members leave before their pods go; to grow, pods run before they join. Who is a member is asked, and not remembered.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus.guards.outside import Membership

from setpoint import Context, Controller, Manager, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import LabelSelector, PodTemplateSpec, StatefulSet, StatefulSetSpec
from setpoint.k8s.core.v1 import Container, PodSpec

FINALIZER = "guards.example.com/membership"


class RingSpec(Struct):
    size: int = 1


class RingStatus(Struct):
    members: int = 0


@kind(group="guards.example.com", version="v1")
class Ring(Resource[RingSpec, RingStatus]):
    """A ring of servers."""


def servers_for(ring: Ring) -> StatefulSet:
    labels = {"ring": ring.name}
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="server", image="kv:1")]))
    return StatefulSet(
        metadata=ObjectMeta(name=ring.name, namespace=ring.namespace),
        spec=StatefulSetSpec(
            service_name=ring.name, replicas=ring.spec.size, selector=LabelSelector(match_labels=labels), template=template
        ),
    )


def rings(membership: Membership) -> Controller[Ring]:
    controller = Controller(Ring, owns=[StatefulSet])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        ring = await ctx.get(Ring, request)
        if ring is None:
            return
        size = 0 if ring.is_terminating else ring.spec.size
        if not ring.is_terminating:
            await ctx.add_finalizer(ring, FINALIZER)
        members = await ctx.effect(membership.members, ring.name)
        for member in [member for member in members if member >= size]:
            await ctx.effect(membership.leave, ring.name, member)
        if ring.is_terminating:
            await ctx.remove_finalizer(ring, FINALIZER)
            return
        servers = await ctx.apply(servers_for(ring), owner=ring)
        if servers.status.observed_generation != servers.metadata.generation or servers.status.replicas != size:
            return
        ready = servers.status.ready_replicas or 0
        for member in [member for member in range(ready) if member not in members]:
            await ctx.effect(membership.join, ring.name, member)
        ring.status.members = ready
        await ctx.update_status(ring)

    return controller


@asynccontextmanager
async def app(manager: Manager, membership: Membership) -> AsyncIterator[None]:
    manager.add(rings(membership))
    yield
