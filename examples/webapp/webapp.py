"""A web application: one Deployment and one Service for every WebApp."""

from typing import Annotated

from setpoint import (
    Column,
    Condition,
    Context,
    Controller,
    Field,
    ObjectMeta,
    Request,
    Resource,
    Scale,
    Struct,
    kind,
)
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec
from setpoint.k8s.core.v1 import Container, ContainerPort, PodSpec, Service, ServicePort, ServiceSpec


class WebAppSpec(Struct):
    """What is wanted."""

    image: str
    replicas: Annotated[int, Field(ge=0, le=100)] = 1


class WebAppStatus(Struct):
    """What is there."""

    ready_replicas: int = 0
    conditions: list[Condition] = []


@kind(
    group="apps.example.com",
    version="v1",
    short_names=["wa"],
    columns=[
        Column(name="Replicas", type="integer", path=".spec.replicas"),
        Column(name="Ready", type="integer", path=".status.readyReplicas"),
        Column(name="Image", type="string", path=".spec.image", priority=1),
    ],
    scale=Scale(spec=".spec.replicas", status=".status.readyReplicas"),
)
class WebApp(Resource[WebAppSpec, WebAppStatus]):
    """A web application: one Deployment and one Service."""


def deployment_for(app: WebApp) -> Deployment:
    """The Deployment that a WebApp wants."""
    labels = {"app": app.name}
    container = Container(name="web", image=app.spec.image, ports=[ContainerPort(container_port=80)])
    return Deployment(
        metadata=ObjectMeta(name=app.name, namespace=app.namespace, labels=labels),
        spec=DeploymentSpec(
            replicas=app.spec.replicas,
            selector=LabelSelector(match_labels=labels),
            template=PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[container])),
        ),
    )


def service_for(app: WebApp) -> Service:
    """The Service that a WebApp wants."""
    return Service(
        metadata=ObjectMeta(name=app.name, namespace=app.namespace),
        spec=ServiceSpec(selector={"app": app.name}, ports=[ServicePort(port=80)]),
    )


controller = Controller(WebApp, owns=[Deployment, Service])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    """Makes what is there what is wanted, whatever has happened before."""
    app = await ctx.get(WebApp, request)
    if app is None or app.is_terminating:
        return  # gone: what it owned is garbage-collected
    deployment = await ctx.apply(deployment_for(app), owner=app)
    await ctx.apply(service_for(app), owner=app)
    app.status.ready_replicas = deployment.status.ready_replicas or 0
    ctx.set_condition(app, "Ready", app.status.ready_replicas == app.spec.replicas, reason="Replicas")
    await ctx.update_status(app)
