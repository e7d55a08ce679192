"""The core group's plain kinds: namespaces, config maps and secrets.

https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping

from setpoint.cluster.server import names
from setpoint.cluster.server.builtin.behaviour import Behaviour, Json, Object
from setpoint.cluster.server.builtin.data import validate_config_map, validate_secret
from setpoint.cluster.server.schema.causes import FieldError, invalid

_NAMESPACE_LABEL = "kubernetes.io/metadata.name"


def _secret_defaults(obj: Json) -> None:
    obj.setdefault("type", "Opaque")
    text = obj.pop("stringData", None)
    if isinstance(text, dict):
        obj["data"] = {**(obj.get("data") or {}), **{key: base64.b64encode(value.encode()).decode() for key, value in text.items()}}


def _namespace_defaults(obj: Json) -> None:
    status, metadata = obj.get("status"), obj.get("metadata")
    if isinstance(status, dict):
        status.setdefault("phase", "Active")
    if isinstance(metadata, dict) and metadata.get("name"):
        labels = {**(metadata.get("labels") or {}), _NAMESPACE_LABEL: metadata["name"]}
        if labels != metadata.get("labels"):
            obj["metadata"] = {**metadata, "labels": labels}


def _namespace_create(obj: Json) -> None:
    spec = obj.get("spec") or {}
    finalizers = spec.get("finalizers") or []
    obj["spec"] = {**spec, "finalizers": finalizers if "kubernetes" in finalizers else [*finalizers, "kubernetes"]}
    obj["status"] = {"phase": "Active"}
    metadata = {key: value for key, value in obj["metadata"].items() if key != "namespace"}
    obj["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), _NAMESPACE_LABEL: metadata.get("name", "")}}


def _namespace_update(new: Json, old: Object, subresource: str) -> None:
    """Its spec changes by the subresource finalize alone."""
    if subresource == "":
        if "spec" in old:
            new["spec"] = old["spec"]
        else:
            new.pop("spec", None)


def _namespace_problems(new: Object, old: Object | None) -> Iterator[FieldError]:
    for finalizer in (new.get("spec") or {}).get("finalizers") or []:
        yield from (invalid("spec.finalizers", finalizer, problem) for problem in names.label_key(finalizer))
        if "/" not in finalizer and finalizer != "kubernetes":
            yield invalid("spec.finalizers", finalizer, "name is neither a standard finalizer name nor is it fully qualified")


def _namespace_status_problems(namespace: Object, old: Object) -> Iterator[FieldError]:
    yield from _namespace_problems(namespace, old)
    phase, deleted = (namespace.get("status") or {}).get("phase", ""), "deletionTimestamp" in namespace["metadata"]
    if phase != ("Terminating" if deleted else "Active"):
        detail = f"may only be '{'Terminating' if deleted else 'Active'}' if `deletionTimestamp` is {'not ' if deleted else ''}empty"
        yield invalid("status.Phase", phase, detail)


BEHAVIOURS: Mapping[str, Behaviour] = {
    "ConfigMap": Behaviour(support="full", validate=validate_config_map),
    "Namespace": Behaviour(
        support="full",
        defaults=_namespace_defaults,
        prepare_create=_namespace_create,
        prepare_update=_namespace_update,
        validate=_namespace_problems,
        validate_status=_namespace_status_problems,
        returns_deleted=True,
        name_rule=names.dns_label,
        selectable=("status.phase",),
    ),
    "Secret": Behaviour(support="full", defaults=_secret_defaults, validate=validate_secret, selectable=("type",)),
}
