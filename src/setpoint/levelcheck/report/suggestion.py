"""What mends a finding: by its signature, the first of these rules that fits is what is suggested.

A rule looks at what went wrong (the plan), at what was found, and at what the run had read and written. A suggestion names the objects and
lines of this very run, and is advice: the trace is the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.recording import Changed, Key, RunEnded, Wrote
from setpoint.levelcheck.report.changes import decoded, is_time
from setpoint.levelcheck.report.evidence import Evidence
from setpoint.levelcheck.report.subject import Names

Rule = Callable[[Evidence], str]

_CRASHES = ("F1", "F12", "F13", "F15")
_STALE_START = ("F6", "F14")
_REPEATS = ("O3", "O4", "O5", "O11")


def suggestion(broken: Broken) -> str:
    """What to do about it, in a sentence or two; empty if no rule fits."""
    evidence = Evidence(broken)
    return next((said for rule in RULES if (said := rule(evidence))), "")


def _unwatched(e: Evidence) -> str:
    if e.finding.oracle != "O15":
        return ""
    return f"Watch {e.finding.resource or 'that kind'} (`owns=`, or `controller.watch`), or ask for another run with `requeue_after`."


def _finalizers(e: Evidence) -> str:
    if "finalizers" not in e.finding.field and not (e.finding.oracle == "O7" and "finalizer" in e.finding.sentence):
        return ""
    return (
        "A merge patch replaces the whole list of finalizers. Use `ctx.add_finalizer` and `ctx.remove_finalizer`, which touch none but "
        "yours, or send the resourceVersion along, so that a stale list is refused as a Conflict."
    )


def _only_times(e: Evidence) -> str:
    if e.finding.oracle not in _REPEATS:
        return ""
    fields = [change for write in e.writes_of_subject[-1:] for change in e.fields_of(write)]
    if not fields or not all(is_time(change.before) and is_time(change.after) for change in fields):
        return ""
    named = ", ".join(change.path for change in fields[:2])
    return f"Nothing but {named} differs. Change a time only when what it stamps changes (`ctx.set_condition` does), and skip equal writes."


def _unequal_defaults(e: Evidence) -> str:
    if e.finding.oracle not in ("O4", "O11") and not (e.finding.oracle == "O5" and not e.faults):
        return ""
    if not e.writes_of_subject:
        return ""
    return (
        "What is wanted is compared with what the server has filled in, and always differs. Compare only the fields that you set: "
        "`ctx.apply` sends those, and sends nothing when they are as they were."
    )


def _filtered_out(e: Evidence) -> str:
    """Its last write before it stopped changed nothing but metadata, of the object that it runs for."""
    if e.finding.oracle not in ("O1", "O2", "O14") or e.has("F1", "F6", "F8", "F14"):
        return ""
    effective = [write for write in e.recording.writes if write.effective]
    last = effective[-1] if effective else None
    if last is None or last.key.name != e.primary(last.site.who):
        return ""
    fields = e.fields_of(last)
    if not fields or e.created(last) or not all(change.path.startswith(".metadata.") for change in fields):
        return ""
    return (
        f"The last write ({last.line or last.verb}) changes only metadata, which a generation predicate filters out: "
        "do not wait for an update that you filter out, but go on in the same pass."
    )


def _old_counts(e: Evidence) -> str:
    """A write was decided while an object's status was of an older generation."""
    if not e.has("F5", "F7", "F8") or e.offender is None or (run := e.run_of(e.offender)) is None:
        return ""
    resources = {read.resource: None for read in run.reads_before(e.offender)}
    latest: dict[Key, dict[str, Any]] = {}
    for moment in e.recording.moments:
        if moment.at > e.offender.at:
            break
        if isinstance(moment, Changed) and moment.key.resource in resources:
            latest[moment.key] = decoded(moment.after)
    if not any(map(_is_behind, latest.values())):
        return ""
    return (
        "The counts in a status are those of the generation that it names. Require status.observedGeneration >= metadata.generation "
        "before you trust them."
    )


def _generated_names(e: Evidence) -> str:
    if not e.has("F1", "F2", "F3", "F5", "F6", "F11", "F15") or not e.generated_twice:
        return ""
    return (
        f"Of {e.generated_twice} one is made again under another name. Give it a name that follows from the owner (its UID and the role), "
        "and take AlreadyExists of an object of your own as success; then a second try finds the first."
    )


def _drawn_names(e: Evidence) -> str:
    if not e.drawn:
        return ""
    return (
        f"The name of {e.drawn} is drawn by chance, and each process or run draws another: what was made under the first is not found "
        "again. Let the name follow from the owner's (its name and the role), so that every run comes to the same."
    )


