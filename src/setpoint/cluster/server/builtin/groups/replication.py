"""ReplicationControllers and PodTemplates, the elders of the workloads, and ControllerRevisions, in which others keep their templates.

https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller/
"""

from __future__ import annotations

from collections.abc import Iterator

from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.counts import all_not_negative, at_most
from setpoint.cluster.server.builtin.defaults import default_template
from setpoint.cluster.server.builtin.equality import same
from setpoint.cluster.server.builtin.immutable import unchanged
from setpoint.cluster.server.builtin.templates import labels_of, not_taken, runs_for_ever, template_of, template_warnings, validate_template
from setpoint.cluster.server.schema.causes import FieldError, required

_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")


def default_controller(obj: Json) -> None:
    """A ReplicationController with its defaults: its selector and its own labels are those of its template."""
    spec = obj["spec"]
    spec.setdefault("replicas", 1)
    default_template(spec.get("template"))
    labels = labels_of(template_of(spec))
    if labels:
        spec.setdefault("selector", dict(labels))
        metadata = obj.get("metadata") or {}
        if not metadata.get("labels"):
            obj["metadata"] = {**metadata, "labels": dict(labels)}


def validate_controller(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a ReplicationController, or with its change."""
    spec = new.get("spec") or {}
    if not spec.get("selector"):
        yield required("spec.selector")
    if spec.get("template") is None:
        yield required("spec.template")
    else:
        template = template_of(spec)
        if selector := spec.get("selector"):
            yield from not_taken({"matchLabels": selector}, template, "spec.template")
        yield from validate_template(template, "spec.template")
        yield from runs_for_ever(template, "ReplicationController", "spec.template")
    yield from all_not_negative(spec, ("replicas", "minReadySeconds"), "spec")


def validate_controller_status(new: Object, old: Object) -> Iterator[FieldError]:
    """What is wrong with a status."""
    status = new.get("status") or {}
    yield from all_not_negative(status, _COUNTS, "status")
    yield from at_most(status, ("fullyLabeledReplicas", "readyReplicas", "availableReplicas"), "replicas", "status")
    yield from at_most(status, ("availableReplicas",), "readyReplicas", "status", "readyReplicas")


def default_pod_template(obj: Json) -> None:
    """A PodTemplate with its defaults."""
    default_template(obj.get("template"))


def validate_pod_template(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a PodTemplate."""
    yield from validate_template(template_of(new), "template")


def _template_changed(new: Object, old: Object) -> bool:
    return not same(template_of(new), template_of(old))


def validate_revision(new: Object, old: Object | None) -> Iterator[FieldError]:
    """What is wrong with a ControllerRevision, or with its change: its data never change."""
    yield from all_not_negative(new, ("revision",), "")
    data = new.get("data")
    if old is not None:
        yield from unchanged(new, old, ("data",), at="")
    elif data is None:
        yield required("data", "data is mandatory")
    elif not isinstance(data, dict):
        yield required("data", "data must be a valid JSON object")


BEHAVIOURS = {
    "ReplicationController": Behaviour(
        support="full",
        defaults=default_controller,
        validate=validate_controller,
        validate_status=validate_controller_status,
        warns=template_warnings,
        generation=True,
        selectable=("status.replicas",),
    ),
    "PodTemplate": Behaviour(
        support="full",
        defaults=default_pod_template,
        validate=validate_pod_template,
        generation=True,
        counts=_template_changed,
        warns=lambda new, old: template_warnings(new, old, "", named=False),
    ),
    "ControllerRevision": Behaviour(support="full", validate=validate_revision),
}
