"""ReplicaSets: as many pods as are wanted, made from the template.

https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/
"""

from __future__ import annotations

from datetime import datetime

from setpoint.client.errors import ApiError, Forbidden, Invalid
from setpoint.cluster.controllers.conditions import put_condition, without_condition
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.saying import say_status
from setpoint.cluster.controllers.workloads.podstate import available_at, disposability, has_ended, is_active, is_ready
from setpoint.cluster.controllers.workloads.templates import pod_from
from setpoint.controller import Context, Controller, Result
from setpoint.k8s.apps.v1 import ReplicaSet, ReplicaSetCondition, ReplicaSetStatus
from setpoint.k8s.core.v1 import Pod
from setpoint.objects import Request


def replica_set_controller() -> Controller[ReplicaSet]:
    """Makes and deletes pods."""
    return Controller(ReplicaSet, name="replicaset", owns=[Pod], reconciler=reconcile)


async def reconcile(ctx: Context, request: Request) -> Result | None:
    """Corrects the number of pods, and says how many there are. Runs again when a pod that is ready becomes available."""
    replica_set = await ctx.get(ReplicaSet, request)
    if replica_set is None or replica_set.is_terminating:
        return None
    wanted = 1 if replica_set.spec.replicas is None else replica_set.spec.replicas
    owned = await ctx.list(Pod, namespace=replica_set.namespace, owner=replica_set)
    pods = [pod for pod in owned if is_active(pod)]
    leaving = sum(pod.is_terminating and not has_ended(pod) for pod in owned)
    failure: ApiError | None = None
    try:
        while len(pods) < wanted:
            pods.append(
                await ctx.create(
                    pod_from(replica_set.spec.template, replica_set.namespace, prefix=f"{replica_set.name}-"), owner=replica_set
                )
            )
    except (Forbidden, Invalid) as error:
        if namespace_is_terminating(error):
            return None
        failure = error
    if len(pods) > wanted:
        pods.sort(key=disposability)
        surplus = len(pods) - wanted
        for pod in pods[:surplus]:
            await ctx.delete(pod)
        pods = pods[surplus:]
    now = ctx.now()
    await say_status(ctx, replica_set, status_of(replica_set, pods, leaving, failure, now))
    if failure is not None:
        raise failure
    waiting = [at for pod in pods if (at := available_at(pod, replica_set.spec.min_ready_seconds or 0)) is not None and at > now]
    return Result(requeue_after=min(waiting) - now) if waiting else None


def status_of(replica_set: ReplicaSet, pods: list[Pod], leaving: int, failure: ApiError | None, now: datetime) -> ReplicaSetStatus:
    """What there is: these pods, and so many that are leaving."""
    delay = replica_set.spec.min_ready_seconds or 0
    labels = replica_set.spec.template.metadata.labels.items()
    labeled = sum(labels <= pod.metadata.labels.items() for pod in pods)
    available = [at for pod in pods if (at := available_at(pod, delay)) is not None and at <= now]
    conditions = list(replica_set.status.conditions)
    if failure is None:
        conditions = without_condition(conditions, "ReplicaFailure")
    else:
        condition = ReplicaSetCondition(type="ReplicaFailure", status="True", reason="FailedCreate", message=failure.message)
        put_condition(conditions, condition, now)
    return ReplicaSetStatus(
        replicas=len(pods),
        # Zero is not stated, as by the real one, whose fields of these are left out when empty.
        fully_labeled_replicas=labeled or None,
        ready_replicas=sum(map(is_ready, pods)) or None,
        available_replicas=len(available) or None,
        terminating_replicas=leaving,
        observed_generation=replica_set.metadata.generation,
        conditions=conditions,
    )
