"""Requests for certificates, and what is trusted."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, Cells, name_of, part
from setpoint.cluster.server.tables.durations import human_duration
from setpoint.cluster.server.tables.tables import Object, age

_GROUP = "certificates.k8s.io"


def _signing_request(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    seconds = spec.get("expirationSeconds")
    return [
        name_of(obj),
        age(obj, now),
        spec.get("signerName") or "",
        spec.get("username") or "",
        NONE if seconds is None else human_duration(timedelta(seconds=seconds)),
        _state(obj),
    ]


def _state(obj: Object) -> str:
    kinds = [condition.get("type") for condition in part(obj, "status", "conditions") or ()]
    state = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    if "Failed" in kinds:
        state += ",Failed"
    return f"{state},Issued" if part(obj, "status", "certificate") else state


def _trust_bundle(obj: Object, now: datetime) -> list[Any]:
    return [name_of(obj), part(obj, "spec", "signerName") or ""]


def _pod_request(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    kinds = [condition.get("type") for condition in part(obj, "status", "conditions") or ()]
    state = next((kind for kind in kinds if kind in ("Issued", "Denied", "Failed")), "Pending")
    told = [spec.get(field) or "" for field in ("podName", "serviceAccountName", "nodeName", "signerName")]
    extra = spec.get("unverifiedUserAnnotations") or {}
    return [name_of(obj), *told, state, ",".join(f"{key}={value}" for key, value in sorted(extra.items()))]


CELLS: dict[tuple[str, str], Cells] = {
    (_GROUP, "certificatesigningrequests"): _signing_request,
    (_GROUP, "clustertrustbundles"): _trust_bundle,
    (_GROUP, "podcertificaterequests"): _pod_request,
}
