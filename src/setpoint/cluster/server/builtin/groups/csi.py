"""The drivers of storage, with their defaults, what they say of nodes and capacity, and the classes of attributes of volumes.

https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/csi-driver-v1/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json

_PROTECTION = "kubernetes.io/vac-protection"
_OFF = ("podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount", "preventPodSchedulingIfMissing")


def _driver(obj: Json) -> None:
    spec = obj.get("spec")
    if spec is None:
        return
    spec.setdefault("attachRequired", True)
    for name in _OFF:
        spec.setdefault(name, False)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    spec["volumeLifecycleModes"] = spec.get("volumeLifecycleModes") or ["Persistent"]


def _protect(obj: Json) -> None:
    metadata = obj["metadata"]
    finalizers = metadata.get("finalizers") or []
    if _PROTECTION not in finalizers:
        obj["metadata"] = {**metadata, "finalizers": [*finalizers, _PROTECTION]}


BEHAVIOURS: Mapping[str, Behaviour] = {
    "CSIDriver": Behaviour(defaults=_driver, returns_deleted=True, unconditional_update=False),
    "CSINode": Behaviour(returns_deleted=True, unconditional_update=False),
    "CSIStorageCapacity": Behaviour(unconditional_update=False),
    "VolumeAttachment": Behaviour(returns_deleted=True, unconditional_update=False),
    "VolumeAttributesClass": Behaviour(prepare_create=_protect, returns_deleted=True),
}
