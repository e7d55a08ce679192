"""What a patch does to an object, by its content type. Server-side apply is another thing, see `structured`.

https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from setpoint.api import merge_patch
from setpoint.api.operation import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from setpoint.api.status import StatusDetails, bad_request, failure, not_supported_here
from setpoint.cluster.server.json_patch import LIMIT, MalformedPatch, PatchFailed, json_patch, operations_of
from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.options import unsupported_media
from setpoint.cluster.server.schema import Json, MalformedBody, decode_json

Change: TypeAlias = Callable[[Json], Json]
"""From what is there to what shall be. Raises `Invalid` where the patch does not fit."""


def change_of(media: str, body: bytes, *, custom: bool) -> tuple[Change, list[str]]:
    """What a patch of this media type does, and the fields that it names twice. Custom resources take no strategic merge patch.

    Raises `UnsupportedMediaType`, `BadRequest` and `RequestEntityTooLarge` in the real server's words.
    """
    accepted = [JSON_PATCH, MERGE_PATCH, *([] if custom else [STRATEGIC_MERGE_PATCH]), APPLY_PATCH]
    if media not in accepted:
        raise unsupported_media(", ".join(accepted))
    if media == STRATEGIC_MERGE_PATCH:
        raise not_supported_here("strategic merge patch")
    try:
        patch, repeated = decode_json(body)
    except MalformedBody as error:
        raise bad_request("invalid JSON patch") from error
    if media == JSON_PATCH:
        return _json(patch), []
    if not isinstance(patch, dict):
        why = f"json: cannot unmarshal {go_type(patch)} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding patch: {why}")
    return lambda live: merge_patch(live, patch), repeated


def _json(patch: Json) -> Change:
    try:
        operations = operations_of(patch)
    except MalformedPatch as error:
        raise bad_request(f"error decoding patch: {error}") from error
    if len(operations) > LIMIT:
        message = f"Request entity too large: The allowed maximum operations in a JSON patch is {LIMIT}, got {len(operations)}"
        raise failure(413, "RequestEntityTooLarge", message)

    def change(live: Json) -> Json:
        try:
            return json_patch(live, operations)
        except PatchFailed as error:
            message = "the server rejected our request due to an error in our request"
            raise failure(422, "Invalid", message, StatusDetails()) from error

    return change