def _by_name(e: Evidence) -> str:
    deletes = e.finding.verb.startswith("delete") or (e.offender is not None and e.offender.verb.startswith("delete"))
    if not e.has(*_STALE_START) or not deletes:
        return ""
    return (
        "Something is deleted by its name or labels that belongs to a successor. Have the owner's UID in the selector, send the UID (and "
        "resourceVersion) as a precondition with the delete, and read live before you destroy."
    )


def _regress(e: Evidence) -> str:
    if not e.has("F6") or e.offender is None:
        return ""
    return (
        "An old value comes back. Write the owner's generation on the child and refuse to go back behind it, or allow the value to change "
        "in one direction only."
    )


def _hidden_mark(e: Evidence) -> str:
    decision = e.decision("F8", "F9", "F7")
    if decision is None or _is_primary(e, decision.site.what):
        return ""
    return (
        f"A passing mark on {_short(decision.site.what)} was never seen, since it was gone before the read. Have a finalizer of your own "
        "on that object, or decide by what is there and not wanted, which can be seen at any time."
    )


def _old_against_new(e: Evidence) -> str:
    decision = e.decision("F8")
    path = e.finding.oracle in ("O12", "O13") or e.finding.verdict == "PATH-DEPENDENT"
    if not path and (decision is None or not _is_primary(e, decision.site.what)):
        return ""
    if not e.has("F8", "F13") and _stays(e):
        return (
            "What is no longer wanted stays. State all that is wanted each time, as `ctx.apply` does, instead of merging it into what is "
            "there; and prune what has no place in it."
        )
    field = e.finding.field or "this field"
    return (
        f"The end depends on which values were seen on the way. Record the accepted value in status, or make {field} immutable by a "
        f'validation rule; if it is meant to be so, say it: Waiver(oracle="{e.finding.oracle}", resource="{e.finding.resource}", '
        f'field="{e.finding.field}", reason=...).'
    )


def _leftovers(e: Evidence) -> str:
    if e.finding.oracle != "O8" or not e.has("F13", "F18", "F14", "F15", "F9", "F10") or "finalizer" in e.finding.field:
        return ""
    return (
        "Nobody is left who knows of it. Add a finalizer before the first call outside, remove it after the clean-up, and list what is "
        "outside by the owner's tag now and then."
    )


def _outside_unrecorded(e: Evidence) -> str:
    decision = e.decision("F1", "F3", "F20", "F15")
    if decision is None or (decision.site.where != "effect" and not (e.finding.oracle == "O8" and e.recording.calls)):
        return ""
    return (
        "A call outside has happened, and its result was not written down. Let the name or an idempotency key follow from the owner's "
        "UID, so that the second try finds what the first has made, and take `exists already` as success."
    )


def _just_created(e: Evidence) -> str:
    if not e.has("F1") or e.crashed is None:
        return ""
    _, last = e.crashed
    if not e.created(last) or last.key in e.subject.keys:
        return ""
    return (
        f"What should follow is done only just after {_named(e, last)} was made{_at(last)}; the next pass finds that made, and the rest "
        "never follows. Check each child on its own, and do not infer one from another."
    )


def _own_status(e: Evidence) -> str:
    if not e.has("F1") or e.crashed is None:
        return ""
    run, last = e.crashed
    marks = last.subresource == "status" or any(change.path.startswith(".status.") for change in e.fields_of(last))
    if not marks or last.key.name != e.primary(run.name):
        return ""
    return (
        f"What to do is read from the own status, which is written{_at(last)} before the work is done. Derive the phase from the "
        "children, or write down what is intended before acting, and let every phase be entered again."
    )


def _guard_changed(e: Evidence) -> str:
    """Of what the pass that died had written, something is also what its guard reads."""
    if not e.has("F1") or e.crashed is None:
        return ""
    run, last = e.crashed
    for write in run.writes[: run.writes.index(last) + 1]:
        read = next((read for read in run.reads_before(write) if read.resource == write.key.resource), None)
        if write.effective and read is not None and write.key not in e.subject.keys:
            return (
                f"The guard reads {_named(e, write)}{_at(read)}, and the same pass has changed it{_at(write)} before the rest was done: "
                "the next pass finds nothing to do. Compare what is wanted with the *last* thing to change, or "
                "write the guard's object last."
            )
    return ""


