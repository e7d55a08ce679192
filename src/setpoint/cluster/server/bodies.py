"""What a request's body holds: an object of the right kind, complete and without unknown fields, before the write path gets it.

Pure, like `write`. What is wrong with a body is said in the real server's words, which depend on how far its reading got.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from setpoint.api import ApiError
from setpoint.api.names import split_api_version
from setpoint.api.status import bad_request, invalid
from setpoint.cluster.server.builtin.go_types import registered
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.metadata import go_type, read_metadata
from setpoint.cluster.server.options import FieldValidation
from setpoint.cluster.server.schema import (
    Json,
    causes,
    drop_nulls,
    embedded_problem,
    metadata_problem,
    prune,
    settle,
    tidy_embedded,
    unsettle,
)
from setpoint.cluster.server.schema.gotext import as_json
from setpoint.cluster.server.write import Object, Target


def read_object(
    target: Target,
    body: Json,
    repeated: Sequence[str],
    *,
    applied: bool = False,
    problems: Sequence[str] = (),
    before: Object | None = None,
) -> Object:
    """The object that a body holds: of the right kind, complete and without unknown fields. `repeated` are duplicate keys.

    `problems` are what else strict validation has against the request.
    `applied` says that it is what a server-side apply has made: such an object is completed, but not read again from the start.
    `before` is an object of the kind that has been read. Fields that the body shares with it, the very same values, stay as they are.
    """
    kind = target.kind
    obj = _identified(kind, body)
    if before is not None:
        obj = settle(obj, before)
    # A custom resource of another kind is refused, but only when it has been read as far as one of an unknown kind can be.
    other = obj["kind"] != kind.kind
    strict = _Strictness(target.options.validation)
    strict.found(problems)
    strict.report(repeated, "duplicate field")
    if kind.structural is not None:
        obj, unknown = prune(obj, kind.structural)
        if other:
            unknown = [path for path in unknown if path.startswith("metadata.")]
        if not (applied and kind.strategy.custom):
            # The schema has been asked about what is applied before; what it lets through goes without a word.
            strict.report(unknown, "unknown field")
    if kind.structural is not None and kind.structural.has_embedded:
        if (problem := embedded_problem(drop_nulls(obj, kind.structural), kind.structural)) is not None:
            raise bad_request(
                f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {problem.field}: {problem.message}'
            )
        obj = tidy_embedded(obj, kind.structural)
    # What Go cannot read into its structs it refuses before anything else; a custom resource is only then looked at more closely.
    read = None if kind.strategy.custom else complete(kind, obj, applied=applied)
    if strict.problems and strict.refuse:
        version, name = split_api_version(obj["apiVersion"])[1], obj["kind"]
        problems = ", ".join(strict.problems)
        raise bad_request(f'{name} in version "{version}" cannot be handled as a {name}: strict decoding error: {problems}')
    target.warnings.extend(strict.problems)
    if other:
        raise invalid(kind.group, obj["kind"], _name(obj), [causes.invalid("kind", obj["kind"], f"must be {kind.kind}")])
    return complete(kind, obj, applied=applied) if read is None else read


@dataclass(slots=True)
class _Strictness:
    validation: FieldValidation
    problems: list[str] = field(default_factory=list)

    @property
    def refuse(self) -> bool:
        return self.validation == "Strict"

    def report(self, paths: Sequence[str], what: str) -> None:
        self.found([f'{what} "{path}"' for path in paths])

    def found(self, problems: Sequence[str]) -> None:
        if self.validation != "Ignore":
            self.problems += problems


def _identified(kind: ServedKind, body: Json) -> Object:
    """The body with its apiVersion and kind, which must be those of the endpoint; built-in kinds may leave them out."""
    if body is None and not kind.strategy.custom:
        body = {}
    if not isinstance(body, dict):
        raise unrecognized(kind, body, not_an_object(body))
    if not kind.strategy.custom:
        body = {**body, "apiVersion": body.get("apiVersion") or kind.api_version, "kind": body.get("kind") or kind.kind}
    for name_of in ("apiVersion", "kind"):
        if not isinstance(body.get(name_of) or "", str):
            why = f"json: cannot unmarshal {go_type(body[name_of])} into Go struct field .{name_of} of type string"
            raise unrecognized(kind, body, f"couldn't get version/kind; json parse error: {why}")
    api_version, name = body.get("apiVersion") or "", body.get("kind")
    if not name:
        raise unrecognized(kind, body, f"Object 'Kind' is missing in '{as_json(body)}'")
    if kind.strategy.custom:
        metadata = body.get("metadata")
        # Go has written it down before it reads it: its keys are in order.
        if (problem := metadata_problem(dict(sorted(metadata.items())) if isinstance(metadata, dict) else metadata)) is not None:
            version = split_api_version(api_version)[1]
            raise bad_request(f'{name} in version "{version}" cannot be handled as a {kind.kind}: {problem}')
        if api_version != kind.api_version:
            raise bad_request(f"the API version in the data ({api_version}) does not match the expected API version ({kind.api_version})")
    elif api_version != kind.api_version or name != kind.kind:
        version = split_api_version(api_version)[1]
        if (*split_api_version(api_version), name) in registered():
            package = (kind.group or "core").partition(".")[0]
            why = f"converting ({version}.{name}) to ({package}.{kind.kind}): unknown conversion"
        else:
            why = f'no kind "{name}" is registered for version "{api_version}" in scheme "pkg/runtime/scheme.go:111"'
        raise bad_request(f'{name} in version "{version}" cannot be handled as a {kind.kind}: {why}')
    found: Object = body
    return found


_NO_OBJECT = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct "
    '{{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_SUMMARY = 30


def not_an_object(body: Json) -> str:
    """Why a JSON value that is no object cannot be read as one."""
    return _NO_OBJECT.format(go_type(body)) if body is not None else "Object 'Kind' is missing in 'null'"


def unrecognized(kind: ServedKind, body: Json | bytes, why: str) -> ApiError:
    """400 for a body that is no object at all, with the beginning of the body as the real server shows it."""
    raw = body if isinstance(body, bytes) else as_json(body).encode()
    more = " ..." if len(raw) > _SUMMARY else ""
    shown = (raw[:_SUMMARY].decode(errors="replace") if raw.startswith(b"{") else raw[:_SUMMARY].hex()) + more if raw else "<empty>"
    return bad_request(f"the object provided is unrecognized (must be of type {kind.kind}): {why} ({shown})")


def _name(body: Object) -> str:
    metadata = body.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return name if isinstance(name, str) else ""


def complete(kind: ServedKind, obj: Object, *, applied: bool = False) -> Object:
    """The object as it is kept: metadata read and tidied, nulls dropped, defaults filled in. Raises BadRequest for malformed metadata.

    Nulls that were `applied` to a custom resource stay, for its schema to judge.
    """
    given = obj.get("metadata")
    metadata = read_metadata(kind, given)
    if metadata is not given:
        obj = {**obj, "metadata": metadata}
    return unsettle(kind.strategy.fill(obj, kind) if applied else kind.strategy.complete(obj, kind))
