"""Single faults: from the recording of the run without faults, every decision that is worth a run of its own; and what was cut, and why.

A cut that loses nothing is not counted as one: a crash before a write is the crash after the write before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.plan import Decision, Site
from setpoint.levelcheck.recording import Called, Changed, Key, Read, Recording, RunBegan, Stepped, TimerSet, Wrote, essence
from setpoint.levelcheck.run.foreign import key_from
from setpoint.levelcheck.run.wire import BOOKKEEPING

DOWN = 1.0
"""Seconds between a crash and the next process."""
SKEWS = (-3600.0, 3600.0)
AGAIN_AT_MOST = 60
"""Runs that are repeated one by one; beyond that, every run twice has to do."""
TIMERS_AT_MOST = 30
JUMPS_AT_MOST = 5
"""Timers at which the clock jumps."""
OLD_AT_MOST = 60


@dataclass
class Singles:
    """Decisions, each a plan of its own, and what was cut: by class and reason, how many."""

    decisions: list[Decision] = field(default_factory=list)
    cuts: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def cut(self, fault: str, why: str, number: int = 1) -> None:
        """Counts what is not tried."""
        if number > 0:
            self.cuts.setdefault(fault, Counter())[why] += number


def singles(case: Case, reference: Recording) -> Singles:
    """All single faults that the reference has a place for."""
    made = Singles()
    made.decisions += _writes(reference, made)
    made.decisions += _outside(reference)
    made.decisions += _events(case, reference, made)
    made.decisions += _runs(reference, made)
    made.decisions += _timers(reference, made)
    made.decisions += _steps(reference)
    made.decisions += _rests(reference)
    made.decisions += _leaders(case, reference, made)
    made.decisions += _assumed(case, reference, made)
    made.decisions += [Decision("F17", Site("start"), "skewed", seconds) for seconds in SKEWS]
    made.decisions.append(Decision("F22", Site("start"), "reversed"))
    if not reference.calls:
        made.skipped["F20"] = "nothing outside the cluster is called"
    made.decisions = list(dict.fromkeys(made.decisions))
    return made


def _writes(reference: Recording, made: Singles) -> Iterator[Decision]:
    """Crashes, failures, lost replies and conflicts at writes."""
    before: Wrote | Called | None = None
    called: set[tuple[str, str, str]] = set()
    stubborn: set[tuple[str, str, str]] = set()
    """The places at which several failures in a row are tried; one that first changes nothing is not among them yet."""
    for moment in reference.moments:
        if not isinstance(moment, Wrote | Called):
            continue
        if isinstance(moment, Wrote):
            place = (moment.line, moment.verb, moment.key.resource)
            landed = moment.code < 400 and moment.revision > 0
            if landed:
                yield Decision("F1", moment.site, "after", DOWN)
                if before is None or isinstance(before, Called) or before.site.who != moment.site.who:
                    yield Decision("F1", moment.site, "before", DOWN)
                yield Decision("F3", moment.site)
                yield Decision("F2", moment.site, "500")
                if place in stubborn:
                    made.cut("F2", "failed several times in a row, at a place in the code where that has been tried")
                else:
                    stubborn.add(place)
                    yield Decision("F2", moment.site, "503", times=4)
                if moment.verb in ("update", "patch", "apply") and _existed(reference, moment):
                    yield Decision("F4", moment.site)
                if _adds_a_finalizer(reference, moment):
                    yield Decision("F18", moment.site, "finalizer", object=str(moment.key))
            elif place not in called:
                yield Decision("F3", moment.site)
                yield Decision("F2", moment.site, "500")
            else:
                made.cut("F2", "a write that changes nothing, at a place that has been tried")
                made.cut("F3", "a write that changes nothing, at a place that has been tried")
            called.add(place)
        before = moment


def _adds_a_finalizer(reference: Recording, wrote: Wrote) -> bool:
    """To an object that is there, and is to stay: to others nobody else may add one."""
    change = next((change for change in reference.changes if change.revision == wrote.revision), None)
    if change is None or change.before is None or change.deleted:
        return False
    before, after = (msgspec.json.decode(value).get("metadata", {}) for value in (change.before, change.after))
    return "deletionTimestamp" not in before and len(after.get("finalizers", ())) > len(before.get("finalizers", ()))


def _existed(reference: Recording, wrote: Wrote) -> bool:
    change = next((change for change in reference.changes if change.revision == wrote.revision), None)
    return change is not None and change.before is not None


def _outside(reference: Recording) -> Iterator[Decision]:
    """The same for calls to the outside."""
    for call in reference.calls:
        yield Decision("F1", call.site, "before", DOWN)
        yield Decision("F1", call.site, "after", DOWN)
        yield Decision("F20", call.site, "failed")
        yield Decision("F20", call.site, "lost")


def _events(case: Case, reference: Recording, made: Singles) -> Iterator[Decision]:
    """Watches that are late, or break: at changes of what the controllers watch."""
    watched = set(reference.watched)
    sites = _event_sites(reference)
    changes = [change for change in reference.changes if change.key.resource in watched]
    read = {moment.resource for moment in reference.moments if isinstance(moment, Read)} | set(reference.raw)
    later: Counter[Key] = Counter(change.key for change in changes)
    broken: set[tuple[str, str]] = set()
    for change in changes:
        site = sites[change.revision]
        later[change.key] -= 1
        resource = change.key.resource
        if resource in read:
            yield Decision("F5", site, "run")
            yield Decision("F5", site, "rest")
        else:
            made.cut("F5", "no run reads the resource", 2)
        if len(watched) > 1:
            yield Decision("F7", site, "other")
        if later[change.key] > 0:
            users = _next(changes, change).process == "user"
            yield Decision("F8", site, "overwritten" if users else "coalesced")
            gap = "gap" if users else "short-gap"
            if reference.raw or (resource, gap) not in broken:
                broken.add((resource, gap))
                yield Decision("F9", site, gap)
            else:
                made.cut("F9", "an unseen change of the same resource in a gap has been tried, and each of them without a gap (F8)")
        sort = "deleted" if change.deleted else "created" if change.before is None else "changed"
        if (resource, sort) not in broken or change.deleted:
            broken.add((resource, sort))
            yield Decision("F9", site, "expired")
            yield Decision("F9", site, "resumed")
            yield Decision("F9", site, "silent")
        else:
            made.cut("F9", "a change of the same sort of the same resource has been tried", 3)


def _next(changes: list[Changed], of: Changed) -> Changed:
    """The next change of the same object, which there is."""
    return next(change for change in changes if change.key == of.key and change.revision > of.revision)


def _event_sites(reference: Recording) -> dict[int, Site]:
    """The place of each change, by its revision, as the run counted them."""
    counts: Counter[Key] = Counter()
    found = {}
    for moment in reference.moments:
        if isinstance(moment, Changed):
            counts[moment.key] += 1
            found[moment.revision] = Site("event", "", str(moment.key), counts[moment.key])
    return found


def _runs(reference: Recording, made: Singles) -> Iterator[Decision]:
    runs = [moment for moment in reference.moments if isinstance(moment, RunBegan)]
    yield Decision("F11", Site("start"), "every")
    for moment in runs[:AGAIN_AT_MOST]:
        yield Decision("F11", moment.site, "again")
    made.cut("F11", "there are many runs; every run twice stands for the rest", len(runs) - AGAIN_AT_MOST)


def _timers(reference: Recording, made: Singles) -> Iterator[Decision]:
    timers = [moment for moment in reference.moments if isinstance(moment, TimerSet) and moment.cause == "timer"]
    for moment in timers[:TIMERS_AT_MOST]:
        yield Decision("F12", moment.site, "", DOWN)
    for moment in timers[:JUMPS_AT_MOST]:
        for seconds in SKEWS:
            yield Decision("F17", moment.site, "skewed", seconds)
    made.cut("F12", "there are many timers", len(timers) - TIMERS_AT_MOST)
    made.cut("F17", "there are many timers", len(SKEWS) * (len(timers) - JUMPS_AT_MOST))


def _steps(reference: Recording) -> Iterator[Decision]:
    """The process is down while the user does something; somebody else has a finalizer on what the user deletes."""
    counts: Counter[str] = Counter()
    for moment in reference.moments:
        if isinstance(moment, Stepped) and not moment.step.startswith("advance"):
            counts[moment.step] += 1
            site = Site("step", "user", moment.step, counts[moment.step])
            yield Decision("F13", site, "rest")
            yield Decision("F13", site, "soon")
            if moment.step.startswith("delete ") and moment.key is not None:
                yield Decision("F18", site, "finalizer", object=str(moment.key))


def _rests(reference: Recording) -> Iterator[Decision]:
    """At rest: the process dies; somebody deletes what the controllers have made."""
    made = {wrote.key for wrote in reference.writes if wrote.code < 400}
    seen: set[Key] = set()
    for snapshot in reference.rests:
        site = Site("rest", "", "", snapshot.nth)
        yield Decision("F1", site, "after", DOWN)
        for key, obj in snapshot.objects.items():
            if key in made and _is_owned(obj) and key.resource not in BOOKKEEPING and (key not in seen or snapshot is reference.rests[-1]):
                seen.add(key)
                yield Decision("F19", site, "delete", object=str(key))


def before_writes(reference: Recording, fault: str, how: str, object: str, *, last: bool = False) -> list[Decision]:
    """The user, or somebody else, does something to an object just before each write; with `last`, before those after the last step."""
    key = key_from(object.partition("|")[0])
    made = next((change.at for change in reference.changes if change.key == key and change.before is None), inf)
    since = max(made, reference.last_step if last else 0.0)
    return [Decision(fault, wrote.site, how, object=object) for wrote in reference.writes if wrote.revision and wrote.at >= since]


def _is_owned(obj: Mapping[str, Any]) -> bool:
    return any(owner.get("controller") for owner in obj.get("metadata", {}).get("ownerReferences", []))


def _leaders(case: Case, reference: Recording, made: Singles) -> Iterator[Decision]:
    if case.leaders < 2:
        made.skipped["F15"] = "there is one process at a time"
        return
    for wrote in reference.writes:
        if wrote.code < 400 and wrote.revision > 0:
            yield Decision("F15", wrote.site)


def _assumed(case: Case, reference: Recording, made: Singles) -> Iterator[Decision]:
    """What only happens under assumptions."""
    if case.assumptions.lists != "old":
        made.skipped["F6"] = "lists are consistent (assume lists=old to try)"
    else:
        old = list(old_lists(reference))
        yield from old[:OLD_AT_MOST]
        made.cut("F6", "there are many old versions; the newest are tried", len(old) - OLD_AT_MOST)
    if case.assumptions.sync != "partial":
        made.skipped["F16"] = "runs begin when the caches are complete (assume sync=partial to try)"
    else:
        for resource in reference.watched:
            yield Decision("F16", Site("start"), "empty", resource=resource)
            for snapshot in reference.rests:
                yield Decision("F16", Site("rest", "", "", snapshot.nth), "empty", DOWN, resource=resource)


def old_lists(reference: Recording) -> Iterator[Decision]:
    """After a restart, a list of one resource is as it was before one of its changes; the newest first."""
    sites = _event_sites(reference)
    watched = set(reference.watched)
    for snapshot in reversed(reference.rests):
        past = [
            moment
            for moment in reference.moments[: snapshot.moments]
            if isinstance(moment, Changed) and moment.key.resource in watched and moment.at >= reference.began
        ]
        for change in reversed(past):
            if change.before is None or change.deleted or _matters(change):
                site = sites[change.revision]
                yield Decision(
                    "F6",
                    Site("rest", "", "", snapshot.nth),
                    "after",
                    DOWN,
                    resource=change.key.resource,
                    object=f"{site.what}#{site.nth}",
                )


def _matters(change: Changed) -> bool:
    """Whether what a controller goes by has changed: anything but bookkeeping."""
    assert change.before is not None
    return essence(change.before) != essence(change.after)
