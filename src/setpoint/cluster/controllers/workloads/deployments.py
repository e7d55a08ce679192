"""Deployments: one ReplicaSet for each template, the newest of which is to have all the replicas.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/
"""

from __future__ import annotations

from datetime import datetime, timedelta

from setpoint.client.errors import AlreadyExists, Forbidden
from setpoint.cluster.controllers.conditions import put_condition
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.saying import say_status
from setpoint.cluster.controllers.workloads.progress import PROGRESSING, deadline, present, progress
from setpoint.cluster.controllers.workloads.rollout import Share, bounds, recreating, rolling
from setpoint.cluster.controllers.workloads.templates import HASH_LABEL, canonical, hash_of
from setpoint.controller import Context, Controller, Result
from setpoint.k8s.apps.v1 import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet, ReplicaSetSpec, RollingUpdateDeployment
from setpoint.k8s.core.v1 import PodTemplateSpec
from setpoint.k8s.meta.v1 import LabelSelector
from setpoint.objects import ObjectMeta, Request, absent

REVISION = "deployment.kubernetes.io/revision"
_NOT_TAKEN_OVER = (REVISION, "kubectl.kubernetes.io/last-applied-configuration")
HISTORY = 10
"""Old ReplicaSets that are kept where a Deployment does not say how many."""


def deployment_controller() -> Controller[Deployment]:
    """Makes, scales and deletes ReplicaSets."""
    return Controller(Deployment, name="deployment", owns=[ReplicaSet], reconciler=reconcile)


async def reconcile(ctx: Context, request: Request) -> Result | None:
    """One step of the rollout, and the status; the next step follows when a ReplicaSet's status changes, or when it takes too long."""
    deployment = await ctx.get(Deployment, request)
    if deployment is None or deployment.is_terminating:
        return None
    found = await ctx.list(ReplicaSet, namespace=deployment.namespace, owner=deployment)
    sets = sorted((one for one in found if not one.is_terminating), key=_age)
    template = canonical(deployment.spec.template)
    new = next((one for one in sets if canonical(one.spec.template) == template), None)
    old = [one for one in sets if one is not new]
    if new is None and not deployment.spec.paused:
        new = await _create(ctx, deployment, old)
        if new is None:
            return None
    elif new is not None:
        await _scale(ctx, deployment, new, old)
    await _clean_up(ctx, deployment, old)
    if new is not None:
        deployment = await _say_revision(ctx, deployment, new)
    now = ctx.now()
    await say_status(ctx, deployment, status_of(deployment, new, old, now))
    due = deadline(deployment, present(deployment))
    return Result(requeue_after=max(due - now, timedelta(0))) if due is not None else None


def _age(replica_set: ReplicaSet) -> tuple[int, str]:
    return int(replica_set.metadata.annotations.get(REVISION) or 0), replica_set.name


# ---- ReplicaSets


async def _create(ctx: Context, deployment: Deployment, old: list[ReplicaSet]) -> ReplicaSet | None:
    """The new ReplicaSet; None if that must wait: the namespace is going, or another object has the name, so that the next has another."""
    fresh = replica_set_of(deployment, revision=max((_age(one)[0] for one in old), default=0) + 1)
    wanted = shares(deployment, fresh, old)
    fresh.spec.replicas = wanted[fresh.name]
    try:
        created = await ctx.create(fresh, owner=deployment)
    except AlreadyExists:
        deployment.status.collision_count = (deployment.status.collision_count or 0) + 1
        await ctx.update_status(deployment)
        return None
    except Forbidden as error:
        if namespace_is_terminating(error):
            return None
        raise
    await _set_replicas(ctx, old, wanted)
    return created


async def _scale(ctx: Context, deployment: Deployment, new: ReplicaSet, old: list[ReplicaSet]) -> None:
    if deployment.spec.paused and old:
        return
    annotations = new.metadata.annotations | _annotations(deployment)
    if old and (latest := max(_age(one)[0] for one in old)) >= _age(new)[0]:
        # Back to a template of before: that is the latest revision now.
        annotations[REVISION] = str(latest + 1)
    wanted = shares(deployment, new, old)
    if annotations != new.metadata.annotations:
        new.metadata.annotations, new.spec.replicas = annotations, wanted[new.name]
        await ctx.update(new)
    await _set_replicas(ctx, [new, *old], wanted)


async def _set_replicas(ctx: Context, sets: list[ReplicaSet], wanted: dict[str, int]) -> None:
    for one in sets:
        if one.spec.replicas != wanted[one.name]:
            one.spec.replicas = wanted[one.name]
            await ctx.update(one)


