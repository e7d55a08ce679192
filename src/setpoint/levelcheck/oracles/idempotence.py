"""O4: at rest, every key is asked once more, and nothing is to be done. O3: and what holds then goes on to hold."""

from __future__ import annotations

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.fields import Moved, moved
from setpoint.levelcheck.oracles.masks import Masks
from setpoint.levelcheck.oracles.told import asked_again, in_words, role_of
from setpoint.levelcheck.recording import Called, Changed, Recording, RunBegan, Wrote

_SHOWN = 40


def idempotence(recording: Recording, masks: Masks) -> list[Finding]:
    """Effective writes and calls are findings: O4 in the run that was asked for, O3 in one that followed by itself. Writes that change
    nothing are warned of, once for each place in the code.

    A call counts only where the fake tells its state: of the others nobody knows whether they changed something.
    """
    window = asked_again(recording)
    changes = {moment.revision: moment for moment in window if isinstance(moment, Changed)}
    found: list[Finding] = []
    idle: dict[tuple[str, str], list[Wrote]] = {}
    begun: dict[str, int] = {}
    for moment in window:
        if isinstance(moment, RunBegan):
            begun[moment.run] = begun.get(moment.run, 0) + 1
        elif isinstance(moment, Wrote) and moment.effective and moment.revision:
            change = changes.get(moment.revision)
            told = _told(change, masks) if change is not None else None
            if told is not None or change is None or change.before is None or change.deleted:
                found.append(_finding(moment, told, asked=begun.get(moment.site.who, 0) <= 1))
        elif isinstance(moment, Wrote) and moment.code in (200, 201) and not moment.revision:
            idle.setdefault((moment.key.resource, moment.line), []).append(moment)
        elif isinstance(moment, Called) and moment.changed and recording.outside and not moment.error:
            sentence = f"asked again, with nothing to do, it calls {moment.call}({moment.arguments}), which changes the outside"
            found.append(Finding("O4", sentence, resource="outside", role=moment.call, verb="call", at=moment.at))
    for (resource, line), writes in idle.items():
        said = f"{len(writes)} such writes{f', {line}' if line else ''}"
        sentence = f"asked again, with nothing to do, it writes {in_words(writes[0].key)} as it is ({said})"
        found.append(Finding("O4", sentence, resource, "", "", writes[0].verb, line, "", str(len(writes)), writes[0].at, warning=True))
    return found


def _finding(write: Wrote, told: Moved | None, *, asked: bool) -> Finding:
    what = {"create": "creates", "delete": "deletes", "deletecollection": "deletes"}.get(write.verb, "writes")
    when = "asked again, with nothing to do, it" if asked else "it has come to rest, and then"
    sentence = f"{when} {what} {in_words(write.key)}{_where(write.line)}"
    if told is not None and what == "writes":
        sentence += f": {told.field} was {_text(told.before)}, and becomes {_text(told.after)}"
    return Finding(
        "O4" if asked else "O3",
        sentence,
        resource=write.key.resource,
        role=role_of(write.key),
        field=told.field if told is not None else "",
        verb=write.verb,
        line=write.line,
        expected=_text(told.before) if told is not None else "",
        found=_text(told.after) if told is not None else "",
        at=write.at,
        revision=write.revision,
    )


def _told(change: Changed, masks: Masks) -> Moved | None:
    """The first field that counts; None if all of them are masked."""
    if change.deleted:
        return None
    return next((each for each in moved(change.before, change.after) if not masks.cover(change.key.resource, each.field)), None)


def _text(value: object) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _where(line: str) -> str:
    return f" ({line})" if line else ""
