"""What the status of a Job must obey: it only goes forward, and says why it ended before it says that it did.

https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError, duplicate, invalid, required
from setpoint.cluster.server.schema.gotext import as_json

from .counts import all_not_negative
from .equality import same
from .go_print import refused
from .index_lists import count_indexes, first_common_index
from .job_specs import is_indexed

Json = Mapping[str, Any]

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


class _Change:
    """A status and the one before, and what of it is new."""

    def __init__(self, new: Json, old: Json) -> None:
        self.new: Json = new.get("status") or {}
        self.old: Json = old.get("status") or {}
        self.spec: Json = new.get("spec") or {}

    def is_new(self, *fields: str) -> bool:
        """Whether one of these fields is not as it was."""
        return any(not same(self.new.get(field), self.old.get(field)) for field in fields)

    def turned(self, *conditions: str) -> bool:
        """Whether one of these conditions is true that was not, or the other way round."""
        return any(is_true(self.new, kind) != is_true(self.old, kind) for kind in conditions)


def is_true(status: Json, kind: str) -> bool:
    """Whether a condition is true."""
    return _has(status, kind, "True")


def _has(status: Json, kind: str, value: str) -> bool:
    return any(condition.get("type") == kind and condition.get("status") == value for condition in status.get("conditions") or [])


def validate_job_status(new: Json, old: Json) -> Iterator[FieldError]:
    """What is wrong with the status of a job, or with its change."""
    change = _Change(new, old)
    yield from all_not_negative(change.new, _COUNTS, "status")
    yield from _uncounted(change.new.get("uncountedTerminatedPods") or {})
    yield from _ending(change)
    yield from _indexes(change)
    yield from _agreement(change)
    yield from _only_forward(change)


def _conditions(detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", f"Invalid value: {detail}", "status.conditions")


def _uncounted(uncounted: Json) -> Iterator[FieldError]:
    seen: dict[str, None] = {}
    for name in ("succeeded", "failed"):
        for index, uid in enumerate(uncounted.get(name) or []):
            at = f"status.uncountedTerminatedPods.{name}[{index}]"
            if not uid:
                yield invalid(at, uid, "must not be empty")
            elif uid in seen:
                yield duplicate(at, uid)
            seen[uid] = None


def _ending(change: _Change) -> Iterator[FieldError]:
    status = change.new
    complete, failed = is_true(status, "Complete"), is_true(status, "Failed")
    started, completed = status.get("startTime"), status.get("completionTime")
    finished, ended = complete or failed, _finished(status) != _finished(change.old)
    if change.turned("Complete", "Failed") and complete and failed:
        yield _conditions("cannot set Complete=True and Failed=true conditions")
    if change.turned("Complete", "FailureTarget") and complete and is_true(status, "FailureTarget"):
        yield _conditions("cannot set Complete=True and FailureTarget=true conditions")
    if change.turned("Complete") or change.is_new("completionTime"):
        if completed is not None and not complete:
            yield invalid("status.completionTime", completed, "cannot set completionTime when there is no Complete=True condition")
        if completed is None and complete:
            yield required("status.completionTime", "completionTime is required for Complete jobs")
    if change.is_new("startTime", "completionTime") and started is not None and completed is not None and completed < started:
        yield invalid("status.completionTime", completed, "must be equal to or after `startTime`")
    if (change.turned("Failed") or change.is_new("failedIndexes")) and failed and not is_true(status, "FailureTarget"):
        yield _conditions("cannot set Failed=True condition without the FailureTarget=true condition")
    if change.turned("Complete", "SuccessCriteriaMet") and complete and not is_true(status, "SuccessCriteriaMet"):
        yield _conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
    if not finished:
        return
    if (ended or change.is_new("active")) and status.get("active", 0) > 0:
        yield invalid("status.active", status["active"], "active>0 is invalid for finished job")
    never_ran = change.spec.get("suspend") is True and change.spec.get("completions") == 0
    if (ended or change.is_new("startTime")) and started is None and not never_ran:
        yield required("status.startTime", "startTime is required for finished job")
    uncounted = status.get("uncountedTerminatedPods") or {}
    if (ended or change.is_new("uncountedTerminatedPods")) and (uncounted.get("succeeded") or uncounted.get("failed")):
        printed = f'{{"Succeeded":{as_json(uncounted.get("succeeded"))},"Failed":{as_json(uncounted.get("failed"))}}}'
        yield refused("status.uncountedTerminatedPods", printed, "must be empty for finished job")


def _finished(status: Json) -> bool:
    return is_true(status, "Complete") or is_true(status, "Failed")


def _indexes(change: _Change) -> Iterator[FieldError]:
    spec, completions = change.spec, change.spec.get("completions")
    completed, failed = change.new.get("completedIndexes") or "", change.new.get("failedIndexes")
    if change.is_new("completedIndexes") and completions is not None and (problem := count_indexes(completed, completions)[1]):
        yield invalid("status.completedIndexes", completed, f"error parsing completedIndexes: {problem}")
    per_index = spec.get("backoffLimitPerIndex") is not None
    if change.is_new("failedIndexes") and completions is not None and per_index and failed is not None:
        problem = count_indexes(failed, completions)[1]
        if problem:
            yield invalid("status.failedIndexes", failed, f"error parsing failedIndexes: {problem}")
    if change.is_new("completedIndexes") and completed and not is_indexed(spec):
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid("status.completedIndexes", completed, detail)
    if change.is_new("failedIndexes") and not per_index and failed is not None:
        yield invalid("status.failedIndexes", failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
    if change.is_new("failedIndexes", "completedIndexes") and completions is not None and failed is not None:
        common = first_common_index(completed, failed, completions)
        if common is not None:
            yield invalid("status.failedIndexes", failed, f"failedIndexes and completedIndexes overlap at index: {common}")


def _agreement(change: _Change) -> Iterator[FieldError]:
    status = change.new
    ended = _finished(status) != _finished(change.old)
    if (ended or change.is_new("terminating")) and _finished(status) and status.get("terminating", 0) > 0:
        yield invalid("status.terminating", status["terminating"], "terminating>0 is invalid for finished job")
    if change.is_new("ready", "active") and status.get("ready", 0) > status.get("active", 0):
        yield invalid("status.ready", status["ready"], "cannot set more ready pods than active")
    met = is_true(status, "SuccessCriteriaMet")
    if met and is_true(status, "Failed"):
        yield _conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if met and is_true(status, "FailureTarget"):
        yield _conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if "successPolicy" in change.spec and not met and is_true(status, "Complete"):
        yield _conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")


def _only_forward(change: _Change) -> Iterator[FieldError]:
    new, old, spec = change.new, change.old, change.spec
    for kind in ("Failed", "Complete", "FailureTarget"):
        if is_true(old, kind) and not is_true(new, kind):
            yield _conditions(f"cannot disable the terminal {kind}=True condition")
    if new.get("failed", 0) < old.get("failed", 0):
        yield invalid("status.failed", new.get("failed", 0), "cannot decrease the failed counter")
    shrinks = is_indexed(spec) and spec.get("completions") == spec.get("parallelism")
    if not shrinks and new.get("succeeded", 0) < old.get("succeeded", 0):
        yield invalid("status.succeeded", new.get("succeeded", 0), "cannot decrease the succeeded counter")
    completed, was = new.get("completionTime"), old.get("completionTime")
    if completed is not None and was is not None and completed != was:
        yield invalid("status.completionTime", completed, "field is immutable")
    resuming = is_true(old, "Suspended") and _has(new, "Suspended", "False")
    if old.get("startTime") is not None and change.is_new("startTime") and not resuming and not spec.get("suspend"):
        yield invalid("status.startTime", new.get("startTime"), "field is immutable for unsuspended job once set")
    met = is_true(new, "SuccessCriteriaMet")
    if is_true(old, "SuccessCriteriaMet") and not met:
        yield _conditions("cannot disable the SuccessCriteriaMet=True condition")
    if is_true(old, "Complete") and not is_true(old, "SuccessCriteriaMet") and met:
        yield _conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
