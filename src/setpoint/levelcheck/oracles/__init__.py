"""The oracles: what is wrong with a run, and with the run without faults.

Each looks at recordings alone. What they compare is the canonical state (`canonical`): equal for runs that came to the same, whatever the
hour, the UIDs and the names that were made up. Where an oracle could be wrong about a correct controller it keeps silent, or warns.
"""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.levelcheck.assumptions import Waiver
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.canonical import State, canonical, state_of
from setpoint.levelcheck.oracles.end_state import end_state, path, unstable
from setpoint.levelcheck.oracles.errors import errors, errors_without_faults, violations
from setpoint.levelcheck.oracles.honest import dishonest, honesty, unwatched
from setpoint.levelcheck.oracles.hot_loop import hot_loops
from setpoint.levelcheck.oracles.idempotence import idempotence
from setpoint.levelcheck.oracles.justified import Suspect, destruction, not_renewed, suspects
from setpoint.levelcheck.oracles.leaks import leaks, leaks_without_faults
from setpoint.levelcheck.oracles.masks import NO_MASKS, Mask, Masks, covers
from setpoint.levelcheck.oracles.resting import failing, restless
from setpoint.levelcheck.oracles.roles import duplicates, duplicates_without_faults
from setpoint.levelcheck.oracles.told import remembered
from setpoint.levelcheck.recording import Recording

__all__ = [
    "NO_MASKS",
    "Mask",
    "Masks",
    "State",
    "Suspect",
    "canonical",
    "judge",
    "judge_path",
    "judge_reference",
    "state_of",
    "suspects",
    "waived",
]


def judge(case: Case, reference: Recording, recording: Recording, masks: Masks = NO_MASKS) -> list[Finding]:
    """What is wrong with a run, compared with the reference of the same workload: the most telling first, warnings last."""
    if recording.end == "broken":
        return []
    usual = remembered(reference, ("by itself", masks), lambda: {found.signature for found in _by_itself(reference, masks)})
    return _told(
        [
            *violations(recording),
            *errors(reference, recording),
            *leaks(reference, recording),
            *duplicates(case, reference, recording),
            *destruction(case, reference, recording),
            *end_state(case, reference, recording, masks),
            *failing(reference, recording),
            *honesty(reference, recording),
            *not_renewed(reference, recording),
            *(found for found in _by_itself(recording, masks) if found.signature not in usual),
        ]
    )


def judge_reference(case: Case, reference: Recording, seeds: Sequence[Recording] = ()) -> tuple[list[Finding], Masks]:
    """What is wrong without any fault; and what is not to be compared. `seeds` are runs of the same in other orders."""
    found, masks = unstable(case, reference, seeds)
    return _told(
        [
            *found,
            *violations(reference, reference=True),
            *errors_without_faults(reference),
            *leaks_without_faults(reference),
            *duplicates_without_faults(case, reference),
            *_by_itself(reference, masks),
            *dishonest(reference),
            *unwatched(reference),
        ]
    ), masks


def _by_itself(recording: Recording, masks: Masks) -> list[Finding]:
    return [*idempotence(recording, masks), *hot_loops(recording), *restless(recording)]


def judge_path(
    case: Case, found: Recording, direct: Recording, masks: Masks = NO_MASKS, other: str = "if only the last manifests are applied"
) -> list[Finding]:
    """What depends on how the user got there: `direct` is a run with a shorter way, such as the last manifests alone on a fresh cluster.

    `other` says in words when it is as in that.
    """
    return _told(path(case, found, direct, masks, other))


def waived(finding: Finding, case: Case) -> Waiver | None:
    """The first waiver that fits, if any."""
    for waiver in case.waivers:
        fits = waiver.oracle == finding.oracle and waiver.resource in ("", finding.resource)
        if fits and waiver.name in ("", finding.role, finding.role.rpartition("/")[2]) and covers(waiver.field, finding.field):
            return waiver
    return None


def _told(findings: list[Finding]) -> list[Finding]:
    once: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        once.setdefault(finding.signature, finding)
    return sorted(once.values(), key=lambda finding: finding.warning)
