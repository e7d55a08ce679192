"""Creates a pod under a random name for each host on which it sees none."""

from setpoint import Context, Controller, ObjectMeta, Request, mappers
from setpoint.k8s.core.v1 import Pod

from .kinds import Daemon, Host, pod_for

controller = Controller(Daemon, name="daemon", owns=[Pod])
controller.watch(Host, map=mappers.to_all(Daemon))


@controller.reconciler
async def reconcile(ctx: Context, request: Request) -> None:
    daemon = await ctx.get(Daemon, request)
    if daemon is None or daemon.is_terminating:
        return
    hosts = sorted(host.name for host in await ctx.list(Host, namespace=daemon.namespace))
    pods = await ctx.list(Pod, namespace=daemon.namespace, owner=daemon)
    for host in hosts:
        if host not in [pod.metadata.labels["host"] for pod in pods]:
            metadata = ObjectMeta(generate_name=f"{daemon.name}-")
            await ctx.create(pod_for(daemon, host, metadata), owner=daemon)
    for pod in pods:
        host = pod.metadata.labels["host"]
        if host not in hosts and not pod.is_terminating and await ctx.get(Host, host, namespace=daemon.namespace, live=True) is None:
            await ctx.delete(pod)
    if daemon.status.hosts != hosts:
        daemon.status.hosts = hosts
        await ctx.update_status(daemon)
