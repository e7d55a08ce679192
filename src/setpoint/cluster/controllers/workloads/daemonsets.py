"""DaemonSets: a pod on each node that the template allows.

A pod is on its node from the start: there is no scheduler that would have to be asked.

https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from setpoint.client.errors import Forbidden
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.saying import say_status
from setpoint.cluster.controllers.workloads.podstate import available_at, is_active, is_ready
from setpoint.cluster.controllers.workloads.revisions import HASH_LABEL, Revisions, forget, revisions_of
from setpoint.cluster.controllers.workloads.rollout import scaled
from setpoint.cluster.controllers.workloads.templates import pod_from
from setpoint.controller import Context, Controller, Result
from setpoint.controller.mappers import to_all
from setpoint.k8s.apps.v1 import ControllerRevision, DaemonSet, DaemonSetStatus
from setpoint.k8s.core.v1 import Node, Pod
from setpoint.objects import Request


def daemon_set_controller() -> Controller[DaemonSet]:
    """Makes, replaces and deletes pods."""
    controller = Controller(DaemonSet, name="daemonset", owns=[Pod, ControllerRevision], reconciler=reconcile)
    return controller.watch(Node, map=to_all(DaemonSet))


async def reconcile(ctx: Context, request: Request) -> Result | None:
    """Corrects the pods of each node, and says how many there are. Runs again when a ready pod becomes available."""
    found = await ctx.get(DaemonSet, request)
    if found is None or found.is_terminating:
        return None
    nodes = [node.name for node in sorted(await ctx.list(Node), key=lambda node: node.name) if runs_on(found, node)]
    pods = await ctx.list(Pod, namespace=found.namespace, owner=found)
    try:
        revisions = await revisions_of(ctx, found)
        pods = await _correct(ctx, found, revisions, nodes, pods)
    except Forbidden as error:
        if not namespace_is_terminating(error):
            raise
        return None
    now = ctx.now()
    await say_status(ctx, found, status_of(found, label_of(revisions), nodes, pods, now))
    used = [f"{found.name}-{pod.metadata.labels.get(HASH_LABEL, '')}" for pod in pods]
    await forget(ctx, revisions, used, found.spec.revision_history_limit)
    waiting = [at for pod in pods if (at := available_at(pod, found.spec.min_ready_seconds or 0)) is not None and at > now]
    return Result(requeue_after=min(waiting) - now) if waiting else None


def runs_on(daemon_set: DaemonSet, node: Node) -> bool:
    """Whether its pods may be on that node: by its labels. Taints of a node that is cordoned or not ready do not keep daemons away."""
    return daemon_set.spec.template.spec.node_selector.items() <= node.metadata.labels.items()


def label_of(revisions: Revisions) -> str:
    """What pods of the present template are labeled with."""
    return revisions.update.metadata.labels[HASH_LABEL]


async def _correct(ctx: Context, owner: DaemonSet, revisions: Revisions, nodes: list[str], pods: list[Pod]) -> list[Pod]:
    """The pods after that."""
    label, left, seen = label_of(revisions), [], dict.fromkeys(nodes, 0)
    for pod in sorted(pods, key=lambda pod: (not is_ready(pod), pod.name)):
        node = pod.spec.node_name or ""
        if pod.is_terminating:
            seen[node] = seen.get(node, 0) + 1  # its successor waits until it is gone
        elif node not in seen or seen[node] or not is_active(pod):
            await ctx.delete(pod)
        else:
            seen[node] += 1
            left.append(pod)
    for node in nodes:
        if not seen[node]:
            pod = pod_from(owner.spec.template, owner.namespace, prefix=f"{owner.name}-", labels={HASH_LABEL: label})
            pod.spec = msgspec.structs.replace(pod.spec, node_name=node)
            left.append(await ctx.create(pod, owner=owner))
    if owner.spec.update_strategy.type == "OnDelete":
        return left
    return await _replace(ctx, owner, label, nodes, left)


async def _replace(ctx: Context, owner: DaemonSet, label: str, nodes: list[str], pods: list[Pod]) -> list[Pod]:
    """Deletes pods of older revisions, as many as may be missing at once; those that do not serve anyway go first."""
    rolling, delay, now = owner.spec.update_strategy.rolling_update, owner.spec.min_ready_seconds or 0, ctx.now()
    may_miss = max(
        1, scaled(rolling.max_unavailable if rolling is not None and rolling.max_unavailable is not None else 1, len(nodes), up=True)
    )

    def serves(pod: Pod) -> bool:
        at = available_at(pod, delay)
        return at is not None and at <= now

    old = [pod for pod in pods if pod.metadata.labels.get(HASH_LABEL) != label]
    spare = may_miss - (len(nodes) - sum(map(serves, pods)))
    for pod in sorted(old, key=lambda pod: (serves(pod), pod.name)):
        if serves(pod):
            if spare <= 0:
                break
            spare -= 1
        await ctx.delete(pod)
        pods = [other for other in pods if other is not pod]
    return pods


def status_of(owner: DaemonSet, label: str, nodes: list[str], pods: list[Pod], now: datetime) -> DaemonSetStatus:
    """What there is."""
    delay = owner.spec.min_ready_seconds or 0
    available = sum((at := available_at(pod, delay)) is not None and at <= now for pod in pods)
    return DaemonSetStatus(
        observed_generation=owner.metadata.generation,
        desired_number_scheduled=len(nodes),
        current_number_scheduled=len(pods),
        number_misscheduled=0,
        number_ready=sum(map(is_ready, pods)),
        number_available=available or None,
        number_unavailable=(len(nodes) - available) or None,
        updated_number_scheduled=sum(pod.metadata.labels.get(HASH_LABEL) == label for pod in pods) or None,
        collision_count=owner.status.collision_count,
        conditions=owner.status.conditions,
    )
