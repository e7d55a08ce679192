"""coordination.k8s.io: leases.

https://kubernetes.io/docs/concepts/architecture/leases/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.schema.causes import FieldError, invalid

_COORDINATED = ("strategy", "preferredHolder")
"""What belongs to coordinated leader election, which is off in a server of this version: it is dropped."""


def _prepare(lease: Json) -> None:
    lease["spec"] = {key: value for key, value in lease["spec"].items() if key not in _COORDINATED}


def _prepare_update(lease: Json, old: Object, subresource: str) -> None:
    _prepare(lease)


def _validate(lease: Object, old: Object | None) -> Iterator[FieldError]:
    spec = lease["spec"]
    if spec.get("leaseDurationSeconds", 1) <= 0:
        yield invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
    if spec.get("leaseTransitions", 0) < 0:
        yield invalid("spec.leaseTransitions", spec["leaseTransitions"], "must be greater than or equal to 0")


BEHAVIOURS = {
    "Lease": Behaviour(
        support="full",
        prepare_create=_prepare,
        prepare_update=_prepare_update,
        validate=_validate,
        create_on_update=True,
        unconditional_update=False,
        any_finalizer=True,
    ),
}
