"""As many pods as a Pool wants, under names that the server makes up.

How many there are is counted in each run, from the list. What has the pool's label and no owner is taken over; the youngest go first.
"""

from setpoint import Context, Controller, Object, ObjectMeta, OwnerReference, Request, Resource, Struct, kind
from setpoint.k8s.core.v1 import Container, Pod, PodSpec

LABEL = "guards.example.com/pool"


class PoolSpec(Struct):
    size: int = 1


class PoolStatus(Struct):
    size: int = 0


@kind(group="guards.example.com", version="v1")
class Pool(Resource[PoolSpec, PoolStatus]):
    """Runners, one as good as the other."""


def controller_of(obj: Object) -> str:
    return next((reference.uid for reference in obj.metadata.owner_references if reference.controller), "")


def pod_for(pool: Pool) -> Pod:
    return Pod(
        metadata=ObjectMeta(generate_name=f"{pool.name}-", namespace=pool.namespace, labels={LABEL: pool.name}),
        spec=PodSpec(containers=[Container(name="runner", image="runner:1")]),
    )


async def adopted(ctx: Context, pool: Pool) -> list[Pod]:
    """Takes over what nobody owns, after a look at whether the pool is still there. `Conflict` if somebody else has just taken it."""
    orphans = [pod for pod in await ctx.list(Pod, namespace=pool.namespace, labels={LABEL: pool.name}) if not controller_of(pod)]
    if not orphans:
        return []
    live = await ctx.get(Pool, pool.key, live=True)
    if live is None or live.uid != pool.uid or live.is_terminating:
        return []
    ours = OwnerReference(
        api_version="guards.example.com/v1", kind="Pool", name=pool.name, uid=pool.uid, controller=True, block_owner_deletion=True
    )
    for pod in orphans:
        pod.metadata.owner_references = [*pod.metadata.owner_references, ours]
        await ctx.update(pod)
    return orphans


controller = Controller(Pool, owns=[Pod])
controller.watch(Pod, labels=LABEL, map=lambda pod: [Request(pod.namespace, pod.metadata.labels[LABEL])])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    pool = await ctx.get(Pool, request)
    if pool is None or pool.is_terminating:
        return
    pods = [*await ctx.list(Pod, owner=pool), *await adopted(ctx, pool)]
    pods = [pod for pod in pods if not pod.is_terminating]
    while len(pods) < pool.spec.size:
        pods.append(await ctx.create(pod_for(pool), owner=pool))
    pods.sort(key=lambda pod: (pod.metadata.creation_timestamp, pod.name))
    for extra in pods[pool.spec.size :]:
        await ctx.delete(extra)
    pool.status.size = min(len(pods), pool.spec.size)
    await ctx.update_status(pool)
