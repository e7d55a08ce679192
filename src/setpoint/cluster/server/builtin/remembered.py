"""Judgements that are remembered: the pods of a workload have all the same specification, and keep it whatever else of them changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar

import msgspec

from setpoint.cluster.server.remembering import remembering

_Finding = TypeVar("_Finding")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def remembered(judge: Callable[[Mapping[str, Any], str], Iterable[_Finding]]) -> Callable[[Mapping[str, Any], str], tuple[_Finding, ...]]:
    """What is found in a JSON object at a path, asked once of objects that are written alike.

    What is found depends on the two alone, and nobody can change it.
    """

    @remembering(512)
    def judged(written: bytes, at: str) -> tuple[_Finding, ...]:
        return tuple(judge(_decode(written), at))

    @wraps(judge)
    def found(spec: Mapping[str, Any], at: str) -> tuple[_Finding, ...]:
        return judged(_encode(spec), at)

    return found
