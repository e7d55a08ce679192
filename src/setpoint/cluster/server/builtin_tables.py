"""The columns of built-in kinds, as kubectl's users know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from setpoint.cluster.server.builtin.event_forms import NEWER_NAMES
from setpoint.cluster.server.durations import since
from setpoint.cluster.server.pod_table import PODS
from setpoint.cluster.server.tables import AGE, NAME, Column, Columns, Object, age

_CONTAINERS = Column("Containers", description="Names of the containers in the template.", priority=1)
_IMAGES = Column("Images", description="Images of the containers in the template.", priority=1)
_SELECTOR = Column("Selector", description="Which pods it is about.", priority=1)


def builtin_columns(group: str, plural: str) -> Columns | None:
    """The columns of a built-in kind, or None where `GENERIC` ones serve."""
    return _COLUMNS.get((group, plural))


def _name(obj: Object) -> str:
    name: str = obj["metadata"].get("name", "")
    return name


def _part(obj: Mapping[str, Any], *path: str) -> Any:
    """What lies at the end of a path of fields, None where one of them is missing."""
    value: Any = obj
    for key in path:
        value = (value or {}).get(key)
    return value


def _namespace(obj: Object, now: datetime) -> list[Any]:
    return [_name(obj), _part(obj, "status", "phase") or "", age(obj, now)]


def _scale(obj: Object, now: datetime) -> list[Any]:
    return [_name(obj), _part(obj, "spec", "replicas") or 0, _part(obj, "status", "replicas") or 0, age(obj, now)]


def _config_map(obj: Object, now: datetime) -> list[Any]:
    return [_name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age(obj, now)]


def _secret(obj: Object, now: datetime) -> list[Any]:
    return [_name(obj), obj.get("type") or "", len(obj.get("data") or ()), age(obj, now)]


def _named(obj: Object, now: datetime) -> list[Any]:
    return [_name(obj), age(obj, now)]


def _lease(obj: Object, now: datetime) -> list[Any]:
    return [_name(obj), _part(obj, "spec", "holderIdentity") or "", age(obj, now)]


def _service(obj: Object, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    addresses = spec.get("clusterIPs") or ["<none>"]
    ports = ",".join(_port(port) for port in spec.get("ports") or ()) or "<none>"
    selector = spec.get("selector") or {}
    return [
        _name(obj),
        spec.get("type") or "",
        addresses[0],
        _external_address(obj, spec),
        ports,
        age(obj, now),
        ",".join(f"{key}={value}" for key, value in sorted(selector.items())) or "<none>",
    ]


def _port(port: Mapping[str, Any]) -> str:
    node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{node_port}/{port.get('protocol') or 'TCP'}"


def _external_address(obj: Object, spec: Mapping[str, Any]) -> str:
    external: list[str] = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or "<none>"
        case "LoadBalancer":
            ingress = _part(obj, "status", "loadBalancer", "ingress") or ()
            balanced = sorted(dict.fromkeys(address for entry in ingress if (address := entry.get("ip") or entry.get("hostname"))))
            return ",".join([*balanced, *external]) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName") or "")
    return "<unknown>"


_KEPT_NAMES = {new: kept for kept, new in NEWER_NAMES.items()}


def _newer_event(obj: Object, now: datetime) -> list[Any]:
    return _event({_KEPT_NAMES.get(name, name): value for name, value in obj.items()}, now)


def _event(obj: Object, now: datetime) -> list[Any]:
    first = since(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = since(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    if series := obj.get("series"):
        last, count = since(series.get("lastObservedTime"), now), series.get("count") or 0
    about = obj.get("involvedObject") or {}
    target = (about.get("kind") or "").lower()
    source = obj.get("source") or {}
    origin = [source.get("component") or obj.get("reportingComponent") or "", source.get("host") or obj.get("reportingInstance") or ""]
    return [
        last,
        obj.get("type") or "",
        obj.get("reason") or "",
        f"{target}/{about['name']}" if about.get("name") else target,
        about.get("fieldPath") or "",
        ", ".join(origin) if origin[1] else origin[0],
        (obj.get("message") or "").strip(),
        first,
        count,
        _name(obj),
    ]


def _template(obj: Object) -> list[str]:
    containers: Sequence[Mapping[str, Any]] = _part(obj, "spec", "template", "spec", "containers") or ()
    names = ",".join(container.get("name") or "" for container in containers)
    return [names, ",".join(container.get("image") or "" for container in containers)]


def _selector(obj: Object, empty: str) -> str:
    selector = _part(obj, "spec", "selector") or {}
    terms = [(key, f"{key}={value}") for key, value in sorted((selector.get("matchLabels") or {}).items())]
    terms += [(rule["key"], _expression(rule)) for rule in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0])) or empty


def _expression(rule: Mapping[str, Any]) -> str:
    values = ",".join(sorted(rule.get("values") or ()))
    match rule["operator"]:
        case "Exists":
            return str(rule["key"])
        case "DoesNotExist":
            return f"!{rule['key']}"
        case operator:
            return f"{rule['key']} {operator.lower()} ({values})"


def _deployment(obj: Object, now: datetime) -> list[Any]:
    status = obj.get("status") or {}
    return [
        _name(obj),
        f"{status.get('readyReplicas') or 0}/{_part(obj, 'spec', 'replicas') or 0}",
        status.get("updatedReplicas") or 0,
        status.get("availableReplicas") or 0,
        age(obj, now),
        *_template(obj),
        _selector(obj, ""),
    ]


def _replica_set(obj: Object, now: datetime) -> list[Any]:
    status = obj.get("status") or {}
    return [
        _name(obj),
        _part(obj, "spec", "replicas") or 0,
        status.get("replicas") or 0,
        status.get("readyReplicas") or 0,
        age(obj, now),
        *_template(obj),
        _selector(obj, "<none>"),
    ]


def _crd(obj: Object, now: datetime) -> list[Any]:
    spec = obj["spec"]
    names = spec["names"]
    served = sorted(v["name"] + ("(storage)" if v.get("storage") else "") for v in spec["versions"] if v.get("served"))
    conditions = _part(obj, "status", "conditions") or ()
    return [
        _name(obj),
        spec["scope"],
        ",".join(served),
        obj["metadata"].get("creationTimestamp") or "0001-01-01T00:00:00Z",
        spec["group"],
        names["kind"],
        ",".join(names.get("shortNames") or ()),
        any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions),
    ]


_EVENTS = Columns(
    (
        Column("Last Seen", description="When it was last seen."),
        Column("Type", description="Normal or Warning."),
        Column("Reason", description="Why it happened, in a word."),
        Column("Object", description="What it is about."),
        Column("Subobject", description="Which part of the object it is about.", priority=1),
        Column("Source", description="Who reports it.", priority=1),
        Column("Message", description="What happened."),
        Column("First Seen", description="When it was first seen.", priority=1),
        Column("Count", description="How often it was seen.", priority=1),
        Column("Name", format="name", description=NAME.description, priority=1),
    ),
    _event,
)
_COLUMNS = {
    ("autoscaling", "scales"): Columns(
        (
            NAME,
            Column("Desired", "integer", description="The replicas that are wanted."),
            Column("Available", "integer", description="The replicas that are there."),
            AGE,
        ),
        _scale,
    ),
    ("", "namespaces"): Columns((NAME, Column("Status", description="The status of the namespace."), AGE), _namespace),
    ("", "pods"): PODS,
    ("", "services"): Columns(
        (
            NAME,
            Column("Type", description="How the service is exposed."),
            Column("Cluster-IP", description="Its address inside the cluster."),
            Column("External-IP", description="Its addresses outside the cluster."),
            Column("Port(s)", description="The ports that it serves."),
            AGE,
            Column("Selector", description="The labels of its pods.", priority=1),
        ),
        _service,
    ),
    ("", "configmaps"): Columns((NAME, Column("Data", description="How many entries it has."), AGE), _config_map),
    ("", "secrets"): Columns(
        (NAME, Column("Type", description="What it is for."), Column("Data", description="How many entries it has."), AGE), _secret
    ),
    ("", "serviceaccounts"): Columns((NAME, AGE), _named),
    ("", "events"): _EVENTS,
    ("events.k8s.io", "events"): replace(_EVENTS, cells=_newer_event),
    ("coordination.k8s.io", "leases"): Columns((NAME, Column("Holder", description="Who holds it."), AGE), _lease),
    ("apps", "deployments"): Columns(
        (
            NAME,
            Column("Ready", description="Pods that are ready, of those wanted."),
            Column("Up-to-date", description="Pods of the wanted template."),
            Column("Available", description="Pods that have been ready for long enough."),
            AGE,
            _CONTAINERS,
            _IMAGES,
            _SELECTOR,
        ),
        _deployment,
    ),
    ("apps", "replicasets"): Columns(
        (
            NAME,
            Column("Desired", "integer", description="Pods that are wanted."),
            Column("Current", "integer", description="Pods that there are."),
            Column("Ready", "integer", description="Pods that are ready."),
            AGE,
            _CONTAINERS,
            _IMAGES,
            _SELECTOR,
        ),
        _replica_set,
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions"): Columns(
        (
            NAME,
            Column("Scope", description="Cluster or Namespaced."),
            Column("Versions", description="The versions that are served."),
            Column("Created At", "date", description="When it was created."),
            Column("Group", description="The API group.", priority=1),
            Column("Kind", description="The kind of its objects.", priority=1),
            Column("ShortNames", description="Its short names.", priority=1),
            Column("Established", "boolean", description="Whether its objects are served.", priority=1),
        ),
        _crd,
    ),
}
