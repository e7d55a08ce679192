"""Volumes: a claim is bound to a simulated volume, made for it, at once. Nothing is stored anywhere.

There is one StorageClass, `standard`, and it is the default. A claim that is in use by a pod stays until the pod is gone, and a volume goes
with its claim.

https://kubernetes.io/docs/concepts/storage/persistent-volumes/
"""

from __future__ import annotations

from setpoint.client.errors import AlreadyExists
from setpoint.cluster.controllers.workloads.node import FIRST_NAMESPACE
from setpoint.cluster.controllers.workloads.podstate import has_ended
from setpoint.controller import Context, Controller
from setpoint.k8s.core.v1 import (
    HostPathVolumeSource,
    Namespace,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    Pod,
)
from setpoint.k8s.storage.v1 import StorageClass
from setpoint.objects import Index, Object, ObjectMeta, Request, whole_seconds

CLASS, PROVISIONER = "standard", "setpoint.dev/simulated"
IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
CLAIM_PROTECTION, VOLUME_PROTECTION = "kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"


def _claims(pod: Pod) -> list[str]:
    claims = [volume.persistent_volume_claim.claim_name for volume in pod.spec.volumes if volume.persistent_volume_claim is not None]
    return [f"{pod.namespace}/{claim}" for claim in claims]


BY_CLAIM: Index[Pod] = Index(Pod, _claims)


def volume_controllers() -> tuple[Controller[StorageClass], Controller[PersistentVolumeClaim], Controller[PersistentVolume]]:
    """Those of storage classes, claims and volumes."""
    classes = Controller(StorageClass, name="storageclass", reconciler=keep_class)
    # The namespace is there from the start, and so asks for the class that is not.
    classes.watch(Namespace, map=_the_class, fields=f"metadata.name={FIRST_NAMESPACE}", metadata_only=True)
    claims = Controller(PersistentVolumeClaim, name="persistentvolume-binder", indexes=[BY_CLAIM], reconciler=bind)
    claims.watch(Pod, map=_claims_of).watch(PersistentVolume, map=_claim_of).watch(StorageClass, map=_none)
    volumes = Controller(PersistentVolume, name="persistentvolume", reconciler=release)
    volumes.watch(PersistentVolumeClaim, map=_volume_of, metadata_only=False)
    return classes, claims, volumes


def _the_class(obj: Object) -> list[Request]:
    return [Request("", CLASS)]


def _none(obj: Object) -> list[Request]:
    return []


def _claims_of(pod: Pod) -> list[Request]:
    return [Request(pod.namespace, claim.partition("/")[2]) for claim in _claims(pod)]


def _claim_of(volume: PersistentVolume) -> list[Request]:
    claim = volume.spec.claim_ref
    return [Request(claim.namespace or "", claim.name or "")] if claim is not None else []


def _volume_of(claim: PersistentVolumeClaim) -> list[Request]:
    return [Request("", claim.spec.volume_name)] if claim.spec.volume_name else []


async def keep_class(ctx: Context, request: Request) -> None:
    """Makes the one class where it is missing."""
    if request.name == CLASS and await ctx.get(StorageClass, request) is None:
        metadata = ObjectMeta(name=CLASS, annotations={IS_DEFAULT: "true"})
        try:
            await ctx.create(
                StorageClass(metadata=metadata, provisioner=PROVISIONER, reclaim_policy="Delete", volume_binding_mode="Immediate")
            )
        except AlreadyExists:
            return


async def bind(ctx: Context, request: Request) -> None:
    """Binds a claim to a volume of its own, or lets it go where no pod uses it."""
    claim = await ctx.get(PersistentVolumeClaim, request)
    if claim is None:
        return
    if claim.is_terminating:
        users = await ctx.list(Pod, namespace=claim.namespace, index=BY_CLAIM(f"{claim.namespace}/{claim.name}"))
        if all(has_ended(pod) for pod in users):
            await ctx.remove_finalizer(claim, CLAIM_PROTECTION)
        return
    if claim.status.phase == "Bound":
        return
    name = claim.spec.storage_class_name
    if name == "":
        return  # it wants a volume that somebody has made
    if (await ctx.get(StorageClass, name or CLASS) or StorageClass(provisioner="")).provisioner != PROVISIONER:
        ctx.event(claim, "ProvisioningFailed", f'storageclass.storage.k8s.io "{name or CLASS}" is not simulated', type="Warning")
        return
    volume = await _volume_for(ctx, claim, name or CLASS)
    claim.spec.volume_name, claim.spec.storage_class_name = volume.name, name or CLASS
    claim.metadata.annotations |= {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
    claim.metadata.annotations |= {"volume.kubernetes.io/storage-provisioner": PROVISIONER}
    await ctx.update(claim)
    claim.status = PersistentVolumeClaimStatus(phase="Bound", access_modes=volume.spec.access_modes, capacity=volume.spec.capacity)
    await ctx.update_status(claim)


async def _volume_for(ctx: Context, claim: PersistentVolumeClaim, storage_class: str) -> PersistentVolume:
    key = Request("", f"pvc-{claim.uid}")
    volume = await ctx.get(PersistentVolume, key)
    if volume is None:
        reference = ObjectReference(
            api_version="v1", kind="PersistentVolumeClaim", namespace=claim.namespace, name=claim.name, uid=claim.uid
        )
        spec = PersistentVolumeSpec(
            access_modes=claim.spec.access_modes,
            capacity={"storage": claim.spec.resources.requests["storage"]},
            claim_ref=reference,
            host_path=HostPathVolumeSource(path=f"/simulated/{key.name}"),
            persistent_volume_reclaim_policy="Delete",
            storage_class_name=storage_class,
            volume_mode=claim.spec.volume_mode,
        )
        metadata = ObjectMeta(name=key.name, annotations={PROVISIONED_BY: PROVISIONER})
        volume = await ctx.create(PersistentVolume(metadata=metadata, spec=spec))
    if volume.status.phase != "Bound":
        volume.status = PersistentVolumeStatus(phase="Bound", last_phase_transition_time=whole_seconds(ctx.now()))
        await ctx.update_status(volume)
    return volume


async def release(ctx: Context, request: Request) -> None:
    """Deletes a volume whose claim has gone, and lets it go, as it does one that was made by hand and never had a claim."""
    volume = await ctx.get(PersistentVolume, request)
    if volume is None:
        return
    claim = volume.spec.claim_ref
    if claim is None and volume.is_terminating:
        await ctx.remove_finalizer(volume, VOLUME_PROTECTION)
    if claim is None or volume.metadata.annotations.get(PROVISIONED_BY) != PROVISIONER:
        return
    found = await ctx.get(PersistentVolumeClaim, Request(claim.namespace or "", claim.name or ""), live=True)
    if found is not None and found.uid == claim.uid:
        return
    if volume.spec.persistent_volume_reclaim_policy == "Delete" and not volume.is_terminating:
        await ctx.delete(volume)
    elif volume.is_terminating:
        await ctx.remove_finalizer(volume, VOLUME_PROTECTION)
    elif volume.status.phase != "Released":
        volume.status = PersistentVolumeStatus(phase="Released", last_phase_transition_time=whole_seconds(ctx.now()))
        await ctx.update_status(volume)
