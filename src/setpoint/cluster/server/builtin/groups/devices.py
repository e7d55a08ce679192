"""The group resource.k8s.io: devices and claims for them, with their defaults. Nothing here allocates anything.

https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json


def _claim(obj: Json) -> None:
    _claim_spec(obj.get("spec"))


def _template(obj: Json) -> None:
    _claim_spec((obj.get("spec") or {}).get("spec"))


def _claim_spec(spec: Any) -> None:
    for request in ((spec or {}).get("devices") or {}).get("requests") or ():
        for asked in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if asked is not None:
                asked.setdefault("allocationMode", "ExactCount")
                if asked["allocationMode"] == "ExactCount":
                    asked.setdefault("count", 1)


BEHAVIOURS: Mapping[str, Behaviour] = {
    "DeviceClass": Behaviour(generation=True, returns_deleted=True),
    "DeviceTaintRule": Behaviour(generation=True),
    "ResourceClaim": Behaviour(defaults=_claim, returns_deleted=True),
    "ResourceClaimTemplate": Behaviour(defaults=_template, returns_deleted=True),
    "ResourceSlice": Behaviour(
        generation=True,
        returns_deleted=True,
        selectable=("spec.nodeName", "spec.driver", "spec.pool.name"),
        no_field="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
    ),
}
