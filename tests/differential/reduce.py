"""Makes a sequence that shows a difference smaller: takes out steps as long as the difference is still there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .session import Different, Session, Side
from .steps import Step


def signature(different: Different) -> str:
    """What sort of difference it is: the verb, and where answers differ."""
    return f"{different.step.what}: {', '.join(sorted({each.where for each in different.found}))}"


def shows(sides: Callable[[], list[Side]], steps: Sequence[Step]) -> tuple[str, list[Step]]:
    """The signature of the first difference that a sequence shows, or nothing, and the steps taken up to it."""
    session = Session(sides())
    try:
        session.perform(steps)
    except Different as different:
        return signature(different), session.steps
    return "", session.steps


def reduced(sides: Callable[[], list[Side]], steps: Sequence[Step]) -> list[Step]:
    """The smallest sequence of these steps that shows the same difference, one step after another being tried without."""
    wanted, taken = shows(sides, steps)
    kept = list(taken if wanted else steps)
    if not wanted:
        return []
    at = len(kept) - 2
    while at > 0:
        step = kept[at]
        fewer = [each for each in kept[:at] + kept[at + 1 :] if not (step.mark and each.mark == step.mark)]
        name, taken = shows(sides, fewer)
        if name == wanted:
            kept = taken
        at = min(at, len(kept) - 1) - 1
    return kept
