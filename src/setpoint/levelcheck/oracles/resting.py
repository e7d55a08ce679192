"""O2: it comes to rest. R8: that is judged after the last fault only, when everything has had its turn again."""

from __future__ import annotations

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.told import dead, in_words, remembered, role_of, run_in_words, runs
from setpoint.levelcheck.recording import Recording, RunEnded, Wrote


def restless(recording: Recording) -> list[Finding]:
    """A run that goes on for ever, with what it does all the time."""
    if recording.end != "restless":
        return []
    why, role, resource, line, verb = recording.why, "", "", "", ""
    written: dict[tuple[str, str], list[Wrote]] = {}
    failed: dict[str, list[RunEnded]] = {}
    for write in recording.writes:
        if write.at >= recording.last_fault and write.effective and write.revision:
            written.setdefault((str(write.key), write.line), []).append(write)
    for began, ended in runs(recording):
        if ended.at >= recording.last_fault and ended.result == "error":
            failed.setdefault(run_in_words(began), []).append(ended)
    most = max(written.values(), key=len, default=[])
    fails = max(failed, key=lambda run: len(failed[run]), default="")
    if len(most) > 2 and len(most) >= len(failed.get(fails, ())):
        write = most[-1]
        resource, role, line, verb = write.key.resource, role_of(write.key), write.line, write.verb
        sentence = f"it never comes to rest: {in_words(write.key)} is written again and again ({len(most)} times after the last fault)"
    elif fails:
        role = fails
        sentence = f"it never comes to rest: the run for {fails} fails again and again: {failed[fails][-1].error}"
    else:
        sentence = f"it never comes to rest: {why}" if why else "it never comes to rest"
    return [Finding("O2", sentence, resource=resource, role=role, verb=verb, line=line, found=why, at=recording.ended)]


def failing(reference: Recording, recording: Recording) -> list[Finding]:
    """Rest in which a key's last run has failed, which the reference has not: nothing is going to be tried again before long."""
    if recording.end != "rest":
        return []
    meant = remembered(reference, "failures", lambda: _last_failures(reference))
    return [
        Finding("O2", f"it rests, and the last run for {run} has failed: {ended.error}", role=run, found=ended.error, at=ended.at)
        for run, ended in _last_failures(recording).items()
        if run not in meant
    ]


def _last_failures(recording: Recording) -> dict[str, RunEnded]:
    gone = dead(recording)
    last = {run_in_words(began): ended for began, ended in runs(recording)}
    return {run: ended for run, ended in last.items() if ended.result == "error" and ended.process not in gone}
