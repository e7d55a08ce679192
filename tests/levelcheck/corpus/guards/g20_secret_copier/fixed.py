"""Copies of a Secret, in each namespace with a label. The SharedSecret has no namespace, so that it can own them all.

Whatever changes (the SharedSecret, the source, a namespace), the same question is asked: where should it be, and what is in it?
"""

from setpoint import Context, Controller, Index, ObjectMeta, Request, Resource, Struct, kind, mappers
from setpoint.k8s.core.v1 import Namespace, Secret


class SharedSecretSpec(Struct):
    source: str
    label: str


class SharedSecretStatus(Struct):
    copies: list[str] = []


@kind(group="guards.example.com", version="v1", scope="Cluster")
class SharedSecret(Resource[SharedSecretSpec, SharedSecretStatus]):
    """A Secret that many namespaces need."""


BY_SOURCE = Index(SharedSecret, lambda shared: [shared.spec.source])

controller = Controller(SharedSecret, owns=[Secret])
controller.watch(Secret, map=mappers.by_index(BY_SOURCE))
controller.watch(Namespace, map=mappers.to_all(SharedSecret))


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    shared = await ctx.get(SharedSecret, request)
    if shared is None or shared.is_terminating:
        return
    source = await ctx.get(Secret, shared.spec.source)
    places = [] if source is None else await ctx.list(Namespace, labels={shared.spec.label: "yes"})
    copies = []
    for place in places:
        if source is not None and not place.is_terminating:
            copy = Secret(metadata=ObjectMeta(name=f"shared-{shared.name}", namespace=place.name), data=source.data)
            copies.append(await ctx.apply(copy, owner=shared))
    await ctx.prune(Secret, keep=copies, owner=shared)
    shared.status.copies = [copy.namespace for copy in copies]
    await ctx.update_status(shared)
