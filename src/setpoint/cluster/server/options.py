"""Query parameters and DeleteOptions, read as kube-apiserver reads them.

A parameter that means nothing to the verb is ignored, as there. A boolean that is absent, `0` or `false` is false, anything else is true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from setpoint.api import ApiError, GroupVersionKind, LabelSelector, Operation, SelectorError, parse_fields
from setpoint.api.operation import PROTOBUF, YAML
from setpoint.api.selectors import FieldRequirement
from setpoint.api.status import Status, StatusCause, bad_request, failure, invalid
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.metadata import MANAGER_LIMIT, go_type
from setpoint.cluster.server.protobuf import MalformedProtobuf, UnreadableObject, object_in
from setpoint.cluster.server.schema import FieldError, Json, MalformedBody, causes, decode_json, decode_yaml

FieldValidation: TypeAlias = Literal["Ignore", "Warn", "Strict"]

_META_GROUP = "meta.k8s.io"
_VALIDATIONS = ("", "Ignore", "Strict", "Warn")


class WriteOptions(msgspec.Struct, frozen=True):
    """What create, update and patch are told. `manager` is who will own the fields; `force` is for apply alone."""

    manager: str = "unknown"
    dry_run: bool = False
    validation: FieldValidation = "Warn"
    force: bool = False


class ListOptions(msgspec.Struct, frozen=True):
    """What list and watch are told. `resource_version` is None where it was not said; `send_initial_events` likewise."""

    labels: LabelSelector = LabelSelector()
    fields: tuple[FieldRequirement, ...] = ()
    limit: int = 0
    token: str = ""
    resource_version: int | None = None
    match: str = ""
    bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout: float | None = None

    @property
    def selective(self) -> bool:
        """Whether a selector was given."""
        return bool(self.labels or self.fields)


class DeleteOptions(msgspec.Struct, frozen=True):
    """What a delete is told."""

    uid: str | None = None
    resource_version: str | None = None
    grace_seconds: int | None = None
    policy: str = ""
    orphan_dependents: bool | None = None
    dry_run: bool = False


def boolean(options: Mapping[str, str], name: str) -> bool:
    """A flag among the query parameters."""
    return options.get(name, "0").lower() not in ("0", "false")


def whole_number(options: Mapping[str, str], name: str) -> int | None:
    """A whole number among the query parameters. Raises BadRequest in Go's words."""
    text = options.get(name)
    if text is None:
        return None
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text.lstrip("-+0")) > 19 or not -(2**63) <= int(text) < 2**63:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def manager_of(operation: Operation) -> str:
    """Who will own the fields: the `fieldManager` parameter, else the first part of the user agent."""
    named = operation.options.get("fieldManager", "")
    if named:
        return named
    agent = operation.user_agent.partition("/")[0]
    return "".join(character for character in agent if character.isprintable())[:MANAGER_LIMIT] or "unknown"


def write_options(operation: Operation, *, apply: bool = False) -> WriteOptions:
    """The options of a create, update or patch. Raises Invalid."""
    options = operation.options
    name = {"create": "CreateOptions", "update": "UpdateOptions"}.get(operation.verb, "PatchOptions")
    errors: list[FieldError] = []
    manager = options.get("fieldManager", "")
    if name == "PatchOptions":
        if apply and not manager:
            errors.append(causes.required("fieldManager", "is required for apply patch"))
        if not apply and "force" in options:
            errors.append(causes.forbidden("force", "may not be specified for non-apply patch"))
    if len(manager.encode()) > MANAGER_LIMIT:
        errors.append(causes.too_long("fieldManager", MANAGER_LIMIT))
    for at, character in enumerate(manager if not manager.isprintable() else ""):
        if not character.isprintable():
            shown = f"U+{ord(character):04X}"
            errors.append(causes.invalid("fieldManager", manager, f"invalid character {shown} (at position {at})"))
    dry_run = _dry_run(_all_of(operation, "dryRun"), errors)
    validation = options.get("fieldValidation", "")
    if validation not in _VALIDATIONS:
        errors.append(causes.not_supported("fieldValidation", validation, _VALIDATIONS))
    _refuse(name, errors)
    strictness: FieldValidation = "Ignore" if validation == "Ignore" else "Strict" if validation == "Strict" else "Warn"
    return WriteOptions(manager_of(operation), dry_run, strictness, boolean(options, "force"))