async def _say_revision(ctx: Context, deployment: Deployment, new: ReplicaSet) -> Deployment:
    """Names the present revision where tools look for it. Written with the status, it does not count as a new generation."""
    revision = new.metadata.annotations.get(REVISION)
    if deployment.metadata.annotations.get(REVISION) == revision:
        return deployment
    change = {"metadata": {"uid": deployment.uid, "annotations": {REVISION: revision}}}
    return await ctx.patch(Deployment, deployment.key, change, subresource="status")


async def _clean_up(ctx: Context, deployment: Deployment, old: list[ReplicaSet]) -> None:
    """Deletes the oldest of those that are empty and beyond the history that is kept."""
    limit = deployment.spec.revision_history_limit
    empty = [one for one in old if not one.spec.replicas and not one.status.replicas]
    for one in empty[: max(0, len(empty) - (HISTORY if limit is None else limit))]:
        await ctx.delete(one)


def replica_set_of(deployment: Deployment, *, revision: int) -> ReplicaSet:
    """The ReplicaSet for the present template."""
    template, selector = deployment.spec.template, deployment.spec.selector
    digest = {HASH_LABEL: hash_of(template, deployment.status.collision_count or 0)}
    labels = template.metadata.labels | digest
    return ReplicaSet(
        metadata=ObjectMeta(
            name=f"{deployment.name}-{digest[HASH_LABEL]}",
            namespace=deployment.namespace,
            labels=labels,
            annotations=_annotations(deployment) | {REVISION: str(revision)},
        ),
        spec=ReplicaSetSpec(
            replicas=0,
            min_ready_seconds=deployment.spec.min_ready_seconds,
            selector=LabelSelector(match_labels=selector.match_labels | digest, match_expressions=selector.match_expressions),
            template=PodTemplateSpec(
                metadata=ObjectMeta(labels=labels, annotations=template.metadata.annotations, finalizers=template.metadata.finalizers),
                spec=template.spec,
            ),
        ),
    )


def _annotations(deployment: Deployment) -> dict[str, str]:
    """Those that a ReplicaSet takes over; `kubectl rollout history` shows one of them."""
    return {name: value for name, value in deployment.metadata.annotations.items() if name not in _NOT_TAKEN_OVER}


def shares(deployment: Deployment, new: ReplicaSet, old: list[ReplicaSet]) -> dict[str, int]:
    """The replicas that each should have next, by name."""
    desired = _desired(deployment)
    new_share, old_shares = _share(new), [_share(one) for one in old]
    if deployment.spec.strategy.type == "Recreate":
        return recreating(desired, new_share, old_shares)
    surge, unavailable = _bounds(deployment)
    return rolling(desired, surge, unavailable, new_share, old_shares)


def _desired(deployment: Deployment) -> int:
    return 1 if deployment.spec.replicas is None else deployment.spec.replicas


def _bounds(deployment: Deployment) -> tuple[int, int]:
    limits = deployment.spec.strategy.rolling_update or absent(RollingUpdateDeployment)
    return bounds(_desired(deployment), limits.max_surge, limits.max_unavailable)


def _share(one: ReplicaSet) -> Share:
    status, wanted = one.status, one.spec.replicas or 0
    has_seen = (status.observed_generation or 0) >= (one.metadata.generation or 0)
    # What it has not counted since it was asked for something else may still be there.
    present = (status.replicas or 0) if has_seen else max(status.replicas or 0, wanted)
    return Share(one.name, wanted, present, status.available_replicas or 0)


# ---- status


def status_of(deployment: Deployment, new: ReplicaSet | None, old: list[ReplicaSet], now: datetime) -> DeploymentStatus:
    """What the ReplicaSets say, summed up. Zero is not stated, as by the real one."""
    sets = [*old, new] if new is not None else old
    total = sum(one.status.replicas or 0 for one in sets)
    available = sum(one.status.available_replicas or 0 for one in sets)
    desired = _desired(deployment)
    updated = (new.status.replicas or 0) if new is not None else 0
    unavailable = desired if deployment.spec.strategy.type == "Recreate" else _bounds(deployment)[1]
    status = DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=total or None,
        updated_replicas=updated or None,
        ready_replicas=sum(one.status.ready_replicas or 0 for one in sets) or None,
        available_replicas=available or None,
        unavailable_replicas=max(0, total - available) or None,
        terminating_replicas=sum(one.status.terminating_replicas or 0 for one in sets),
        collision_count=deployment.status.collision_count,
        conditions=[condition for condition in deployment.status.conditions if condition.type != PROGRESSING],
    )
    put_condition(status.conditions, _available(available >= desired - unavailable), now, update_time=True)
    status.conditions.append(progress(deployment, new, status, now))
    return status


def _available(holds: bool) -> DeploymentCondition:
    if holds:
        reason, message = "MinimumReplicasAvailable", "Deployment has minimum availability."
    else:
        reason, message = "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
    return DeploymentCondition(type="Available", status="True" if holds else "False", reason=reason, message=message)
