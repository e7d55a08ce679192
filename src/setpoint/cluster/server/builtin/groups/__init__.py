"""The behaviours of the built-in kinds, a file for each API group (or idea), each with its `BEHAVIOURS` by the kind's name.

A file is imported when one of its kinds is first asked about. A kind that none of them knows is one of which only the schema is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from setpoint.cluster.server.builtin.behaviour import Behaviour

FILES: Mapping[str, tuple[str, ...]] = {
    "accounts": ("ServiceAccount",),
    "apiextensions": ("CustomResourceDefinition",),
    "apps": ("Deployment", "ReplicaSet"),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "certificates": ("CertificateSigningRequest", "ClusterTrustBundle", "PodCertificateRequest"),
    "coordination": ("Lease",),
    "core": ("ConfigMap", "Namespace", "Secret"),
    "csi": ("CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttachment", "VolumeAttributesClass"),
    "daemonsets": ("DaemonSet",),
    "devices": ("DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
    "disruption": ("PodDisruptionBudget",),
    "endpoints": ("Endpoints", "EndpointSlice"),
    "events": ("Event",),
    "flow_control": ("FlowSchema", "PriorityLevelConfiguration"),
    "ingresses": ("Ingress", "IngressClass"),
    "jobs": ("Job", "CronJob"),
    "network_policies": ("NetworkPolicy",),
    "node": ("RuntimeClass",),
    "nodes": ("Node",),
    "pods": ("Pod",),
    "quotas": ("LimitRange", "ResourceQuota"),
    "rbac": ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"),
    "replication": ("ReplicationController", "PodTemplate", "ControllerRevision"),
    "scheduling": ("PriorityClass",),
    "service_addresses": ("IPAddress", "ServiceCIDR"),
    "services": ("Service",),
    "statefulsets": ("StatefulSet",),
    "storage": ("StorageClass",),
    "storage_migration": ("StorageVersionMigration",),
    "volumes": ("PersistentVolumeClaim", "PersistentVolume"),
}
"""The files, and the kinds of which they state the behaviour."""
_FILE_OF = {kind: file for file, kinds in FILES.items() for kind in kinds}
_ONLY_SCHEMA = Behaviour()


def behaviour_of(kind: str) -> Behaviour:
    """The behaviour of the kinds of this name; all its versions have one."""
    file = _FILE_OF.get(kind)
    return _ONLY_SCHEMA if file is None else stated_in(file)[kind]


@lru_cache(maxsize=len(FILES))
def stated_in(file: str) -> Mapping[str, Behaviour]:
    """The behaviours that a file states."""
    stated: Mapping[str, Behaviour] = import_module(f"{__package__}.{file}").BEHAVIOURS
    return stated
