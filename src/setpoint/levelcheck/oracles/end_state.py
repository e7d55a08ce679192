"""O1: where it has ended is where it ends without the fault. O12: and where it ends when only the last manifests are applied. O16: and
where it ends whatever the order of things.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.finding import Finding, Verdict
from setpoint.levelcheck.oracles.canonical import State, canonical, gone_by, state_of
from setpoint.levelcheck.oracles.difference import Difference, differences
from setpoint.levelcheck.oracles.masks import Mask, Masks
from setpoint.levelcheck.oracles.said import said_by
from setpoint.levelcheck.oracles.told import remembered
from setpoint.levelcheck.recording import Faulted, Recording, Snapshot, Stepped

_RANDOM = re.compile(r"(?=.*\d)[A-Za-z0-9_+/=-]{6,}|\d+\.\d+")
"""What chance may have made: no plain word, no small number."""


def end_state(case: Case, reference: Recording, recording: Recording, masks: Masks) -> list[Finding]:
    """O1, a finding for each object and field, at the first rest after a fault at which something is otherwise, else at the end: what a
    later step of the user heals was wrong until then, unless the controller would have come back to it by itself. Of a run that did not
    come to rest nothing is said: it has no end.
    """
    if recording.end != "rest" or reference.end != "rest":
        return []
    usual = dict(_rests(reference))
    faulted = next((moment.at for moment in recording.moments if isinstance(moment, Faulted)), 0.0)
    for steps, rest in _rests(recording):
        if rest.at >= faulted and (expected := usual.get(steps)) is not None and not _waits(rest, expected):
            told = differences(_state(case, reference, masks, expected), _state(case, recording, masks, rest))
            if told:
                return [_finding(difference, "O1", "without the fault", recording.until(rest.nth)) for difference in told]
    # A run that was found to go on as the reference has no end of its own.
    return [] if recording.joined else _compared(case, reference, recording, masks, "O1", "without the fault")


def _rests(recording: Recording) -> list[tuple[int, Snapshot]]:
    """The rests, by how many of the user's steps were done until then: a rest that was passed over in one run has no counterpart."""
    return [(sum(isinstance(moment, Stepped) for moment in recording.moments[: rest.moments]), rest) for rest in recording.rests]


def _waits(rest: Snapshot, expected: Snapshot) -> bool:
    """Whether a timer is set that is not so in the reference: then it is not said yet that it stays as it is."""
    return any(timer.endswith(": timer") and timer not in expected.timers for timer in rest.timers)


def path(case: Case, found: Recording, direct: Recording, masks: Masks, other: str) -> list[Finding]:
    """O12: `direct` is a run that has come to the same manifests by a shorter way, as `other` says."""
    if direct.end != "rest" or found.end != "rest":
        return []
    return _compared(case, direct, found, masks, "O12", other, "PATH-DEPENDENT")


def unstable(case: Case, reference: Recording, seeds: Sequence[Recording]) -> tuple[list[Finding], Masks]:
    """O16, and what is masked: what the user has declared to be periodic, and what chance alone decides, by all appearance."""
    fields = [Mask(each.resource, each.field, each.reason) for each in case.periodic]
    findings: dict[tuple[str, ...], Finding] = {}
    for seed in seeds:
        if seed.end != "rest":
            found = Finding(
                "O16", f"in another order of events (seed {seed.plan.seed}) it does not come to rest: {seed.why}", at=seed.ended
            )
            findings.setdefault(found.signature, found)
    rested = [seed for seed in seeds if seed.end == "rest"] if reference.end == "rest" else []
    while True:
        masks = Masks(tuple(dict.fromkeys(fields)))
        first = _state(case, reference, masks)
        seen = [(seed, difference) for seed in rested for difference in differences(first, _state(case, seed, masks))]
        # A made-up value may be what tells two objects apart: with it masked, what was different may be equal.
        chance = [Mask(_resource(each), each.field, "it is another in each order of events") for _, each in seen if _is_chance(each)]
        new = [mask for mask in dict.fromkeys(chance) if mask not in fields]
        if not new:
            break
        fields += new
    for seed, difference in seen:
        found = _finding(difference, "O16", f"in the usual order of events (seed {seed.plan.seed})", seed)
        findings.setdefault(found.signature, found)
    return list(findings.values()), masks


def _compared(
    case: Case, expected: Recording, found: Recording, masks: Masks, oracle: str, other: str, verdict: Verdict = "REFUTED"
) -> list[Finding]:
    told = differences(_state(case, expected, masks), _state(case, found, masks))
    return [_finding(difference, oracle, other, found, verdict) for difference in told]


def _state(case: Case, recording: Recording, masks: Masks, rest: Snapshot | None = None) -> State:
    """The state in which a run has ended, or was at a rest."""
    keep = said_by(case.workload)

    def make() -> State:
        if rest is None:
            return state_of(recording, keep=keep, masks=masks)
        return canonical(rest.objects, rest.outside, keep=keep, masks=masks, gone=gone_by(recording, rest.at))

    return remembered(recording, ("state", keep, masks, -1 if rest is None else rest.nth), make)


def _finding(difference: Difference, oracle: str, other: str, recording: Recording, verdict: Verdict = "REFUTED") -> Finding:
    # What an outside holds more than it should is a leak, wherever it is compared.
    leaks = oracle == "O1" and difference.resource == "outside" and difference.is_extra
    return Finding(
        oracle="O8" if leaks else oracle,
        sentence=difference.sentence(other),
        resource=difference.resource,
        role=difference.role,
        field=difference.field,
        expected=difference.expected,
        found=difference.found,
        at=recording.ended,
        revision=recording.changes[-1].revision if recording.changes else 0,
        verdict=verdict,
    )


def _resource(difference: Difference) -> str:
    return difference.role if difference.resource == "outside" else difference.resource


def _is_chance(difference: Difference) -> bool:
    one, other = difference.expected, difference.found
    return bool(difference.field and _RANDOM.fullmatch(one) and _RANDOM.fullmatch(other))
