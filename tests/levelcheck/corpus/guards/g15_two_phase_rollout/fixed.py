"""A canary and a main Deployment for each Release. The main one is given an image when the canary runs it, and not before.

That it runs is believed only of a status that is about what was asked for: `observedGeneration` says so.
"""

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Struct, kind
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector, PodTemplateSpec
from setpoint.k8s.core.v1 import Container, PodSpec


class ReleaseSpec(Struct):
    image: str
    replicas: int = 1


class ReleaseStatus(Struct):
    image: str = ""


@kind(group="guards.example.com", version="v1")
class Release(Resource[ReleaseSpec, ReleaseStatus]):
    """An image that is to run everywhere."""


def deployment_for(release: Release, name: str, replicas: int) -> Deployment:
    container = Container(name="web", image=release.spec.image)
    return Deployment(
        metadata=ObjectMeta(name=name, namespace=release.namespace),
        spec=DeploymentSpec(
            replicas=replicas,
            selector=LabelSelector(match_labels={"part": name}),
            template=PodTemplateSpec(metadata=ObjectMeta(labels={"part": name}), spec=PodSpec(containers=[container])),
        ),
    )


def is_rolled_out(deployment: Deployment) -> bool:
    status, wanted = deployment.status, deployment.spec.replicas
    return (
        status.observed_generation == deployment.metadata.generation
        and status.updated_replicas == status.replicas == status.available_replicas == wanted
    )


controller = Controller(Release, owns=[Deployment])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    release = await ctx.get(Release, request)
    if release is None or release.is_terminating:
        return
    canary = await ctx.apply(deployment_for(release, f"{release.name}-canary", 1), owner=release)
    if not is_rolled_out(canary):
        return
    main = await ctx.apply(deployment_for(release, release.name, release.spec.replicas), owner=release)
    if is_rolled_out(main):
        release.status.image = release.spec.image
        await ctx.update_status(release)
