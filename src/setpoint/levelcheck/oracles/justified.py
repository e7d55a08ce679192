"""O6: nothing is destroyed that would not have been, had the truth been seen. O5: how often what comes and goes, against the reference.

Numbers alone are no finding: after a crash, a half-made object may well be taken away and made again. What is destroyed more often than in
the reference is suspect, and a finding if it was decided on a read that was out of date, or on none, while the object lived and was wanted.
A write that the server refused by its precondition has destroyed nothing. To act on what the user wanted a moment ago is no fault either:
no cache can know better, so long as it does not go back in time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.fields import Moved, moved
from setpoint.levelcheck.oracles.told import canonical_key, in_words, is_of_controller, remembered, role_of
from setpoint.levelcheck.plan import Site
from setpoint.levelcheck.recording import AnyMoment, Changed, Delivered, Key, Read, Recording, RunBegan, Stepped, Wrote

_VIEWS = ("F5", "F6", "F7", "F8", "F9", "F10", "F15", "F16")
"""Faults that change what is seen, and not what is so: none of them gives a reason to destroy."""
_BACKWARDS = ("F6", "F15", "F16")
"""Those that may show, or do, what has been over for long."""
_FAILURES = ("F1", "F2", "F3", "F4", "F11", "F12", "F20")
"""Faults of processes and of writes: what the user wants, and when, is as without them."""


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A write that destroys, and that the reference does not have. `stale` are the reads of its run that gave what was out of date.

    `lost` says in words what was destroyed. `wanted` is whether the object lived, and the reference's end has it.
    """

    site: Site
    at: float
    process: str
    key: Key
    role: str
    verb: str
    line: str
    revision: int
    lost: str
    field: str
    stale: tuple[Read, ...]
    outrun: bool
    """Whether what those reads missed was somebody else's doing, the user's say: it was right until a moment ago."""
    unread: bool
    """Whether its run has read nothing at all, as where a raw watch decides."""
    zombie: bool
    """Whether it was under way while another process took over."""
    wanted: bool


def suspects(reference: Recording, recording: Recording, *, own_writes_late: bool = False) -> list[Suspect]:
    """Deletions, shrinks and returns to an earlier value by the controllers, as many more as the reference has of them.

    Of those that are too many any may be the one: first those that were decided on what was out of date, or on nothing; then the last ones.
    With `own_writes_late` a read may miss what the same process has written.
    """
    meant = remembered(reference, "destructive", lambda: _grouped(_destructive(reference)))
    end: dict[Key, list[dict[str, Any]]] = {}
    for key, obj in reference.objects.items():
        end.setdefault(canonical_key(key, obj), []).append(obj)
    reads = _Reads(recording, own_writes_late=own_writes_late)
    found = []
    for mark, group in _grouped(_destructive(recording)).items():
        excess = len(group) - len(meant.get(mark, ()))
        if excess > 0:
            each = [_suspect(destroyed, *reads.before(destroyed.write), end) for destroyed in group]
            each.sort(key=lambda suspect: (not suspect.stale, not suspect.unread, -suspect.at))
            found += each[:excess]
    return sorted(found, key=lambda suspect: (suspect.at, suspect.revision))


def destruction(case: Case, reference: Recording, recording: Recording) -> list[Finding]:
    """O6, and O5 where nothing was read: then the count is all there is to go by. Only for faults that change the view alone."""
    faults = [decision.fault for decision in recording.plan.decisions]
    late = case.assumptions.own_writes == "late"
    if not late and not any(fault in _VIEWS for fault in faults):
        return []
    found = []
    for suspect in suspects(reference, recording, own_writes_late=late):
        back = any(fault in _BACKWARDS for fault in faults)
        if not suspect.wanted or (suspect.field and not back) or (suspect.unread and not all(fault in _VIEWS for fault in faults)):
            continue
        if suspect.stale and (back or not suspect.outrun):
            read = suspect.stale[0]
            basis = f"decided on {_resource(read.resource)} as of revision {read.seen}, when {read.true} was the newest"
        elif suspect.zombie:
            basis = "decided before another process took over"
        elif suspect.unread:
            basis = "and nothing was read to decide it"
        else:
            continue
        where = f" ({suspect.line})" if suspect.line else ""
        found.append(
            Finding(
                "O5" if suspect.unread and not suspect.zombie else "O6",
                f"{in_words(suspect.key)} {suspect.lost}{where}, as it is not without the fault: {basis}",
                resource=suspect.key.resource,
                role=suspect.role,
                field=suspect.field,
                verb=suspect.verb,
                line=suspect.line,
                at=suspect.at,
                revision=suspect.revision,
            )
        )
    return found


