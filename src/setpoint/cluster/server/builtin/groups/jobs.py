"""Jobs and CronJobs: their defaults, the selector and labels that a job gets, what must hold of both, and what may change.

https://kubernetes.io/docs/concepts/workloads/controllers/job/ and .../cron-jobs/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.counts import all_not_negative
from setpoint.cluster.server.builtin.cron_schedules import schedule_problem, zone_problems
from setpoint.cluster.server.builtin.defaults import default_template
from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.immutable import unchanged
from setpoint.cluster.server.builtin.job_specs import is_indexed, shown_failure_policy, shown_success_policy, validate_job_spec
from setpoint.cluster.server.builtin.job_status import is_true, validate_job_status
from setpoint.cluster.server.builtin.label_selectors import selector_problems
from setpoint.cluster.server.builtin.selectors import invalid_selector, readable, selector_matches, shown
from setpoint.cluster.server.builtin.templates import labels_of, not_taken, template_of, template_warnings
from setpoint.cluster.server.schema.causes import FieldError, invalid, not_supported, required

_PREFIX = "batch.kubernetes.io/"
_UID_LABELS = ("controller-uid", f"{_PREFIX}controller-uid")
_NAME_LABELS = ("job-name", f"{_PREFIX}job-name")
_MOST = (1 << 31) - 1
_MUTABLE_WHILE_SUSPENDED = ("nodeSelector", "tolerations", "schedulingGates")
_SHOWN = {"selector": shown, "podFailurePolicy": shown_failure_policy, "successPolicy": shown_success_policy}
_CONCURRENCY = ("Allow", "Forbid", "Replace")


# ----------------------------------------------------------------------------------------------------------------- jobs


def _default_spec(spec: Json) -> None:
    """What is filled into a job, but not into the template of one."""
    if "parallelism" not in spec:
        spec["parallelism"] = 1
        spec.setdefault("completions", 1)
    spec.setdefault("backoffLimit", _MOST if "backoffLimitPerIndex" in spec else 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def _default_failure_policy(spec: Json) -> None:
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or []:
        for pattern in rule.get("onPodConditions") or []:
            if not pattern.get("status"):
                pattern["status"] = "True"


def default_job(obj: Json) -> None:
    """A Job with its defaults: without labels of its own it has those of its template."""
    spec = obj["spec"]
    _default_spec(spec)
    _default_failure_policy(spec)
    default_template(spec.get("template"))
    labels, metadata = labels_of(template_of(spec)), obj.get("metadata") or {}
    if labels and not metadata.get("labels"):
        obj["metadata"] = {**metadata, "labels": dict(labels)}


def prepare_job(obj: Json) -> None:
    """Gives a job the selector and the labels by which it knows its pods, unless it has chosen a selector itself."""
    spec, metadata = obj["spec"], obj["metadata"]
    if spec.get("manualSelector"):
        return
    template = template_of(spec)
    about, before = template.get("metadata") or {}, labels_of(template) or {}
    generated = dict.fromkeys(_NAME_LABELS, metadata.get("name", "")) | dict.fromkeys(_UID_LABELS, metadata["uid"])
    labels = dict(sorted({**generated, **before}.items()))
    selector = spec.get("selector") or {}
    taken = {_UID_LABELS[1]: metadata["uid"], **(selector.get("matchLabels") or {})}
    obj["spec"] = {
        **spec,
        "selector": {**selector, "matchLabels": taken},
        "template": {**template, "metadata": {**about, "labels": labels}},
    }


def settle_job(new: Json, old: Object | None, now: str) -> None:
    """Labels that a new job has from its template go on being those, also the generated ones."""
    labels = labels_of(template_of(new["spec"])) or {}
    if old is None and not new["spec"].get("manualSelector"):
        sent = {key: value for key, value in labels.items() if key not in (*_NAME_LABELS, *_UID_LABELS)}
        # Where a name was to be generated, labels that were sent were no longer the same ones when the others came.
        apart = bool(sent and new["metadata"].get("generateName"))
        if (new["metadata"].get("labels") or {}) in ({}, sent, labels) and not apart:
            new["metadata"]["labels"] = dict(labels)


def validate_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a job, or with its change."""
    spec = new.get("spec") or {}
    selector, template = spec.get("selector"), template_of(spec)
    if old is None:
        yield from _generated(new, spec, template)
    yield from validate_job_spec(spec, "spec")
    if selector is None:
        yield required("spec.selector")
    yield from selector_problems(selector or {}, "spec.selector")
    if readable(selector):
        yield from not_taken(selector, template, "spec.template")
    if old is not None:
        yield from _update(spec, old)
    yield from _hostname(new, spec)


def _generated(job: Object, spec: Object, template: Object) -> Iterator[FieldError]:
    """The labels that the server gives have not been chosen otherwise."""
    selector, metadata, labels = spec.get("selector"), job["metadata"], labels_of(template) or {}
    if spec.get("manualSelector") or selector is None:
        return
    wanted: Json = {}
    for uid_label, name_label in zip(_UID_LABELS, _NAME_LABELS, strict=True):
        wanted |= {uid_label: metadata["uid"], name_label: metadata.get("name", "")}
    for key, value in wanted.items():
        if labels.get(key) != value:
            yield invalid(f"spec.template.metadata.labels[{key}]", labels, f"must be '{value}'")
    if readable(selector) and not selector_matches(selector, wanted):
        yield invalid_selector("spec.selector", selector, "`selector` not auto-generated")


