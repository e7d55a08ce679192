"""What a patch does to an object, by its content type. Server-side apply is another thing, see `structured`.

https://kubernetes.io/docs/reference/using-api/api-concepts/#patch-and-apply
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from setpoint.api import ApiError
from setpoint.api.operation import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from setpoint.api.status import Status, StatusDetails, bad_request, failure, invalid
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.metadata import go_type
from setpoint.cluster.server.options import FieldValidation, unsupported_media
from setpoint.cluster.server.patches.json_merge import json_merge
from setpoint.cluster.server.patches.json_patch import LIMIT, MalformedPatch, PatchFailed, json_patch, operations_of, unknown_fields
from setpoint.cluster.server.patches.strategic import (
    BadPatch,
    PatchFailure,
    PatchType,
    UnprocessablePatch,
    misfit,
    patch_type,
    strategic_merge,
)
from setpoint.cluster.server.schema import Json, MalformedBody, causes, decode_json
from setpoint.cluster.server.schema.gotext import as_json, plain

_SCALE = "io.k8s.api.autoscaling.v1.Scale"
_REFUSED = "the server rejected our request due to an error in our request"


@dataclass(frozen=True, slots=True)
class Patched:
    """What a patch made of an object, and how the two are shown where the outcome cannot be read."""

    value: Json
    shown: Callable[[], str]
    converted: bool = False
    """Whether it is made of maps, and not of JSON."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a patch does: from what is there to what shall be. `run` raises `ApiError` where the patch does not fit."""

    run: Callable[[Json], Patched]
    problems: list[str] = field(default_factory=list)
    """What strict validation has against the patch itself."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A patch as it was sent: its bytes and what they say, the fields that it names twice, and what it is about."""

    body: bytes
    patch: Json
    repeated: list[str]
    kind: ServedKind
    subresource: str
    validation: FieldValidation

    @property
    def duplicates(self) -> list[str]:
        return [f'duplicate field "{field}"' for field in self.repeated]


Maker: TypeAlias = Callable[[_Request], Change]


def change_of(media: str, kind: ServedKind, subresource: str) -> Callable[[bytes, FieldValidation], Change]:
    """What reads patches of this media type: custom resources take no strategic merge patch. Raises `UnsupportedMediaType`.

    The reader raises `BadRequest` and `RequestEntityTooLarge` in the real server's words.
    """
    accepted = [JSON_PATCH, MERGE_PATCH, *([] if kind.strategy.custom else [STRATEGIC_MERGE_PATCH]), APPLY_PATCH]
    if media not in accepted and not kind.strategy.custom:
        raise failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", StatusDetails())
    if media not in accepted:
        raise unsupported_media(", ".join(accepted))
    make = _MAKERS[media]

    def read(body: bytes, validation: FieldValidation) -> Change:
        try:
            patch, repeated = decode_json(body)
        except MalformedBody as error:
            raise bad_request("invalid JSON patch") from error
        return make(_Request(body, patch, repeated, kind, subresource, validation))

    return read


def unreadable(shown: str, why: str) -> ApiError:
    """422 for a patch whose outcome cannot be read."""
    return invalid("", "", "", [causes.invalid("patch", shown, why)])


def _json(request: _Request) -> Change:
    patch, typed = request.patch, request.validation != "Ignore"

    def run(live: Json) -> Patched:
        try:
            operations = operations_of(patch, request.body, typed=typed)
        except MalformedPatch as error:
            raise bad_request(f"error decoding patch: {error}" if typed else str(error)) from error
        if len(operations) > LIMIT:
            message = f"Request entity too large: The allowed maximum operations in a JSON patch is {LIMIT}, got {len(operations)}"
            raise failure(413, "RequestEntityTooLarge", message)
        try:
            patched = json_patch(live, operations)
        except PatchFailed as error:
            raise failure(422, "Invalid", _REFUSED, StatusDetails()) from error
        return Patched(patched, lambda: as_json(patched))

    unknown = unknown_fields(patch) if isinstance(patch, list) else ()
    return Change(run, [f"json patch {problem}" for problem in (*request.duplicates, *(f'unknown field "{path}"' for path in unknown))])


def _merge(request: _Request) -> Change:
    patch, ignoring = request.patch, request.validation == "Ignore"

    def run(live: Json) -> Patched:
        if patch is None or (ignoring and not isinstance(patch, dict | list)):
            raise bad_request("Invalid JSON Patch")
        if not ignoring and not isinstance(patch, dict):
            raise bad_request(f"error decoding patch: {_no_map(patch)}")
        patched = json_merge(live, patch) if isinstance(patch, dict) else patch
        return Patched(patched, lambda: as_json(patched))

    return Change(run, request.duplicates)


def _strategic(request: _Request) -> Change:
    patch = request.patch

    def run(live: Json) -> Patched:
        if patch is not None and not isinstance(patch, dict):
            raise bad_request(_no_map(patch))
        type = strategic_type(request.kind, request.subresource)
        try:
            patched, left = strategic_merge(live, patch or {}, type)
        except BadPatch as error:
            raise bad_request(str(error)) from error
        except UnprocessablePatch as error:
            raise failure(422, "Invalid", _REFUSED, StatusDetails()) from error
        except PatchFailure as error:
            raise ApiError(Status(code=500, message=str(error))) from error
        if (problem := misfit(type, patched)) is not None:
            raise unreadable(plain(left), problem)
        # What is patched is a Go struct, whose kind is not a field of it.
        return Patched({**patched, "apiVersion": live["apiVersion"], "kind": live["kind"]}, lambda: plain(left), converted=True)

    return Change(run, request.duplicates)


def strategic_type(kind: ServedKind, subresource: str) -> PatchType:
    """What a strategic merge patch goes by: the built-in kind, or the Scale that stands for it."""
    return patch_type(_SCALE if subresource == "scale" else kind.origin.schema_name)


def _no_map(patch: Json) -> str:
    return f"json: cannot unmarshal {go_type(patch)} into Go value of type map[string]interface {{}}"


_MAKERS: dict[str, Maker] = {JSON_PATCH: _json, MERGE_PATCH: _merge, STRATEGIC_MERGE_PATCH: _strategic}
