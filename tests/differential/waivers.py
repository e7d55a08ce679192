"""What may differ, each with a name and a reason. There are at most fifteen, and `docs/embedded.md` lists them.

A waiver sees one difference and the step after which it was seen, and says whether it explains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .compare import Difference
from .steps import Step

LIMIT = 15


@dataclass(frozen=True)
class Waiver:
    """A difference that stays. `explains` decides whether a difference is of this sort."""

    name: str
    why: str
    explains: Callable[[Step, Difference], bool]


def _of_columns(step: Step, found: Difference) -> bool:
    return "columnDefinitions" in found.place and found.place[-1] == "description"


_INTERNAL = re.compile(r"Invalid value: \{.*\}: (field is immutable)", re.DOTALL)


def _of_internal_values(step: Step, found: Difference) -> bool:
    texts = [_INTERNAL.sub(r"\1", text) for text in (found.real, found.ours) if isinstance(text, str)]
    return found.place[-1] == "message" and len(texts) == 2 and texts[0] == texts[1]


def _of_struct_differences(step: Step, found: Difference) -> bool:
    if found.place[-1] != "message" or not isinstance(found.real, str) or not isinstance(found.ours, str):
        return False
    first, lines, _ = found.real.partition("\n@@ ")
    return bool(lines) and found.ours.startswith(first)


def _of_what_is_not_enforced(step: Step, found: Difference) -> bool:
    if found.place[-1] != "warnings" or not isinstance(found.ours, list):
        return False
    left = [text for text in found.ours if " is kept but not enforced by the embedded server: " not in text]
    return left == (found.real if isinstance(found.real, list) else [])


def _of_definitions(step: Step, found: Difference) -> bool:
    if not step.about.startswith("customresourcedefinitions/") or (step.method == "GET" and found.place[0] != "events"):
        return False
    return "cells" in found.place or ("status" in found.place and ("conditions" in found.place or "acceptedNames" in found.place))


def _of_watch_caches(step: Step, found: Difference) -> bool:
    if step.what != "watch" or found.place != ("events",) or not isinstance(found.real, list) or len(found.real) != 1:
        return False
    return bool(found.real[0]["type"] == "ERROR" and found.real[0]["object"].get("code") == 410)


_PROTOBUF = re.compile(r", application/vnd\.kubernetes\.protobuf(;stream=watch)?")


def _of_media_types(step: Step, found: Difference) -> bool:
    return found.place[-1] == "message" and isinstance(found.real, str) and found.ours == _PROTOBUF.sub("", found.real)


WAIVERS: tuple[Waiver, ...] = (
    Waiver(
        "definitions at once",
        "a definition's names are accepted, and it is served, in the write that asks for it; the real server does that a moment later, "
        "and as the manager kube-apiserver",
        _of_definitions,
    ),
    Waiver(
        "watch caches",
        "a watch from an old version goes on; that of a busy real server may be 410, for its cache forgets sooner than its storage",
        _of_watch_caches,
    ),
    Waiver(
        "media types",
        "who asks for what there is not is told what there is: here JSON and YAML, but no protobuf, which is read and not written",
        _of_media_types,
    ),
    Waiver("column descriptions", "the descriptions of table columns are in our own words", _of_columns),
    Waiver(
        "internal values",
        "a message about an immutable struct shows it as the API spells it; the real server shows its internal Go struct",
        _of_internal_values,
    ),
    Waiver(
        "struct differences",
        "where a message says which fields may not change, the real server goes on with a difference of its Go structs",
        _of_struct_differences,
    ),
    Waiver(
        "what is not enforced",
        "who writes roles, quotas, limit ranges and such is warned that nothing of them happens in the embedded server",
        _of_what_is_not_enforced,
    ),
)


def explain(step: Step, found: Iterable[Difference]) -> tuple[list[Difference], list[str]]:
    """The differences that nothing explains, and the names of the waivers that explained the others."""
    left: list[Difference] = []
    used: list[str] = []
    for difference in found:
        name = next((waiver.name for waiver in WAIVERS if waiver.explains(step, difference)), None)
        if name is None:
            left.append(difference)
        else:
            used.append(name)
    return left, used