def not_renewed(reference: Recording, recording: Recording) -> list[Finding]:
    """O5: what the controller replaces without the fault, and with it does not, though both end with equal objects, or come to equal ones
    at the rest at which the run was ended. Only where the user does the same things at the same times, and for objects that both have had
    since before the same step.
    """
    decisions = recording.plan.decisions
    if recording.end != "rest" or reference.end != "rest" or not decisions:
        return []
    if any(decision.fault not in _FAILURES for decision in decisions):
        return []
    old, new = _ages(recording), remembered(reference, "ages", lambda: _ages(reference))
    by_hand = {change.key for change in reference.changes if change.deleted and is_of_controller(change.process)}
    found = []
    for key, (steps, number) in new.items():
        age = old.get(key)
        if key not in by_hand or age is None or key not in recording.objects or key not in reference.objects:
            continue
        if age[0] < steps and age[1] < number:
            found.append(
                Finding(
                    "O5",
                    f"{in_words(key)} is still the one from before the user's step {steps}, and is replaced without the fault",
                    resource=key.resource,
                    role=role_of(key),
                    expected=str(number),
                    found=str(age[1]),
                    at=recording.ended,
                )
            )
    return found


class _Destroyed(msgspec.Struct, frozen=True):
    """What a write has destroyed: an object, or a field's value. `live` is how many of the role lived until then."""

    write: Wrote
    change: Changed
    key: Key
    field: str
    lost: str
    live: int


def _grouped(destroyed: Iterable[_Destroyed]) -> dict[tuple[Key, str], list[_Destroyed]]:
    found: dict[tuple[Key, str], list[_Destroyed]] = {}
    for each in destroyed:
        found.setdefault((each.key, each.field), []).append(each)
    return found


def _destructive(recording: Recording) -> Iterator[_Destroyed]:
    """In order: deletions of live objects, and changes of a field of a spec back to what it was before, or to less."""
    writes = {write.revision: write for write in recording.writes if write.revision}
    values: dict[tuple[Key, str], list[Any]] = {}
    live: dict[Key, dict[Key, None]] = {}
    for change in recording.changes:
        write = writes.get(change.revision)
        obj = msgspec.json.decode(change.after)
        known = canonical_key(change.key, obj)
        alive = live.setdefault(known, {})
        terminating = bool((obj.get("metadata") or {}).get("deletionTimestamp"))
        if change.deleted or terminating:
            if write is not None and change.key in alive:
                yield _Destroyed(write, change, known, "", "is deleted", len(alive))
            alive.pop(change.key, None)
            continue
        alive[change.key] = None
        for each in moved(change.before, change.after) if change.before is not None else ():
            if not each.field.startswith((".spec", ".data")) or isinstance(each.after, (dict, list)) or each.after is None:
                continue
            past = values.setdefault((change.key, each.field), [])
            past.append(each.before)
            if write is not None and (each.after in past or _is_less(each)):
                yield _Destroyed(
                    write, change, known, each.field, f"goes back: {each.field} from {each.before} to {each.after}", len(alive)
                )


def _is_less(each: Moved) -> bool:
    return type(each.before) is int and type(each.after) is int and each.after < each.before


