"""StatefulSets: pods with names, one after the other, each with claims of its own.

https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

import msgspec

from setpoint.client.errors import AlreadyExists, Forbidden
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.saying import say_status
from setpoint.cluster.controllers.workloads.adoption import ORPHANS, adopt, is_orphan, takes
from setpoint.cluster.controllers.workloads.podstate import available_at, is_active, is_ready
from setpoint.cluster.controllers.workloads.revisions import HASH_LABEL, Revisions, forget, revisions_of, template_of
from setpoint.cluster.controllers.workloads.templates import pod_from
from setpoint.controller import Context, Controller, Result
from setpoint.k8s.apps.v1 import ControllerRevision, StatefulSet, StatefulSetStatus
from setpoint.k8s.core.v1 import PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, Volume
from setpoint.objects import Object, ObjectMeta, OwnerReference, Request

POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"


def stateful_set_controller() -> Controller[StatefulSet]:
    """Makes, adopts, replaces and deletes pods, and makes their claims."""
    controller = Controller(StatefulSet, name="statefulset", owns=[Pod, ControllerRevision], indexes=[ORPHANS], reconciler=reconcile)
    return controller.watch(Pod, map=_who_would_adopt).watch(PersistentVolumeClaim, map=_who_waits_for)


def _who_would_adopt(pod: Pod) -> list[Request]:
    name, _, number = pod.name.rpartition("-")
    return [Request(pod.namespace, name)] if name and number.isdigit() and is_orphan(pod) else []


def _who_waits_for(claim: PersistentVolumeClaim) -> list[Request]:
    """Those that may need a claim anew when it is gone: what follows the template's name, which may hold dashes itself."""
    names, _, number = claim.name.rpartition("-")
    if not claim.is_terminating or not number.isdigit():
        return []
    parts = names.split("-")
    return [Request(claim.namespace, "-".join(parts[at:])) for at in range(1, len(parts))]


async def reconcile(ctx: Context, request: Request) -> Result | None:
    """The next steps, as far as what is there already is in order, and the status. Runs again when a ready pod becomes available."""
    found = await ctx.get(StatefulSet, request)
    if found is None or found.is_terminating:
        return None
    try:
        revisions = await revisions_of(ctx, found)
        replicas = Replicas(ctx, found, revisions, await _pods_of(ctx, found))
        await replicas.correct()
    except Forbidden as error:
        if not namespace_is_terminating(error):
            raise
        return None
    pods = replicas.pods
    await say_status(ctx, found, status_of(found, revisions, pods, ctx.now()))
    used = [found.status.current_revision or "", *(pod.metadata.labels.get(HASH_LABEL, "") for pod in pods.values())]
    await forget(ctx, revisions, used, found.spec.revision_history_limit)
    delay, now = found.spec.min_ready_seconds or 0, ctx.now()
    waiting = [at for pod in pods.values() if (at := available_at(pod, delay)) is not None and at > now]
    return Result(requeue_after=min(waiting) - now) if waiting else None


async def _pods_of(ctx: Context, owner: StatefulSet) -> list[Pod]:
    """The pods that it has, and those that fit it by name and labels and that nobody has: it has these then, too."""
    pods = await ctx.list(Pod, namespace=owner.namespace, owner=owner)
    for orphan in await ctx.list(Pod, index=ORPHANS(owner.namespace)):
        if ordinal_of(owner, orphan) is not None and takes(owner.spec.selector, orphan.metadata.labels):
            pods.append(await adopt(ctx, owner, orphan))
    return pods


