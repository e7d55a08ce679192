"""A controller of five kinds: each Shop gets a ConfigMap, a Secret, a ServiceAccount, a Deployment and a Service."""

from setpoint import Condition, Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec
from setpoint.k8s.core.v1 import ConfigMap, Container, PodSpec, Secret, Service, ServiceAccount, ServicePort, ServiceSpec
from setpoint.levelcheck import Workload, apply, wait


class ShopSpec(Struct):
    """What is wanted."""

    image: str
    greeting: str = "hello"
    replicas: int = 1


class ShopStatus(Struct):
    """What is there."""

    ready_replicas: int = 0
    conditions: list[Condition] = []


@kind(group="bench.example.com", version="v1")
class Shop(Resource[ShopSpec, ShopStatus]):
    """A shop."""


controller = Controller(Shop, owns=[ConfigMap, Secret, ServiceAccount, Deployment, Service])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    """Makes what is there what is wanted."""
    shop = await ctx.get(Shop, request)
    if shop is None or shop.is_terminating:
        return
    meta = {"name": shop.name, "namespace": shop.namespace}
    labels = {"shop": shop.name}
    await ctx.apply(ConfigMap(metadata=ObjectMeta(**meta), data={"greeting": shop.spec.greeting}), owner=shop)
    await ctx.apply(Secret(metadata=ObjectMeta(**meta), string_data={"key": shop.name}), owner=shop)
    await ctx.apply(ServiceAccount(metadata=ObjectMeta(**meta)), owner=shop)
    pod = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="shop", image=shop.spec.image)]))
    spec = DeploymentSpec(replicas=shop.spec.replicas, selector=LabelSelector(match_labels=labels), template=pod)
    deployment = await ctx.apply(Deployment(metadata=ObjectMeta(**meta), spec=spec), owner=shop)
    await ctx.apply(Service(metadata=ObjectMeta(**meta), spec=ServiceSpec(selector=labels, ports=[ServicePort(port=80)])), owner=shop)
    shop.status.ready_replicas = deployment.status.ready_replicas or 0
    ctx.set_condition(shop, "Ready", shop.status.ready_replicas == shop.spec.replicas, reason="Replicas")
    await ctx.update_status(shop)


def _shop(name: str, **spec: object) -> dict[str, object]:
    return {"apiVersion": "bench.example.com/v1", "kind": "Shop", "metadata": {"name": name, "namespace": "default"}, "spec": spec}


def workload_of(shops: int) -> Workload:
    """One to three shops, one of which changes."""
    steps = [
        apply(_shop("a", image="one")),
        *([apply(_shop("b", image="one", replicas=2))] if shops > 1 else []),
        apply(_shop("a", image="two", greeting="good day")),
        *([apply(_shop("c", image="one"))] if shops > 2 else []),
    ]
    return Workload.of(*(each for step in steps for each in (step, wait())))


workload = workload_of(3)