def _all_of(operation: Operation, name: str) -> list[str]:
    """Every value of a query parameter that may come more than once."""
    if name not in operation.options:
        return []
    return [operation.options[name], *(value for key, value in operation.arguments if key == name)]


def _dry_run(given: Json, errors: list[FieldError]) -> bool:
    values = [] if given is None else given if isinstance(given, list) else [given]
    if any(value != "All" for value in values):
        errors.append(causes.not_supported("dryRun", values, ("All",)))
    return bool(values)


def _refuse(name: str, errors: list[StatusCause]) -> None:
    if errors:
        raise invalid(_META_GROUP, name, "", errors)


def list_options(operation: Operation, kind: ServedKind, *, watch: bool = False) -> ListOptions:
    """The options of a list or a watch. Raises BadRequest and Invalid, for what the real server looks at first."""
    options = operation.options
    seconds = whole_number(options, "timeoutSeconds")
    limit = whole_number(options, "limit") or 0
    try:
        labels = LabelSelector.parse(options.get("labelSelector", ""))
        requirements = parse_fields(options.get("fieldSelector", ""))
    except SelectorError as error:
        raise bad_request(str(error)) from error
    version = options.get("resourceVersion", "")
    match = options.get("resourceVersionMatch", "")
    initial = boolean(options, "sendInitialEvents") if "sendInitialEvents" in options else None
    token = options.get("continue", "")
    errors = _watch_errors(match, version, initial, token) if watch else _list_errors(match, version, initial, token)
    _refuse("ListOptions", errors)
    return ListOptions(
        labels=labels,
        fields=_selectable(requirements, kind),
        limit=max(0, limit),
        token=token,
        resource_version=_stated_version(version, watch=watch, token=token),
        match=match,
        bookmarks=boolean(options, "allowWatchBookmarks"),
        send_initial_events=initial,
        timeout=float(seconds) if seconds else None,
    )


def _stated_version(version: str, *, watch: bool, token: str) -> int | None:
    if not version:
        return None
    if token and not watch and not version.isdigit():
        return 1  # a list that goes on takes no version, whatever it is
    return resource_version(version, listing=not watch)


def _selectable(requirements: tuple[FieldRequirement, ...], kind: ServedKind) -> tuple[FieldRequirement, ...]:
    """The requirements under the paths that the kind keeps. Raises BadRequest for fields that cannot be selected by."""
    requirements = tuple(each for each in requirements if each.path or each.value)  # what says nothing holds for everything
    for requirement in requirements:
        anywhere = kind.namespaced or not (kind.strategy.custom or kind.selectable)
        known = requirement.path == "metadata.name" or (requirement.path == "metadata.namespace" and anywhere)
        if not known and requirement.path not in kind.selectable:
            raise bad_request(kind.strategy.no_field(requirement.path, kind))
    return tuple(msgspec.structs.replace(requirement, path=kind.kept_path(requirement.path)) for requirement in requirements)