def _memory(e: Evidence) -> str:
    """The process that came after has not done what the first did, and nothing that it reads is to blame."""
    if not e.has(*_CRASHES) and not any("memory" in sentence for sentence in e.broken.why):
        return ""
    lost = next((sentence for sentence in e.broken.why if "memory" in sentence), "")
    began = (
        f"Something that the process remembered is gone with it ({lost.rstrip('.')})"
        if lost
        else "What one process had begun is not taken up by the next"
    )
    return (
        f"{began}. Keep nothing between runs in modules, classes, instances or tasks, and depend on no mark or moment that is over: "
        "let every run work out from what is there what is still to be done."
    )


def _unknown_outcome(e: Evidence) -> str:
    if not e.has("F3", "F20"):
        return ""
    return (
        "A write whose reply is lost may have happened. Read again and go on from what is there; take AlreadyExists of your own object, "
        "and NotFound of what you delete, as success."
    )


def _forgotten_error(e: Evidence) -> str:
    if not e.has("F2", "F4"):
        return ""
    if any(isinstance(moment, RunEnded) and moment.error for moment in e.recording.moments):
        return (
            "The run that failed was made again, and then found nothing to do: something has noted the write as done before it was. "
            "Keep no such note between runs; compare what is wanted with what is read, each time."
        )
    return (
        "A write that is refused must lead to another run. Let the exception out of the reconciler, which is then run again from the "
        "beginning with what is true by then; do not catch it and go on."
    )


def _not_restored(e: Evidence) -> str:
    if not e.has("F19", "F9", "F10", "F16"):
        return ""
    return (
        "A change of something that the controller depends on leads to no run, or to one that does not look at it. Own or watch the kind, "
        "and compare all of what is wanted with all of what is there in every run."
    )


def _late_sight(e: Evidence) -> str:
    if not e.has("F5", "F7"):
        return ""
    return (
        "A read was older than a write that came before it. Decide by names that follow from the owner, give preconditions (UID, "
        "resourceVersion) with what destroys, and let a Conflict lead to another run."
    )


def _clocks(e: Evidence) -> str:
    if not e.has("F17"):
        return ""
    return "Two clocks are compared. Compare stamps of one clock only, and treat a stamp in the future as not yet due: ask for a later run."


def _order(e: Evidence) -> str:
    if not e.has("F22"):
        return ""
    return "The order of a list decides. The server promises none: sort by name or by age, then by name, before you choose."


def _errors(e: Evidence) -> str:
    ended = [moment for moment in e.recording.moments if isinstance(moment, RunEnded) and moment.error]
    if e.finding.oracle not in ("O2", "O10") or not ended:
        return ""
    return (
        f"Every run fails with {ended[-1].error}: what it stumbles over will not go away by itself. Treat it as a state to be mended, "
        "and go on with the rest."
    )


def _spread(e: Evidence) -> str:
    if e.finding.oracle not in ("O12", "O13"):
        return ""
    return "The end depends on the way. Work out all that is wanted from the spec alone, state it whole, and prune what has no place in it."


RULES: Sequence[Rule] = (
    _unwatched,
    _finalizers,
    _only_times,
    _generated_names,
    _drawn_names,
    _unequal_defaults,
    _old_counts,
    _by_name,
    _outside_unrecorded,
    _regress,
    _leftovers,
    _old_against_new,
    _hidden_mark,
    _own_status,
    _just_created,
    _guard_changed,
    _filtered_out,
    _memory,
    _unknown_outcome,
    _forgotten_error,
    _not_restored,
    _late_sight,
    _clocks,
    _order,
    _errors,
    _spread,
)
"""The most special first."""


def _is_primary(e: Evidence, what: str) -> bool:
    """Whether an object, as a site names it, is one that a reconciler is called for: a run has its name, and it has no owner."""
    resource, _, name = what.rpartition(" ")
    owned = any(
        change.key.resource == resource and decoded(change.after).get("metadata", {}).get("ownerReferences")
        for change in e.recording.changes
    )
    return not owned and any(run.name.endswith(f" {name}") or run.name.endswith(f"/{name}") for run in e.runs)


def _is_behind(state: dict[str, Any]) -> bool:
    """Whether an object's status is of an older generation."""
    seen = (state.get("status") or {}).get("observedGeneration")
    return isinstance(seen, int) and seen < (state.get("metadata") or {}).get("generation", 0)


def _stays(e: Evidence) -> bool:
    """Whether what was found is something that should not be there any more."""
    return e.finding.expected in ("", "absent", "nothing", "gone", "None", "null")


def _named(e: Evidence, write: Wrote) -> str:
    return Names(e.recording, e.broken.reference).key(write.key)


def _at(moment: object) -> str:
    line = getattr(moment, "line", "")
    return f" ({line})" if line else ""


def _short(what: str) -> str:
    resource, _, name = what.rpartition(" ")
    return f"{resource.partition('.')[0]}/{name.rpartition('/')[2]}"
