"""O11: no loop of writes that leads nowhere."""

from __future__ import annotations

import msgspec

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.reduced import reduced
from setpoint.levelcheck.oracles.told import canonical_key, in_words, is_of_controller, remembered, role_of, run_in_words
from setpoint.levelcheck.recording import Changed, Key, Read, Recording, RunBegan, Wrote

MINUTE = 60.0
AGAIN = 10
"""An object that comes back to one and the same state so often within a minute, by writes of the controller, is in a loop."""
CHURN = 20
"""So many more creations *and* deletions of one role within a minute than there are objects of it are a loop as well."""
FOLLOWS = 1.0
"""So many seconds apart at most, two writes that were decided on what was old are part of one stretch."""
RUNS = 300
"""So many runs of one key within a minute, none of which writes, are warned of."""


def hot_loops(recording: Recording) -> list[Finding]:
    """Loops of writes are findings, of runs that write nothing warnings. A change of a time alone leads back to the same state."""
    return [*_cycles(recording), *_churn(recording), *_polling(recording)]


def _cycles(recording: Recording) -> list[Finding]:
    seen: dict[tuple[Key, str], list[Changed]] = {}
    lines = {write.revision: write.line for write in recording.writes if write.revision}
    behind = remembered(recording, "behind", lambda: _behind(recording))
    told: dict[Key, Finding] = {}
    for change in recording.changes:
        if change.deleted or not is_of_controller(change.process) or change.key in told or change.revision in behind:
            continue
        kept = reduced(change.key.resource, change.after)
        if kept is None:
            continue
        times = seen.setdefault((change.key, kept.text), [])
        times.append(change)
        if len(times) >= AGAIN and change.at - times[-AGAIN].at <= MINUTE:
            line = lines.get(change.revision, "")
            told[change.key] = Finding(
                "O11",
                f"{in_words(change.key)} is written again and again, and comes back to the same state {AGAIN} times within a minute"
                f"{f' ({line})' if line else ''}",
                resource=change.key.resource,
                role=role_of(change.key),
                line=line,
                at=change.at,
                revision=change.revision,
            )
    return list(told.values())


def _behind(recording: Recording) -> dict[int, None]:
    """The revisions made by runs that read what was old, and by what follows from them: a loop that ends as soon as the news comes is none.

    Between two such writes that are less than a second apart all are counted: children of what was made in error, say.
    """
    old: dict[tuple[str, str], bool] = {}
    found: dict[int, None] = {}
    last: Wrote | None = None
    for moment in recording.moments:
        match moment:
            case RunBegan():
                old[moment.process, moment.run] = False
            case Read() if moment.seen < moment.true:
                old[moment.process, moment.run] = True
            case Wrote() if moment.revision and old.get((moment.process, moment.site.who)):
                first = last.revision + 1 if last is not None and moment.at - last.at < FOLLOWS else moment.revision
                found.update(dict.fromkeys(range(first, moment.revision + 1)))
                last = moment
            case _:
                pass
    return found


def _churn(recording: Recording) -> list[Finding]:
    behind = remembered(recording, "behind", lambda: _behind(recording))
    made: dict[Key, list[Changed]] = {}
    gone: dict[Key, list[Changed]] = {}
    for change in recording.changes:
        if is_of_controller(change.process) and change.revision not in behind and (change.deleted or change.before is None):
            (gone if change.deleted else made).setdefault(canonical_key(change.key, _decoded(change.after)), []).append(change)
    found = []
    for key in made:
        often = min(_most(made[key]), _most(gone.get(key, [])))
        if often >= CHURN:
            sentence = f"{in_words(key)} is created and deleted again and again: {often} times within a minute"
            found.append(Finding("O11", sentence, resource=key.resource, role=role_of(key), at=made[key][-1].at))
    return found


def _polling(recording: Recording) -> list[Finding]:
    wrote = {f"{write.process} {write.site.who}" for write in recording.writes if write.effective}
    runs: dict[str, list[RunBegan]] = {}
    for moment in recording.moments:
        if isinstance(moment, RunBegan):
            runs.setdefault(f"{moment.process} {run_in_words(moment)}", []).append(moment)
    return [
        Finding(
            "O11", f"{run_in_words(each[0])} runs {most} times within a minute and writes nothing", role=run_in_words(each[0]), warning=True
        )
        for run, each in runs.items()
        if run not in wrote and (most := _most(each)) >= RUNS
    ]


def _most(moments: list[Changed] | list[RunBegan]) -> int:
    """How many there are within a minute, at most."""
    most, first = 0, 0
    for last, moment in enumerate(moments):
        while moment.at - moments[first].at > MINUTE:
            first += 1
        most = max(most, last - first + 1)
    return most


def _decoded(raw: bytes) -> dict[str, object]:
    found: dict[str, object] = msgspec.json.decode(raw)
    return found
