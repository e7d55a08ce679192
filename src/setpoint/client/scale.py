"""How many replicas something has: the scale subresource, the same for every kind that has it.

https://kubernetes.io/docs/reference/kubernetes-api/autoscaling-resources/scale-v1/
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class ScaleState(NamedTuple):
    """How many replicas are wanted, how many there are, and the selector of their pods as text."""

    replicas: int
    current: int
    selector: str


class _Spec(msgspec.Struct):
    replicas: int = 0


class _Status(msgspec.Struct):
    replicas: int = 0
    selector: str = ""


class _Scale(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_scale = msgspec.json.Decoder(_Scale).decode


def read_scale(body: bytes) -> ScaleState:
    """What an autoscaling/v1 Scale says; the API leaves zeros out."""
    scale = _scale(body)
    return ScaleState(scale.spec.replicas, scale.status.replicas, scale.status.selector)
