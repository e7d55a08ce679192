"""Whether what was said is what was expected, and the same on two servers."""

import difflib
from collections.abc import Iterator, Sequence

from .runner import Said
from .step import During, Step
from .steps import SCRIPT


def each(steps: Sequence[Step]) -> Iterator[Step]:
    """All steps in the order in which they are told: those made during another after it."""
    for step in steps:
        yield step
        if isinstance(step, During):
            yield from each(step.then)


STEPS = {step.name: step for step in each(SCRIPT)}


def unexpected(said: Sequence[Said]) -> list[str]:
    """The steps that ended with another exit code than the script says."""
    return [
        f"{step.name}: exit code {step.code} instead of {STEPS[step.name].code}\n{step.out}{step.err}"
        for step in said
        if step.code is not None and step.code != STEPS[step.name].code
    ]


def differences(real: Sequence[Said], ours: Sequence[Said]) -> list[str]:
    """Where two servers made kubectl say different things, step by step, as unified diffs."""
    assert [step.name for step in real] == [step.name for step in ours], "the script has changed since it was recorded; record it again"
    return [difference for a, b in zip(real, ours, strict=True) if (difference := _difference(a, b))]


def _difference(real: Said, ours: Said) -> str:
    step = STEPS[real.name]
    expected = _served(real.out, ours.out, step.served) if step.served else real.out
    lines = [
        *difflib.unified_diff(expected.split("\n"), ours.out.split("\n"), "real stdout", "our stdout", n=1, lineterm=""),
        *difflib.unified_diff(real.err.split("\n"), ours.err.split("\n"), "real stderr", "our stderr", n=1, lineterm=""),
    ]
    if real.code != ours.code:
        lines.append(f"exit code: real {real.code}, ours {ours.code}")
    return "\n".join([f"== {real.name}: kubectl {step.call}", *lines]) if lines else ""


def _served(real: str, ours: str, expected: Sequence[str]) -> str:
    """The real server's rows for what is expected, and for what else ours has."""
    has = [_kind(row) for row in ours.split("\n")]
    return "\n".join(row for row in real.split("\n") if _kind(row) in has or _kind(row)[0] in expected)


def _kind(row: str) -> tuple[str, ...]:
    """What a row is about: a version, a resource by its full name, or a resource and its version (`APIVERSION` in the heading)."""
    first, *rest = row.split() or [""]
    return (first, *(word for word in rest if word == "APIVERSION" or word.endswith("v1")))
