"""Objects of built-in kinds as a Go server gives them back: `as_go_writes`.

A real API server reads a built-in object into Go structs and writes it from them. On the way empty lists and maps vanish, and so do
zeros, ``""`` and ``false`` where the struct holds a plain value; a pointer to them stays. A struct held by value is always written, if
only as ``{}``. Quantities come out in their canonical form. Of all this OpenAPI tells what is required, what has a default, and which
structs are held by value (those with ``default: {}``); it does not tell pointers from values, so the pointers are listed here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .loader import schemas
from .quantities import canonical

POINTERS = {
    "AppArmorProfile": "localhostProfile",
    "AzureDiskVolumeSource": "cachingMode fsType kind readOnly",
    "CSIVolumeSource": "fsType readOnly",
    "ClientIPConfig": "timeoutSeconds",
    "ClusterTrustBundleProjection": "name optional signerName user",
    "ConfigMap": "immutable",
    "ConfigMapEnvSource": "optional",
    "ConfigMapKeySelector": "optional",
    "ConfigMapProjection": "optional",
    "ConfigMapVolumeSource": "defaultMode defaultUser optional",
    "Container": "restartPolicy",
    "ContainerStatus": "started stopSignal",
    "DeploymentSpec": "progressDeadlineSeconds replicas revisionHistoryLimit",
    "DeploymentStatus": "collisionCount terminatingReplicas",
    "DownwardAPIVolumeFile": "mode user",
    "DownwardAPIVolumeSource": "defaultMode defaultUser",
    "EmptyDirVolumeSource": "mode",
    "FCVolumeSource": "lun",
    "FileKeySelector": "optional",
    "GRPCAction": "mode",
    "HTTPGetAction": "protocol",
    "HostPathVolumeSource": "type",
    "ISCSIVolumeSource": "initiatorName",
    "KeyToPath": "mode user",
    "LeaseSpec": "holderIdentity leaseDurationSeconds leaseTransitions preferredHolder strategy",
    "Lifecycle": "stopSignal",
    "LoadBalancerIngress": "ipMode",
    "ObjectMeta": "deletionGracePeriodSeconds",
    "OwnerReference": "blockOwnerDeletion controller",
    "PersistentVolumeClaimSpec": "storageClassName volumeAttributesClassName volumeMode",
    "PodCertificateProjection": "maxExpirationSeconds user",
    "PodDNSConfigOption": "value",
    "PodResourceClaim": "resourceClaimName resourceClaimTemplateName",
    "PodResourceClaimStatus": "resourceClaimName",
    "PodSchedulingGroup": "podGroupName",
    "PodSecurityContext": "fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy supplementalGroupsPolicy",
    "PodSpec": (
        "activeDeadlineSeconds automountServiceAccountToken enableServiceLinks hostUsers hostnameOverride "
        "preemptionPolicy priority runtimeClassName setHostnameAsFQDN shareProcessNamespace "
        "terminationGracePeriodSeconds"
    ),
    "PortStatus": "error",
    "Probe": "terminationGracePeriodSeconds",
    "ProjectedVolumeSource": "defaultMode defaultUser",
    "ReplicaSetSpec": "replicas",
    "ReplicaSetStatus": "terminatingReplicas",
    "ResourceHealth": "message",
    "SeccompProfile": "localhostProfile",
    "Secret": "immutable",
    "SecretEnvSource": "optional",
    "SecretKeySelector": "optional",
    "SecretProjection": "optional",
    "SecretVolumeSource": "defaultMode defaultUser optional",
    "SecurityContext": "allowPrivilegeEscalation privileged procMount readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser",
    "ServiceAccount": "automountServiceAccountToken",
    "ServiceAccountTokenProjection": "expirationSeconds user",
    "ServicePort": "appProtocol",
    "ServiceSpec": "allocateLoadBalancerNodePorts internalTrafficPolicy ipFamilyPolicy loadBalancerClass trafficDistribution",
    "Toleration": "tolerationSeconds",
    "TopologySpreadConstraint": "minDomains nodeAffinityPolicy nodeTaintsPolicy",
    "TypedObjectReference": "namespace",
    "VolumeMount": "mountPropagation recursiveReadOnly",
    "VolumeMountStatus": "recursiveReadOnly",
    "WindowsSecurityContextOptions": "gmsaCredentialSpec gmsaCredentialSpecName hostProcess runAsUserName",
}
"""Optional scalars, by struct, that are pointers: they are kept when they are 0, false or empty."""

_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"

Writer = Callable[[Any], Any]


def as_go_writes(group: str, version: str, schema_name: str, obj: Any) -> Any:
    """A copy of an object as it comes back from the server's structs. Values of a wrong type are left as they are, for others to refuse."""
    return _struct(group, version, schema_name)(obj)


@lru_cache(maxsize=1024)
def _struct(group: str, version: str, name: str) -> Writer:
    """The writer of one struct. Its fields' writers are made when the first object comes, since some structs hold themselves."""
    if name == _QUANTITY:
        return canonical
    schema = schemas(group, version)[name]
    properties = schema.get("properties")
    if not properties:
        return copy.deepcopy
    required = frozenset(schema.get("required", ()))
    pointers = frozenset(POINTERS.get(name.rpartition(".")[2], "").split())
    # A struct held by value is there even if it is required and was not sent.
    always = {
        key: value["default"] for key, value in properties.items() if "default" in value and (key not in required or _reference(value))
    }
    kept = required | pointers | frozenset(always)
    writers: dict[str, Writer] = {}

    def write(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        result = {}
        for key, item in value.items():
            if item is None:
                continue
            field = properties.get(key)
            if field is None:
                result[key] = copy.deepcopy(item)
                continue
            writer = writers.get(key)
            if writer is None:
                writer = writers[key] = _value(group, version, field)
            if key in kept or item not in _EMPTY or _reference(field):
                result[key] = writer(item)
        for key, default in always.items():
            if key not in result:
                writer = writers.setdefault(key, _value(group, version, properties[key]))
                result[key] = writer(default)
        return result

    return write


_EMPTY: tuple[Any, ...] = ("", 0, [], {})  # and False, which equals 0


def _reference(field: dict[str, Any]) -> str | None:
    wrapped = field.get("allOf") or [field]
    reference = wrapped[0].get("$ref")
    return reference.rpartition("/")[2] if isinstance(reference, str) else None


def _value(group: str, version: str, field: dict[str, Any]) -> Writer:
    reference = _reference(field)
    if reference is not None:
        return _struct(group, version, reference)
    if "items" in field:
        write_item = _element(group, version, field["items"])
        return lambda value: [write_item(item) for item in value] if isinstance(value, list) else value
    if "additionalProperties" in field:
        write_entry = _element(group, version, field["additionalProperties"])
        return lambda value: {key: write_entry(item) for key, item in value.items()} if isinstance(value, dict) else value
    return copy.deepcopy if field.get("type") == "object" else _same


def _element(group: str, version: str, field: dict[str, Any]) -> Writer:
    """The writer of what a list or a map holds, where null is a zero."""
    write = _value(group, version, field)
    if _reference(field) is not None:
        schema = schemas(group, version)[str(_reference(field))]
        zero: Any = "0" if _reference(field) == _QUANTITY else {} if schema.get("type") == "object" else None
    else:
        zero = _ZEROS.get(field.get("type", ""))
    return lambda value: write(zero if value is None else value)


_ZEROS = {"string": "", "boolean": False, "integer": 0, "number": 0}


def _same(value: Any) -> Any:
    return value