def _suspect(destroyed: _Destroyed, stale: tuple[Read, ...], outrun: bool, unread: bool, end: dict[Key, list[dict[str, Any]]]) -> Suspect:
    write, wanted = destroyed.write, end.get(destroyed.key, [])
    if destroyed.field:
        is_wanted = any(_has_value(obj, destroyed) for obj in wanted)
    else:
        is_wanted = 0 < destroyed.live <= len(wanted)
    return Suspect(
        site=write.site,
        at=write.at,
        process=write.process,
        key=destroyed.change.key,
        role=role_of(destroyed.key),
        verb=write.verb,
        line=write.line,
        revision=write.revision,
        lost=destroyed.lost,
        field=destroyed.field,
        stale=stale,
        outrun=outrun,
        unread=unread,
        zombie=write.fault == "F15",
        wanted=is_wanted,
    )


def _has_value(wanted: dict[str, Any], destroyed: _Destroyed) -> bool:
    """Whether the reference ends with the value that was there before."""
    return not any(each.field == destroyed.field for each in moved(destroyed.change.before, msgspec.json.encode(wanted)))


class _Reads:
    """What each run had read before it wrote."""

    def __init__(self, recording: Recording, *, own_writes_late: bool) -> None:
        self._late = own_writes_late
        self._moments = recording.moments
        self._places = {id(moment): place for place, moment in enumerate(recording.moments)}
        self._changes: dict[str, list[Changed]] = {}
        self._delivered: dict[tuple[str, str], list[Delivered]] = {}
        # What is listed as of long ago is taken in as if it were new: there, what a cache has been given says how old it is.
        old = {decision.resource for decision in recording.plan.decisions if decision.fault in ("F6", "F16")}
        for moment in recording.moments:
            if isinstance(moment, Changed):
                self._changes.setdefault(moment.key.resource, []).append(moment)
            elif isinstance(moment, Delivered) and moment.key.resource in old:
                self._delivered.setdefault((moment.process, moment.key.resource), []).append(moment)

    def before(self, write: Wrote) -> tuple[tuple[Read, ...], bool, bool]:
        """The reads that gave something else than the truth, except where a live read of the same has put it right; whether what they
        missed was done by somebody else than controllers and the cluster; whether nothing was read.
        """
        latest: dict[tuple[str, str, str], Read] = {}
        for moment in self._of_run(write):
            latest[moment.resource, moment.namespace, moment.name] = moment
        live = {read.resource for read in latest.values() if read.live}
        missed = {read: self._missed(read) for read in map(self._as_given, latest.values()) if read.resource not in live}
        stale = tuple(read for read, changes in missed.items() if changes)
        outrun = any(
            not is_of_controller(change.process) and change.process != "environment" for changes in missed.values() for change in changes
        )
        return stale, outrun, not latest

    def _of_run(self, write: Wrote) -> list[Read]:
        found: list[Read] = []
        for place in range(self._places[id(write)] - 1, -1, -1):
            moment: AnyMoment = self._moments[place]
            if moment.process != write.process:
                continue
            if isinstance(moment, Read) and moment.run == write.site.who:
                found.append(moment)
            elif isinstance(moment, RunBegan) and moment.run == write.site.who:
                break
        return found[::-1]

    def _as_given(self, read: Read) -> Read:
        delivered = self._delivered.get((read.process, read.resource))
        if delivered is None or read.live:
            return read
        given = max((each.revision for each in delivered if each.at <= read.at), default=0)
        return msgspec.structs.replace(read, seen=min(read.seen, given))

    def _missed(self, read: Read) -> list[Changed]:
        if read.seen >= read.true:
            return []
        return [
            change
            for change in self._changes.get(read.resource, ())
            if read.seen < change.revision <= read.true
            and read.namespace in ("", change.key.namespace)
            and read.name in ("", change.key.name)
            and (self._late or change.process != read.process)
            and (change.deleted or change.before is None or moved(change.before, change.after))
        ]


def _ages(recording: Recording) -> dict[Key, tuple[int, int]]:
    """After how many of the user's steps an object was made for the last time, and the how manyth of its name it is."""
    steps = 0
    found: dict[Key, tuple[int, int]] = {}
    for moment in recording.moments:
        if isinstance(moment, Stepped):
            steps += 1
        elif isinstance(moment, Changed) and moment.before is None and moment.at >= recording.began:
            found[moment.key] = (steps, found.get(moment.key, (0, 0))[1] + 1)
    return found


def _resource(resource: str) -> str:
    return resource.partition(".")[0]
