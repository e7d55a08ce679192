"""What Kubernetes knows of an object's metadata: the schema that every object shares, whatever its kind."""

from __future__ import annotations

from typing import Any

from setpoint.cluster.server.schema.structural import Json, Structural, compile_schema

_STRING = {"type": "string"}
_STRINGS = {"type": "object", "additionalProperties": _STRING}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


OBJECT_META_SCHEMA: dict[str, Any] = _object(
    annotations=_STRINGS,
    creationTimestamp={"type": "string", "format": "date-time", "nullable": True},
    deletionGracePeriodSeconds={"type": "integer", "format": "int64"},
    deletionTimestamp={"type": "string", "format": "date-time"},
    finalizers={"type": "array", "items": _STRING},
    generateName=_STRING,
    generation={"type": "integer", "format": "int64"},
    labels=_STRINGS,
    managedFields={
        "type": "array",
        "items": _object(
            apiVersion=_STRING,
            fieldsType=_STRING,
            fieldsV1={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            manager=_STRING,
            operation=_STRING,
            subresource=_STRING,
            time={"type": "string", "format": "date-time"},
        ),
    },
    name=_STRING,
    namespace=_STRING,
    ownerReferences={
        "type": "array",
        "items": _object(
            apiVersion=_STRING,
            blockOwnerDeletion={"type": "boolean"},
            controller={"type": "boolean"},
            kind=_STRING,
            name=_STRING,
            uid=_STRING,
        ),
    },
    resourceVersion=_STRING,
    selfLink=_STRING,
    uid=_STRING,
)
"""The schema of `metadata`, without descriptions."""

OBJECT_META: Structural = compile_schema(OBJECT_META_SCHEMA)


def tidy_metadata(metadata: dict[str, Json]) -> dict[str, Json]:
    """`metadata` as the real server gives it back: without nulls, empty strings, zeros and empty lists and maps at its top level.

    Go leaves them out when it writes; so nobody can tell an empty label map from none.
    """
    if all(metadata.values()):
        return metadata
    return {key: value for key, value in metadata.items() if value}
