"""What makes pods: deployments, replica sets, jobs and the like, and the templates and revisions of pods."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import NONE, UNSET, Cells, condition, containers, labels, name_of, part, selector
from setpoint.cluster.server.tables.durations import human_duration, since
from setpoint.cluster.server.tables.tables import Object, age


def _counted(obj: Object, *fields: str) -> list[int]:
    status = obj.get("status") or {}
    return [status.get(field) or 0 for field in fields]


def _replicas(obj: Object) -> int:
    return part(obj, "spec", "replicas") or 0


def _template(obj: Object) -> list[str]:
    return containers(part(obj, "spec", "template"))


def _deployment(obj: Object, now: datetime) -> list[Any]:
    ready, updated, available = _counted(obj, "readyReplicas", "updatedReplicas", "availableReplicas")
    chosen = selector(part(obj, "spec", "selector"), empty="")
    return [name_of(obj), f"{ready}/{_replicas(obj)}", updated, available, age(obj, now), *_template(obj), chosen]


def _replica_set(obj: Object, now: datetime) -> list[Any]:
    counted = _counted(obj, "replicas", "readyReplicas")
    return [name_of(obj), _replicas(obj), *counted, age(obj, now), *_template(obj), selector(part(obj, "spec", "selector"))]


def _replication_controller(obj: Object, now: datetime) -> list[Any]:
    counted = _counted(obj, "replicas", "readyReplicas")
    return [name_of(obj), _replicas(obj), *counted, age(obj, now), *_template(obj), labels(part(obj, "spec", "selector"))]


def _stateful_set(obj: Object, now: datetime) -> list[Any]:
    (ready,) = _counted(obj, "readyReplicas")
    return [name_of(obj), f"{ready}/{_replicas(obj)}", age(obj, now), *_template(obj)]


def _daemon_set(obj: Object, now: datetime) -> list[Any]:
    counted = _counted(obj, "desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable")
    nodes, chosen = labels(part(obj, "spec", "template", "spec", "nodeSelector")), selector(part(obj, "spec", "selector"))
    return [name_of(obj), *counted, nodes, age(obj, now), *_template(obj), chosen]


def _controller_revision(obj: Object, now: datetime) -> list[Any]:
    owner = next((o for o in obj["metadata"].get("ownerReferences") or () if o.get("controller")), None)
    controller = NONE
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        controller = f"{owner['kind'].lower()}{'.' if group else ''}{group}/{owner['name']}"
    return [name_of(obj), controller, obj.get("revision") or 0, age(obj, now)]


def _pod_template(obj: Object, now: datetime) -> list[Any]:
    template = obj.get("template") or {}
    return [name_of(obj), *containers(template), labels(part(template, "metadata", "labels"))]


def _job(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    done, wanted, at_once = status.get("succeeded") or 0, spec.get("completions"), spec.get("parallelism") or 0
    completions = f"{done}/{wanted}" if wanted is not None else f"{done}/1 of {at_once}" if at_once > 1 else f"{done}/1"
    started, ended = status.get("startTime"), status.get("completionTime")
    end = datetime.fromisoformat(ended) if ended else now
    duration = human_duration(end - datetime.fromisoformat(started)) if started else ""
    return [name_of(obj), _job_state(obj), completions, duration, age(obj, now), *_template(obj), selector(spec.get("selector"))]


def _job_state(obj: Object) -> str:
    for kind in ("Complete", "Failed"):
        if condition(obj, kind) == "True":
            return kind
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return next((kind for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if condition(obj, kind) == "True"), "Running")


def _cron_job(obj: Object, now: datetime) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    job = part(spec, "jobTemplate", "spec") or {}
    return [
        name_of(obj),
        spec.get("schedule") or "",
        spec.get("timeZone") or NONE,
        UNSET if spec.get("suspend") is None else str(spec["suspend"]),
        len(status.get("active") or ()),
        since(status["lastScheduleTime"], now) if status.get("lastScheduleTime") else NONE,
        age(obj, now),
        *containers(job.get("template")),
        selector(job.get("selector")),
    ]


CELLS: dict[tuple[str, str], Cells] = {
    ("apps", "deployments"): _deployment,
    ("apps", "replicasets"): _replica_set,
    ("apps", "statefulsets"): _stateful_set,
    ("apps", "daemonsets"): _daemon_set,
    ("apps", "controllerrevisions"): _controller_revision,
    ("", "replicationcontrollers"): _replication_controller,
    ("", "podtemplates"): _pod_template,
    ("batch", "jobs"): _job,
    ("batch", "cronjobs"): _cron_job,
}
