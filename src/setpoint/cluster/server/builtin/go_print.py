"""Structs as Go prints them in a refusal: in the order of their fields, which are those of the server's own types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.gotext import as_json

Json = Mapping[str, Any]

_METADATA = ("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp", "labels", "annotations", "finalizers")


def struct(fields: Iterable[tuple[str, str]]) -> str:
    """A struct of these fields, whose values are printed already."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in fields) + "}"


def fields(value: Json, order: Iterable[str], *, always: bool = False) -> list[tuple[str, str]]:
    """What is there of the named fields, or null where it is not and ``always`` is set."""
    return [(name, as_json(value.get(name))) for name in order if always or name in value]


def metadata(value: Json) -> list[tuple[str, str]]:
    """The fields of an object's metadata, which Go prints among the object's own."""
    return fields(value, _METADATA)


def go_name(field: str) -> str:
    """The name that the server's own structs have for a field of the API."""
    return f"SE{field[2:]}" if field.startswith("seLinux") else f"{field[0].upper()}{field[1:]}"


def refused(at: str, shown: str, detail: str) -> FieldError:
    """The refusal of a value that is printed already."""
    return FieldError("FieldValueInvalid", f"Invalid value: {shown}: {detail}", at)


def claim_text(value: Json) -> str:
    """A PersistentVolumeClaim."""
    spec, status = value.get("spec") or {}, value.get("status") or {}
    resources = spec.get("resources") or {}
    wanted = [
        ("AccessModes", as_json(spec.get("accessModes"))),
        ("Selector", as_json(spec.get("selector"))),
        ("Resources", struct([("Limits", as_json(resources.get("limits"))), ("Requests", as_json(resources.get("requests")))])),
        ("VolumeName", as_json(spec.get("volumeName", ""))),
        ("StorageClassName", as_json(spec.get("storageClassName"))),
        ("VolumeMode", as_json(spec.get("volumeMode"))),
        ("DataSource", _reference(spec.get("dataSource"))),
        ("DataSourceRef", _reference(spec.get("dataSourceRef"), namespace=True)),
        ("VolumeAttributesClassName", as_json(spec.get("volumeAttributesClassName"))),
    ]
    found = [
        ("Phase", as_json(status.get("phase", ""))),
        ("AccessModes", as_json(status.get("accessModes"))),
        ("Capacity", as_json(status.get("capacity"))),
        ("Conditions", as_json(status.get("conditions"))),
        ("AllocatedResources", as_json(status.get("allocatedResources"))),
        ("AllocatedResourceStatuses", as_json(status.get("allocatedResourceStatuses"))),
        ("CurrentVolumeAttributesClassName", as_json(status.get("currentVolumeAttributesClassName"))),
        ("ModifyVolumeStatus", as_json(status.get("modifyVolumeStatus"))),
        ("HealthStatus", as_json(status.get("healthStatus"))),
    ]
    return struct([*metadata(value.get("metadata") or {}), ("Spec", struct(wanted)), ("Status", struct(found))])


def _reference(value: Json | None, *, namespace: bool = False) -> str:
    if value is None:
        return "null"
    parts = [("APIGroup", as_json(value.get("apiGroup"))), ("Kind", as_json(value.get("kind"))), ("Name", as_json(value.get("name")))]
    return struct([*parts, ("Namespace", as_json(value.get("namespace")))] if namespace else parts)
