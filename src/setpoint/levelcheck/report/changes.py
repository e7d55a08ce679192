"""What differs between two states of an object, field by field, as people would say it.

What the server keeps for itself (versions, identifiers, when something was made, who owns which field) is left out: it differs always.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

BOOKKEEPING = ("resourceVersion", "uid", "creationTimestamp", "managedFields", "generation", "selfLink")
"""Fields of `metadata` that say nothing about what was wanted."""
_PAIRED_BY = ("name", "type", "containerPort", "port", "uid", "key")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Change(NamedTuple):
    """A field, as kubectl's JSONPath writes it, and its value in both states; None where it is not there."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.path} = {shown(self.after)}"
        if self.after is None:
            return f"{self.path} is gone (was {shown(self.before)})"
        return f"{self.path} {shown(self.before)} → {shown(self.after)}"


def changes(before: Any, after: Any) -> list[Change]:
    """All that differs, in the order in which the newer state has it; of a list's items, what else names them. See `BOOKKEEPING`."""
    return list(_differing("", plain(before), plain(after)))


def decoded(state: bytes | None) -> dict[str, Any]:
    """A state as it was recorded, or nothing."""
    found: dict[str, Any] = {} if state is None else msgspec.json.decode(state)
    return found


def plain(obj: Any) -> Any:
    """An object without the server's bookkeeping. Owners' UIDs go as well: the names are there."""
    if not isinstance(obj, Mapping) or not isinstance(obj.get("metadata"), Mapping):
        return obj
    metadata = {name: value for name, value in obj["metadata"].items() if name not in BOOKKEEPING}
    if isinstance(owners := metadata.get("ownerReferences"), list):
        metadata["ownerReferences"] = [{name: value for name, value in owner.items() if name != "uid"} for owner in owners]
    return {**obj, "metadata": metadata}


def is_time(value: Any) -> bool:
    """Whether it is a point in time, as the API writes one."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def shown(value: Any, width: int = 48) -> str:
    """A value in a line: text without quotes, the rest as JSON, long ones cut."""
    text = value if isinstance(value, str) and value else msgspec.json.encode(value).decode()
    text = " ".join(text.split()) or '""'
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _differing(path: str, before: Any, after: Any) -> Iterator[Change]:
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [*after, *(name for name in before if name not in after)]:
            yield from _differing(path + _step(name), before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list) and (key := _key_of(before, after)):
        was, now = ({item[key]: item for item in items} for items in (before, after))
        for name in [*now, *(name for name in was if name not in now)]:
            yield from _differing(f"{path}[{name}]", was.get(name), now.get(name))
    else:
        yield Change(path or ".", before, after)


def _key_of(*lists: Sequence[Any]) -> str:
    """By what the items of lists are told apart, each in its own; empty if by nothing."""
    items = [item for each in lists for item in each]
    if not items or not all(isinstance(item, Mapping) for item in items):
        return ""
    for key in _PAIRED_BY:
        named = all(isinstance(item.get(key), str | int) for item in items)
        if named and all(len({item[key] for item in each}) == len(each) for each in lists):
            return key
    return ""


def _step(name: str) -> str:
    return f".{name}" if _WORD.fullmatch(name) else f"[{name!r}]"
