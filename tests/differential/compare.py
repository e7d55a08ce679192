"""Where two normalised answers differ, as a list of places."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from .steps import Json

ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """At `place` of an answer, the real server has `real` and the embedded one `ours`. `step` says after which request."""

    step: str
    place: tuple[str | int, ...]
    real: Json
    ours: Json
    bookmark: bool = False
    """Whether it is in a bookmark."""

    @property
    def where(self) -> str:
        """The place in one word, without the numbers of items."""
        return ".".join("*" if isinstance(part, int) else part for part in self.place)

    def __str__(self) -> str:
        real, ours = (value if isinstance(value, str) else json.dumps(value, sort_keys=True) for value in (self.real, self.ours))
        at = next((at for at, (one, other) in enumerate(zip(real, ours, strict=False)) if one != other), min(len(real), len(ours)))
        start = max(0, at - 120)
        shown = [f"{'...' if start else ''}{text[start : start + 480]}" for text in (real, ours)]
        return f"{'.'.join(map(str, self.place))}\n      real: {shown[0]}\n      ours: {shown[1]}"


def differences(step: str, real: Json, ours: Json, place: tuple[str | int, ...] = (), *, bookmark: bool = False) -> Iterator[Difference]:
    """All places where the two differ."""
    bookmark = bookmark or (isinstance(real, dict) and real.get("type") == "BOOKMARK")
    if isinstance(real, dict) and isinstance(ours, dict):
        for name in dict.fromkeys([*real, *ours]):
            yield from differences(step, real.get(name, ABSENT), ours.get(name, ABSENT), (*place, name), bookmark=bookmark)
    elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        for at, (one, other) in enumerate(zip(real, ours, strict=True)):
            yield from differences(step, one, other, (*place, at), bookmark=bookmark)
    elif real != ours or type(real) is not type(ours):
        yield Difference(step, place, real, ours, bookmark)
