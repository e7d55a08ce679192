"""O7: what the user declares to hold, holds. O10: nothing fails that does not fail without the fault."""

from __future__ import annotations

import re

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.told import remembered, run_in_words, runs
from setpoint.levelcheck.recording import Died, Failed, Recording

_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_FAULTS_OF_PROGRAMS = (
    "AssertionError",
    "AttributeError",
    "IndexError",
    "KeyError",
    "NameError",
    "NotImplementedError",
    "RecursionError",
    "StopAsyncIteration",
    "StopIteration",
    "TypeError",
    "UnboundLocalError",
    "ZeroDivisionError",
)
"""Exceptions that say that the program is wrong, whatever the world is like."""
_OF_THE_WORLD = (
    "ApiError",
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "DeadlineExceeded",
    "Expired",
    "Forbidden",
    "InternalError",
    "Lost",
    "NotFound",
    "NotLeading",
    "OutcomeUnknown",
    "OwnerRefused",
    "ServiceUnavailable",
    "Timeout",
    "TimeoutError",
    "TooManyRequests",
    "Unreachable",
)
"""What a server, or something outside, may answer at any time: to be tried again, and that is that."""
_STUBBORN = 3
"""A request that is refused as invalid so often, whatever has been seen meanwhile, is wrong."""


def violations(recording: Recording, *, reference: bool = False) -> list[Finding]:
    """O7. An invariant that does not even hold without faults may be written wrong: nothing can be concluded from it."""
    found = []
    for said in recording.violated:
        name, _, sentence = said.partition(": ")
        if reference:
            told = f"{name} does not hold without any fault either: {sentence}"
            found.append(Finding("O7", told, role=name, found=sentence, verdict="INCONCLUSIVE"))
        else:
            found.append(Finding("O7", f"{name} does not hold: {sentence}", role=name, found=sentence))
    return found


def errors(reference: Recording, recording: Recording) -> list[Finding]:
    """O10. An exception that says that the program is wrong is a finding, even if another run heals it; any other of the user's own is
    warned of; an answer of the server that backoff heals is none.
    """
    meant = remembered(reference, "errors", lambda: _kinds(reference))
    found: list[Finding] = []
    invalid: dict[str, int] = {}
    for began, ended in runs(recording):
        run, kind = run_in_words(began), _kind(ended.error)
        if not ended.error or (began.site.who, kind) in meant or kind in _OF_THE_WORLD or ended.result == "requeue":
            continue
        if kind == "Invalid":
            invalid[run] = invalid.get(run, 0) + 1
            if invalid[run] == _STUBBORN:
                sentence = f"what the run for {run} asks for is refused again and again: {ended.error}"
                found.append(Finding("O10", sentence, role=began.site.who, verb="Invalid", found=ended.error, at=ended.at))
            continue
        bug = kind in _FAULTS_OF_PROGRAMS
        sentence = f"the run for {run} fails, as it does not without the fault: {ended.error}"
        found.append(Finding("O10", sentence, role=began.site.who, verb=kind, found=ended.error, at=ended.at, warning=not bug))
    for moment in recording.moments:
        if isinstance(moment, Died) and moment.error and ("", _kind(moment.error)) not in meant and not _leadership(moment.error):
            sentence = f"the program ends, as it does not without the fault: {moment.error}"
            found.append(Finding("O10", sentence, role="process", verb=_kind(moment.error), found=moment.error, at=moment.at))
        elif isinstance(moment, Failed) and ("", _kind(moment.error)) not in meant:
            where = f" in {moment.where}" if moment.where else ""
            sentence = f"an exception that nothing handles{where}: {moment.error}"
            healed = _kind(moment.error) in (*_OF_THE_WORLD, "Invalid")
            found.append(
                Finding("O10", sentence, role=moment.where, verb=_kind(moment.error), found=moment.error, at=moment.at, warning=healed)
            )
    return found


def errors_without_faults(reference: Recording) -> list[Finding]:
    """What says that the program is wrong is a finding, with no fault at all."""
    nothing = Recording(plan=reference.plan, moments=[], objects={}, outside={}, end="rest")
    return [found for found in errors(nothing, reference) if not found.warning]


def _kinds(reference: Recording) -> dict[tuple[str, str], None]:
    found: dict[tuple[str, str], None] = {}
    for began, ended in runs(reference):
        if ended.error:
            found[began.site.who, _kind(ended.error)] = None
    for moment in reference.moments:
        if isinstance(moment, Died | Failed) and moment.error:
            found["", _kind(moment.error)] = None
    return found


def _kind(error: str) -> str:
    found = _TYPE.match(error)
    return found[0].rpartition(".")[2] if found else ""


def _leadership(error: str) -> bool:
    """To end when another one leads is what is expected of a process."""
    return "lead" in error.lower() or "lease" in error.lower()
