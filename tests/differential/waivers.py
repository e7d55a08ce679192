"""What may differ, each with a name and a reason. There are at most fifteen, and `README.md` lists them.

A waiver sees one difference and the step after which it was seen, and says whether it explains it.
"""

from __future__ import annotations

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


WAIVERS: tuple[Waiver, ...] = ()


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
