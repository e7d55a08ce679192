"""The Lease on the wire: what a `Record` is read from, and what a `Write` sends.

A renewal is a merge patch that names a version, so what others keep in the Lease survives, and of two writers one is refused.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from setpoint.api import Operation
from setpoint.client import verbs
from setpoint.k8s.coordination.v1 import Lease
from setpoint.manager.election.settings import LeaderElection
from setpoint.manager.election.states import Record, Write
from setpoint.objects import MicroTime, Request, kind_of

FIELD_MANAGER = "setpoint-leader-election"


class _Metadata(msgspec.Struct, rename={"resource_version": "resourceVersion"}):
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


class _Wire(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec | None = None


class _Wires(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    items: list[_Wire] | None = None


_decode = msgspec.json.Decoder(_Wire).decode
_decode_list = msgspec.json.Decoder(_Wires).decode


def read(body: bytes) -> Record:
    """What a Lease says. Raises `msgspec.MsgspecError` if it is none."""
    return _record(_decode(body))


def read_list(body: bytes) -> tuple[Record | None, str]:
    """What the only Lease of a list says, and the version from which it is to be watched. Raises likewise."""
    found = _decode_list(body)
    return _record(found.items[0]) if found.items else None, found.metadata.resource_version


def _record(wire: _Wire) -> Record:
    spec = wire.spec or _Spec()
    return Record(
        version=wire.metadata.resource_version,
        holder=spec.holder_identity or "",
        seconds=spec.lease_duration_seconds or 0,
        renewed=spec.renew_time or "",
        transitions=spec.lease_transitions or 0,
    )


def lister(election: LeaderElection) -> Operation:
    """Reads the Lease, or that there is none, as of a version that can be watched from."""
    return verbs.list_page(kind_of(Lease), election.namespace, fields=_only(election))


def watcher(election: LeaderElection, version: str, seconds: int) -> Operation:
    """Watches it for so many seconds."""
    return verbs.watch(kind_of(Lease), election.namespace, fields=_only(election), resource_version=version, timeout_seconds=seconds)


def writer(election: LeaderElection, write: Write, now: datetime) -> Operation:
    """Creates the Lease, or changes the version that the write names."""
    time = str(MicroTime.of(now))
    spec: dict[str, Any] = {"holderIdentity": write.holder, "leaseDurationSeconds": write.seconds, "renewTime": time}
    if write.acquires:
        spec["acquireTime"] = time
    if write.transitions is not None:
        spec["leaseTransitions"] = write.transitions
    info = kind_of(Lease)
    if write.version:
        patch = {"metadata": {"resourceVersion": write.version}, "spec": spec}
        return verbs.merge_patch(info, Request(election.namespace, election.name), patch, field_manager=FIELD_MANAGER)
    metadata = {"name": election.name, "namespace": election.namespace}
    lease = {"apiVersion": info.api_version, "kind": info.kind, "metadata": metadata, "spec": spec}
    return verbs.create(info, election.namespace, msgspec.json.encode(lease), field_manager=FIELD_MANAGER)


def _only(election: LeaderElection) -> str:
    return f"metadata.name={election.name}"
