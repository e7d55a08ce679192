"""Events, in the core form, in which they are kept; the newer form is judged by `builtins.NewerEventStrategy`.

https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin import event_forms
from setpoint.cluster.server.builtin.behaviour import Behaviour, Object
from setpoint.cluster.server.schema.causes import FieldError, invalid, required


def _problems(new: Object, old: Object | None) -> Iterator[FieldError]:
    namespace = (new.get("metadata") or {}).get("namespace", "")
    about = (new.get("involvedObject") or {}).get("namespace", "")
    timed = new.get("eventTime") is not None
    # Events about objects outside any namespace live in one of these.
    outside = namespace in (("default", "kube-system") if timed else ("", "default"))
    if not outside if not about else not timed and about != namespace:
        yield invalid("involvedObject.namespace", about, "does not match event.namespace")
    if not timed:
        return
    reporter = new.get("reportingComponent", "")
    if not reporter:
        yield required("reportingComponent")
    yield from (invalid("reportingComponent", reporter, problem) for problem in names.label_key(reporter))
    for name in ("reportingInstance", "action", "reason"):
        if not new.get(name):
            yield required(name)
        yield from event_forms.too_long(new, name)
    yield from event_forms.too_long(new, "message")


BEHAVIOURS: Mapping[str, Behaviour] = {
    "Event": Behaviour(
        support="full",
        validate=_problems,
        create_on_update=True,
        any_finalizer=True,
        name_rule=names.path_segment,
        selectable=(
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ),
    )
}