def resource_version(text: str, *, listing: bool = False) -> int:
    """A resourceVersion as a number. Raises what the real server does: BadRequest for a list, a plain 500 elsewhere."""
    if not text.isascii() or not text.isdigit() or len(text.lstrip("0")) > 20 or int(text) >= 2**64:
        problem = "value out of range" if text.isascii() and text.isdigit() else "invalid syntax"
        cause = causes.invalid("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": {problem}')
        message = f"resourceVersion: {cause.message}"
        raise bad_request(f"invalid resource version: {message}") if listing else ApiError(Status(code=500, message=message))
    return int(text)


def _list_errors(match: str, version: str, initial: bool | None, token: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if match:
        if not version:
            errors.append(causes.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided"))
        if token:
            errors.append(causes.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            errors.append(causes.not_supported("resourceVersionMatch", match, ("Exact", "NotOlderThan", "")))
        if match == "Exact" and version == "0":
            errors.append(causes.forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if initial is not None:
        errors.append(causes.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(match: str, version: str, initial: bool | None, token: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if initial is not None and match != "NotOlderThan":
        errors.append(causes.forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if match:
        if initial is None:
            errors.append(
                causes.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
            )
        if match != "NotOlderThan":
            errors.append(causes.not_supported("resourceVersionMatch", match, ("NotOlderThan",)))
    # Without any of these, a watch from the start is taken for one with initial events.
    if token and (match or (initial is None and version in ("", "0"))):
        errors.append(causes.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided"))
    return errors


def delete_options(operation: Operation) -> DeleteOptions:
    """The options of a delete: its body where there is one, else the query.

    Raises BadRequest and Invalid.
    """
    if operation.body.strip():
        given = _delete_body(operation)
    else:
        query = operation.options
        given = {
            "propagationPolicy": query.get("propagationPolicy"),
            "gracePeriodSeconds": whole_number(query, "gracePeriodSeconds"),
            "orphanDependents": boolean(query, "orphanDependents") if "orphanDependents" in query else None,
            "dryRun": _all_of(operation, "dryRun"),
        }
    errors: list[FieldError] = []
    policy, orphan = given.get("propagationPolicy"), given.get("orphanDependents")
    if policy and orphan is not None:
        errors.append(causes.invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"))
    if policy and policy not in ("Foreground", "Background", "Orphan"):
        errors.append(causes.not_supported("propagationPolicy", policy, ("Foreground", "Background", "Orphan", "nil")))
    dry_run = _dry_run(given.get("dryRun"), errors)
    _refuse("DeleteOptions", errors)
    preconditions = given.get("preconditions") or {}
    return DeleteOptions(
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        grace_seconds=given.get("gracePeriodSeconds"),
        policy=policy or "",
        orphan_dependents=orphan,
        dry_run=dry_run,
    )


_DELETE_OPTIONS = GroupVersionKind("", "v1", "DeleteOptions")
_DELETE_FIELDS: dict[str, tuple[type, str]] = {
    "gracePeriodSeconds": (int, "int64"),
    "preconditions": (dict, "v1.Preconditions"),
    "orphanDependents": (bool, "bool"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "dryRun": (list, "[]string"),
}


def _delete_body(operation: Operation) -> dict[str, Json]:
    """The DeleteOptions in a body, each field of its type."""
    try:
        body, _ = read_body(operation, _DELETE_OPTIONS)
    except MalformedBody as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error
    except (MalformedProtobuf, UnreadableObject) as error:
        raise bad_request(str(error)) from error
    if not isinstance(body, dict):
        raise bad_request("couldn't get version/kind; json parse error: DeleteOptions must be an object")
    kind, version = body.get("kind") or "DeleteOptions", body.get("apiVersion") or "v1"
    if kind != "DeleteOptions":
        raise bad_request(f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:111"')
    for name, (wanted, called) in _DELETE_FIELDS.items():
        value = body.get(name)
        if value is not None and type(value) is not wanted:
            raise bad_request(f"json: cannot unmarshal {go_type(value)} into Go struct field DeleteOptions.{name} of type {called}")
    return {name: body.get(name) for name in _DELETE_FIELDS}


def read_body(operation: Operation, expected: GroupVersionKind | None) -> tuple[Json, list[str]]:
    """The body as plain JSON values, and the paths of keys that occur twice. Raises MalformedBody, or UnsupportedMediaType.

    `expected` is the kind of a body that has a form in protobuf; in that form, raises MalformedProtobuf and UnreadableObject too.
    """
    media = operation.content_type.partition(";")[0].strip().lower()
    if media in ("", "application/json"):
        return decode_json(operation.body)
    if media == YAML:
        return decode_yaml(operation.body)
    if media == PROTOBUF and expected is not None:
        return object_in(operation.body, expected), []
    if media == PROTOBUF:
        raise unsupported_media("application/json, application/yaml; custom resources have no form in protobuf")
    raise unsupported_media(f"application/json, application/yaml, {PROTOBUF}")


def unsupported_media(accepted: str) -> ApiError:
    """415, naming what is read."""
    return failure(
        415, "UnsupportedMediaType", f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    )
