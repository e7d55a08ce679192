"""A Deployment and a Service for each Shop, and a condition that says whether all of it runs."""

from typing import Annotated

from setpoint import Condition, Context, Controller, Field, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec
from setpoint.k8s.core.v1 import Container, PodSpec, Service, ServicePort, ServiceSpec


class ShopSpec(Struct):
    image: str
    replicas: Annotated[int, Field(ge=0)] = 1


class ShopStatus(Struct):
    ready_replicas: int = 0
    conditions: list[Condition] = []


@kind(group="guards.example.com", version="v1")
class Shop(Resource[ShopSpec, ShopStatus]):
    """A shop on the web."""


def deployment_for(shop: Shop) -> Deployment:
    labels = {"shop": shop.name}
    container = Container(name="web", image=shop.spec.image)
    return Deployment(
        metadata=ObjectMeta(name=shop.name, namespace=shop.namespace, labels=labels),
        spec=DeploymentSpec(
            replicas=shop.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])),
        ),
    )


def service_for(shop: Shop) -> Service:
    return Service(
        metadata=ObjectMeta(name=shop.name, namespace=shop.namespace),
        spec=ServiceSpec(selector={"shop": shop.name}, ports=[ServicePort(port=80)]),
    )


controller = Controller(Shop, owns=[Deployment, Service])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    shop = await ctx.get(Shop, request)
    if shop is None or shop.is_terminating:
        return
    deployment = await ctx.apply(deployment_for(shop), owner=shop)
    await ctx.apply(service_for(shop), owner=shop)
    shop.status.ready_replicas = deployment.status.ready_replicas or 0
    ctx.set_condition(shop, "Ready", shop.status.ready_replicas == shop.spec.replicas, reason="Replicas")
    await ctx.update_status(shop)
