"""What a user has said in a workload that looks as if it were made up, such as a time: it is no stamp, and is compared as it is."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from functools import lru_cache
from typing import Any

import msgspec

from setpoint.levelcheck.workload import Apply, Patch, Recreate, Workload


@lru_cache(maxsize=64)
def said_by(workload: Workload) -> tuple[str, ...]:
    """Its values as text, those of secrets also as they are behind base64."""
    found: dict[str, None] = {}
    for step in workload.steps:
        if isinstance(step, Apply | Recreate):
            _gather(msgspec.json.decode(step.manifest), found)
        elif isinstance(step, Patch):
            _gather(msgspec.json.decode(step.patch), found)
    return tuple(found)


def _gather(value: Any, found: dict[str, None]) -> None:
    if isinstance(value, dict):
        for each in value.values():
            _gather(each, found)
    elif isinstance(value, list):
        for each in value:
            _gather(each, found)
    elif isinstance(value, str) and len(value) >= 7:
        found[value] = None
        try:
            found[b64decode(value, validate=True).decode()] = None
        except (NotBase64, UnicodeDecodeError):
            return
    elif isinstance(value, int) and not isinstance(value, bool) and value > 999:
        found[str(value)] = None
