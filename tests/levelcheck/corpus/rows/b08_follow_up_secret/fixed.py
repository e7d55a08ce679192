"""The correction: the node's keystore is looked for by itself."""

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import Pod, Secret

from .kinds import CassandraDatacenter, keystore_for, pod_for

controller = Controller(CassandraDatacenter, name="cassandra", owns=[Secret, Pod])


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    datacentre = await ctx.get(CassandraDatacenter, request)
    if datacentre is None or datacentre.is_terminating:
        return
    authority, node = keystore_for(datacentre, "ca"), keystore_for(datacentre, "node")
    if await ctx.get(Secret, authority.key) is None:
        await ctx.create(authority, owner=datacentre)
    if await ctx.get(Secret, node.key) is None:
        await ctx.create(node, owner=datacentre)
    if await ctx.get(Secret, node.key) is None:
        progress = "waiting for the node's keystore"
    else:
        progress = "running"
        if await ctx.get(Pod, pod_for(datacentre).key) is None:
            await ctx.create(pod_for(datacentre), owner=datacentre)
    if datacentre.status.progress != progress:
        datacentre.status.progress = progress
        await ctx.update_status(datacentre)
