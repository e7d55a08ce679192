"""From client-side to server-side apply: what the last-applied annotation of ``kubectl apply`` still says.

kubectl's server-side apply may take over what its client-side apply set, as long as that is still so, without a conflict; and the
annotation is kept up to date, so that client-side apply goes on working
(https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply).
"""

import json
from collections.abc import Mapping
from typing import Any

from .atoms import TypedSchema
from .compare import compare, field_set
from .entries import Manager
from .fieldset import EMPTY, FieldSet
from .validate import validate

__all__ = ["not_allowed", "refresh"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_ANNOTATIONS = 256 * 1024  # bytes of all keys and values together


def not_allowed(
    conflicts: Mapping[Manager, FieldSet], live: dict[str, Any], schema: TypedSchema, api_version: str
) -> Mapping[Manager, FieldSet]:
    """The conflicts that stay when what kubectl applied client-side, and is still so, counts as kubectl's."""
    allowed = _still_as_last_applied(live, schema, api_version)
    left = {manager: fields.difference(allowed) for manager, fields in conflicts.items()}
    return {manager: fields for manager, fields in left.items() if fields}


def _still_as_last_applied(live: dict[str, Any], schema: TypedSchema, api_version: str) -> FieldSet:
    try:
        last = json.loads(_annotations(live).get(LAST_APPLIED) or "null")
    except ValueError:
        return EMPTY
    if not isinstance(last, dict) or last.get("apiVersion") != api_version:
        return EMPTY
    if validate(schema.root, last) or validate(schema.root, live):
        return EMPTY
    changed = compare(schema.root, last, live)
    return field_set(schema.root, last).difference(changed.modified).difference(changed.added).difference(changed.removed)


def refresh(merged: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
    """``merged`` with its annotation, if it has one, saying what was applied now; without it where annotations would become too large."""
    annotations = _annotations(merged)
    if not annotations.get(LAST_APPLIED):
        return merged
    others = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    fresh = {**others, LAST_APPLIED: _last_applied(applied)}
    if _size(fresh) > _MAX_ANNOTATIONS:
        fresh = others
    return {**merged, "metadata": {**merged["metadata"], "annotations": fresh}}


def _last_applied(applied: dict[str, Any]) -> str:
    if _annotations(applied):
        metadata = applied["metadata"]
        annotations = {key: value for key, value in metadata["annotations"].items() if key != LAST_APPLIED}
        applied = {**applied, "metadata": {**metadata, "annotations": annotations}}
    text = json.dumps(applied, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") + "\n"


def _annotations(thing: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = thing.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return annotations if isinstance(annotations, Mapping) else {}


def _size(annotations: Mapping[str, Any]) -> int:
    return sum(len(str(part).encode()) for pair in annotations.items() for part in pair)