def _hostname(job: Object, spec: Object) -> Iterator[FieldError]:
    """The pods of an indexed job are called after it."""
    completions = spec.get("completions", 0)
    if is_indexed(spec) and completions > 0:
        name = job["metadata"].get("name", "")
        last = f"{name}-{completions - 1}"
        if names.dns_label(last):
            yield invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {last}")


def _update(spec: Object, old: Object) -> Iterator[FieldError]:
    before = old.get("spec") or {}
    if not is_indexed(spec):
        yield from unchanged(spec, before, ("completions",))
    elif spec.get("completions") != before.get("completions") and spec.get("completions") not in (None, spec.get("parallelism")):
        yield invalid("spec.completions", spec["completions"], "can only be modified in tandem with spec.parallelism")
    yield from unchanged(spec, before, ("selector",), shown=_SHOWN)
    yield from _template_update(template_of(spec), template_of(before), old)
    fields = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
    yield from unchanged(spec, before, fields, shown=_SHOWN)


def _template_update(new: Object, old: Object, job: Object) -> Iterator[FieldError]:
    """Of a suspended job that has no pods, what concerns scheduling and resources may change; of any other nothing."""
    spec, status = job.get("spec") or {}, job.get("status") or {}
    suspended = spec.get("suspend") is True
    idle = ("startTime" not in status or is_true(status, "Suspended")) and not status.get("active")
    if not (suspended and idle):
        yield from unchanged({"template": new}, {"template": old}, ("template",))
        return
    fixed, before = (_fixed(template.get("spec") or {}) for template in (new, old))
    if not same(fixed, before):
        yield from unchanged({"template.spec": new.get("spec")}, {"template.spec": None}, ("template.spec",))


def _fixed(pod: Object) -> Json:
    """What of a pod's spec does not change while its job is suspended."""
    fixed: Json = {key: value for key, value in pod.items() if key not in _MUTABLE_WHILE_SUSPENDED}
    affinity = {key: value for key, value in (pod.get("affinity") or {}).items() if key != "nodeAffinity"}
    fixed["affinity"] = affinity
    for name in ("containers", "initContainers"):
        fixed[name] = [{key: value for key, value in container.items() if key != "resources"} for container in pod.get(name) or []]
    return fixed


# ------------------------------------------------------------------------------------------------------------ cron jobs


def default_cron_job(obj: Json) -> None:
    """A CronJob with its defaults; of those of its jobs only the ones of their pods."""
    spec = obj["spec"]
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    _default_failure_policy(job)
    default_template(job.get("template"))


def validate_cron_job(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a CronJob, or with its change."""
    spec, before = new.get("spec") or {}, (old or {}).get("spec") or {}
    if schedule := spec.get("schedule"):
        yield from _schedule(schedule, spec.get("timeZone"), before.get("schedule", ""))
    yield from all_not_negative(spec, ("startingDeadlineSeconds",), "spec")
    zone: Any = spec.get("timeZone")
    if zone is not None and zone != before.get("timeZone"):
        yield from (invalid("spec.timeZone", zone, problem) for problem in zone_problems(zone))
    if spec.get("concurrencyPolicy") not in _CONCURRENCY:
        yield not_supported("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), _CONCURRENCY)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    yield from validate_job_spec(job, "spec.jobTemplate.spec")
    if "selector" in job:
        yield invalid_selector("spec.jobTemplate.spec.selector", job["selector"], "`selector` will be auto-generated")
    if job.get("manualSelector"):
        yield not_supported("spec.jobTemplate.spec.manualSelector", True, ("nil", "false"))
    yield from all_not_negative(spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"), "spec")
    name = new["metadata"].get("name", "")
    if old is None and len(name) > 52:
        yield invalid("metadata.name", name, "must be no more than 52 characters")
    if not schedule:
        yield required("spec.schedule")


def _schedule(schedule: str, zone: str | None, before: str) -> Iterator[FieldError]:
    if problem := schedule_problem(schedule):
        yield invalid("spec.schedule", schedule, problem)
    if "TZ" in schedule:
        if "TZ" not in before:
            yield invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
        elif zone is not None:
            yield invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")


BEHAVIOURS = {
    "Job": Behaviour(
        support="full",
        defaults=default_job,
        prepare_create=prepare_job,
        settle=settle_job,
        validate=validate_job,
        validate_status=validate_job_status,
        warns=template_warnings,
        generation=True,
        selectable=("status.successful",),
        no_field='field label "{}" not supported for Job',
    ),
    "CronJob": Behaviour(
        support="full",
        defaults=default_cron_job,
        validate=validate_cron_job,
        validate_status=lambda new, old: (),
        warns=lambda new, old: template_warnings(new, old, "spec.jobTemplate.spec"),
        generation=True,
    ),
}
