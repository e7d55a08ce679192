"""Takes "exists" for a failure, though it may be its own doing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.apps.v1 import StatefulSet

from .kinds import FINALIZER, PARENT, ZookeeperCluster, statefulset_for
from .outside import ZooKeeper


@asynccontextmanager
async def app(manager: Manager, zookeeper: ZooKeeper) -> AsyncIterator[None]:
    controller = Controller(ZookeeperCluster, name="zookeeper", owns=[StatefulSet])

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        cluster = await ctx.get(ZookeeperCluster, request)
        if cluster is None:
            return
        path = f"{PARENT}/{request.namespace}-{request.name}"
        if cluster.is_terminating:
            await ctx.effect(zookeeper.delete, path)
            await ctx.remove_finalizer(cluster, FINALIZER)
            return
        await ctx.add_finalizer(cluster, FINALIZER)
        await announce(ctx, path, str(cluster.spec.replicas))
        await ctx.apply(statefulset_for(cluster), owner=cluster)

    async def announce(ctx: Context, path: str, size: str) -> None:
        """Tells the servers how many they are to be."""
        announced = await ctx.effect(zookeeper.read, path)
        if announced is None:
            for node in (PARENT, path):
                answer = await ctx.effect(zookeeper.create, node, "")
                if answer != "ok":
                    raise RuntimeError(f"creating {node}: {answer}")
        if announced != size:
            await ctx.effect(zookeeper.write, path, size)

    manager.add(controller)
    yield