class Replicas:
    """The pods of a StatefulSet by their ordinals, and what is to be done about them."""

    def __init__(self, ctx: Context, owner: StatefulSet, revisions: Revisions, pods: list[Pod]) -> None:
        self._ctx = ctx
        self._owner = owner
        self._revisions = revisions
        self._parallel = owner.spec.pod_management_policy == "Parallel"
        first = (owner.spec.ordinals.start or 0) if owner.spec.ordinals is not None else 0
        self._wanted = range(first, first + (1 if owner.spec.replicas is None else owner.spec.replicas))
        self._current = revisions.named(owner.status.current_revision)
        update = owner.spec.update_strategy
        partition = (update.rolling_update.partition or 0) if update.rolling_update is not None else 0
        self._updated_from = first + partition
        self._updates = update.type != "OnDelete"
        self.pods = {ordinal: pod for pod in pods if (ordinal := ordinal_of(owner, pod)) is not None}

    async def correct(self) -> None:
        """Makes what is missing, deletes what is too much, then replaces what is of an older revision; in order, where that is asked."""
        if await self._fill() and await self._shrink() and self._updates:
            await self._replace()

    async def _fill(self) -> bool:
        """Whether all are there, and, in order, available. While a claim of a missing pod is being deleted, that pod is not made."""
        filled = True
        for ordinal in self._wanted:
            pod = self.pods.get(ordinal)
            if pod is not None and not pod.is_terminating and not is_active(pod):
                await self._ctx.delete(pod)  # it has ended, and its successor has its name
                return False
            can_be_used = await self._keep_claims(ordinal, None)
            if pod is None and can_be_used:
                self.pods[ordinal] = await self._create(ordinal)
            filled = filled and ordinal in self.pods
            if not self._parallel and not (filled and self._in_order(ordinal)):
                return False
        return filled

    async def _create(self, ordinal: int) -> Pod:
        owner = self._owner
        revision = self._revisions.update if ordinal >= self._updated_from else self._current
        name = f"{owner.name}-{ordinal}"
        labels = {POD_NAME: name, POD_INDEX: str(ordinal), HASH_LABEL: revision.name}
        pod = pod_from(template_of(revision), owner.namespace, name=name, labels=labels)
        claims = {claim.name: claim_name(claim.name, name) for claim in owner.spec.volume_claim_templates}
        volumes = [volume for volume in pod.spec.volumes if volume.name not in claims]
        volumes += [
            Volume(name=of, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=claim)) for of, claim in claims.items()
        ]
        pod.spec = msgspec.structs.replace(pod.spec, volumes=volumes, hostname=name, subdomain=owner.spec.service_name or None)
        return await self._ctx.create(pod, owner=owner)

    async def _shrink(self) -> bool:
        """Deletes the highest first. Whether none is left to be deleted."""
        condemned = sorted((ordinal for ordinal in self.pods if ordinal not in self._wanted), reverse=True)
        for ordinal in condemned:
            pod = self.pods[ordinal]
            await self._keep_claims(ordinal, pod)
            if not pod.is_terminating:
                await self._ctx.delete(pod)
            if not self._parallel:
                break
        return not condemned

    async def _replace(self) -> None:
        """Deletes the highest that is of another revision, if all above it are available again."""
        for ordinal in sorted(self._wanted, reverse=True):
            pod = self.pods.get(ordinal)
            if ordinal < self._updated_from or pod is None or pod.is_terminating:
                return
            if pod.metadata.labels.get(HASH_LABEL) != self._revisions.update.name:
                await self._ctx.delete(pod)
                return
            if not self._in_order(ordinal):
                return

    def _in_order(self, ordinal: int) -> bool:
        pod = self.pods[ordinal]
        at = available_at(pod, self._owner.spec.min_ready_seconds or 0)
        return not pod.is_terminating and at is not None and at <= self._ctx.now()

    # claims

    async def _keep_claims(self, ordinal: int, condemned: Pod | None) -> bool:
        """Makes the claims of a pod, and has them owned by who is to take them along when it goes; whether none is being deleted."""
        owner, can_be_used = self._owner, True
        for template in owner.spec.volume_claim_templates:
            key = Request(owner.namespace, claim_name(template.name, f"{owner.name}-{ordinal}"))
            claim = await self._ctx.get(PersistentVolumeClaim, key)
            if claim is None and condemned is None:
                metadata = ObjectMeta(
                    name=key.name,
                    namespace=owner.namespace,
                    labels=template.metadata.labels | owner.spec.selector.match_labels,
                    annotations=template.metadata.annotations,
                    owner_references=self._owners_of_claims(None),
                )
                with suppress(AlreadyExists):  # not seen yet
                    await self._ctx.create(PersistentVolumeClaim(metadata=metadata, spec=template.spec))
            elif claim is not None and claim.is_terminating:
                can_be_used = False
            elif claim is not None:
                claim.metadata.owner_references = self._owners_of_claims(condemned)
                await self._ctx.update(claim)
        return can_be_used

    def _owners_of_claims(self, condemned: Pod | None) -> list[OwnerReference]:
        policy = self._owner.spec.persistent_volume_claim_retention_policy
        if policy is None:
            return []
        owners: list[OwnerReference] = []
        if policy.when_deleted == "Delete":
            owners.append(_reference("apps/v1", "StatefulSet", self._owner))
        if policy.when_scaled == "Delete" and condemned is not None:
            owners = [_reference("v1", "Pod", condemned)]
        return owners


def _reference(version: str, kind: str, obj: Object) -> OwnerReference:
    return OwnerReference(api_version=version, kind=kind, name=obj.name, uid=obj.uid)


def claim_name(template: str, pod: str) -> str:
    """How the claim of a pod is called."""
    return f"{template}-{pod}"


def ordinal_of(owner: StatefulSet, pod: Pod) -> int | None:
    """The number in a pod's name."""
    prefix, _, number = pod.name.rpartition("-")
    return int(number) if prefix == owner.name and number.isdigit() else None


def status_of(owner: StatefulSet, revisions: Revisions, pods: dict[int, Pod], now: datetime) -> StatefulSetStatus:
    """What there is. An update is over when all replicas are updated and ready; its revision is the current one then."""
    delay = owner.spec.min_ready_seconds or 0
    active = [pod for pod in pods.values() if is_active(pod)]
    current, update = revisions.named(owner.status.current_revision).name, revisions.update.name

    def of(revision: str) -> int:
        return sum(pod.metadata.labels.get(HASH_LABEL) == revision for pod in active)

    ready = sum(map(is_ready, active))
    if owner.spec.update_strategy.type != "OnDelete" and of(update) == len(active) == ready:
        current = update
    return StatefulSetStatus(
        observed_generation=owner.metadata.generation,
        replicas=len(active),
        ready_replicas=ready or None,
        available_replicas=sum((at := available_at(pod, delay)) is not None and at <= now for pod in active),
        current_replicas=of(current) or None,
        updated_replicas=of(update) or None,
        current_revision=current,
        update_revision=update,
        collision_count=owner.status.collision_count or 0,
        conditions=owner.status.conditions,
    )
