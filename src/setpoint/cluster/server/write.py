"""The write path: what becomes of an object that somebody creates, changes or applies.

Everything here is a function of the live object, the request, the kind and `Means` (the time, fresh identifiers): nothing reads a store or
a clock. So it can be tested by tables, compared with the real server, and remembered. Functions give a `Draft`, or raise an `ApiError`.

Objects are plain JSON values. A draft may share parts with the live object, which nobody changes in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from setpoint.api import ApiError
from setpoint.api.status import Status, StatusCause, StatusDetails, bad_request, conflict, error_of, failure, invalid, modified
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.metadata import go_type, validate_embedded_metadata, validate_metadata, validate_metadata_update
from setpoint.cluster.server.options import WriteOptions
from setpoint.cluster.server.schema import FieldError, Json, causes
from setpoint.cluster.server.structured import ApplyConflict, ApplyInvalid, apply, same_but_for_timestamps, track_update
from setpoint.cluster.server.structured.values import same

Object = dict[str, Json]

_SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_PREFIX_LIMIT = 58
_SET_BY_SERVER = ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_RESET_BY_MAIN = (("status",),)


@dataclass(frozen=True, slots=True)
class Means:
    """What a write needs from outside: the time (RFC 3339, whole seconds), a new UID, letters of an alphabet."""

    now: str
    uid: Callable[[], str]
    token: Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a write goes, and how."""

    kind: ServedKind
    namespace: str
    name: str
    subresource: str
    options: WriteOptions
    warnings: list[str] = field(default_factory=list)
    """What the client is told besides; appended to."""


@dataclass(slots=True)
class Draft:
    """An object ready to be stored. `live` is what it replaces; `gone` says that the last thing to hold a terminating object has let go."""

    obj: Object
    live: Object | None = None
    gone: bool = False

    @property
    def changed(self) -> bool:
        """Whether there is anything to write. Times in managedFields alone are nothing."""
        return self.live is None or self.gone or not same(self.obj, self.live)


# --------------------------------------------------------------------------------------------------------------- create


def create(target: Target, obj: Object, means: Means, *, applied: bool = False, replaces: bool = False) -> Draft:
    """A new object from what was read (`read_object`), named and owned. Raises BadRequest and Invalid.

    With `applied` the ownership has been recorded already. With `replaces` it was meant to replace an object that is not there, so that it
    may state a version.
    """
    kind = target.kind
    obj = _placed(target, obj)
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _SET_BY_SERVER}
    version, dry = metadata.pop("resourceVersion", ""), target.options.dry_run
    obj = {**obj, "metadata": metadata}
    if not applied:
        obj = tracked(target, None, obj, means)
    metadata = obj["metadata"] = dict(obj["metadata"])
    metadata["uid"] = means.uid()
    metadata["creationTimestamp"] = means.now
    if dry and version and not replaces:
        metadata["resourceVersion"] = version  # nothing is stored, so nothing takes its place
    prefix = metadata.get("generateName")
    if prefix and not metadata.get("name"):
        metadata["name"] = prefix[:_PREFIX_LIMIT] + means.token(_SUFFIX_ALPHABET, 5)
    if kind.has_status and not kind.strategy.keeps_first_status:
        obj.pop("status", None)
    if kind.strategy.generation:
        metadata["generation"] = 1
    kind.strategy.prepare_create(obj, kind)
    if not target.subresource:
        kind.strategy.allocate(obj)
    _deduplicate_owners(obj["metadata"], target.warnings)
    errors = validate_metadata(obj["metadata"], namespaced=kind.namespaced, rule=kind.strategy.name_rule)
    errors += kind.strategy.validate(obj, None, kind)
    errors += _embedded(kind, obj)
    if errors and not kind.strategy.custom:
        errors = list(dict.fromkeys(errors))
    if errors:
        raise invalid(kind.judged_group, kind.kind, metadata.get("name", ""), errors)
    if version.isdigit() and int(version) and not (applied or replaces or dry):
        raise ApiError(Status(code=500, message="resourceVersion should not be set on objects to be created"))
    kind.strategy.finish(obj, None, means.now, target.warnings)
    return Draft(obj)


def _embedded(kind: ServedKind, obj: Object) -> list[FieldError]:
    schema = kind.structural
    return validate_embedded_metadata(obj, schema) if schema is not None and schema.has_embedded else []


def _placed(target: Target, obj: Object) -> Object:
    """The object in the request's namespace, and, where the request names one, under its name."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    if target.kind.namespaced and not namespace:
        metadata = {**metadata, "namespace": target.namespace}
    elif namespace != target.namespace:
        if not target.kind.namespaced:
            # What is in no namespace forgets the one that it was sent with.
            return {**obj, "metadata": {key: value for key, value in metadata.items() if key != "namespace"}}
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    return obj if metadata is obj["metadata"] else {**obj, "metadata": metadata}


def _deduplicate_owners(metadata: Object, warnings: list[str]) -> None:
    owners = metadata.get("ownerReferences")
    if not owners or len(owners) < 2:
        return
    kept: list[Json] = []
    twice: dict[str, None] = {}
    for owner in owners:
        if owner not in kept:
            kept.append(owner)
        else:
            twice[owner.get("uid", "")] = None
    if twice:
        metadata["ownerReferences"] = kept
        warnings.append(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "
            f"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {', '.join(twice)}"
        )


def tracked(target: Target, live: Object | None, obj: Object, means: Means) -> Object:
    """The object with its ownership brought up to date, for all writes but apply."""
    return track_update(
        live,
        obj,
        target.kind.typed,
        manager=target.options.manager,
        api_version=target.kind.api_version,
        subresource=target.subresource,
        now=means.now,
        reset=_reset(target),
        versions=target.kind.typed_versions,
    )


def _reset(target: Target) -> Sequence[Sequence[str]]:
    if target.subresource == "status":
        keeps = target.kind.strategy.status_keeps
        return (("spec",), *((("metadata",),) if keeps is None else (("metadata", field) for field in keeps)))
    return _RESET_BY_MAIN if target.kind.has_status else ()


# --------------------------------------------------------------------------------------------------------------- update


def check_identity(target: Target, obj: Object) -> None:
    """Raises BadRequest if the object is named otherwise than the URL names it."""
    name = obj["metadata"].get("name", "")
    if not name:
        raise bad_request(f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided")
    if name != target.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({target.name})")


def update(target: Target, live: Object, obj: Object, means: Means, *, applied: bool = False) -> Draft:
    """The live object replaced by what was read, as far as this endpoint may change it. Raises BadRequest, Conflict and Invalid."""
    kind, strategy = target.kind, target.kind.strategy
    obj = _placed(target, obj)
    was = live["metadata"]
    if not applied:
        obj = tracked(target, live, obj, means)
    _check_version(target, obj["metadata"].get("resourceVersion", ""), was["resourceVersion"])

    if target.subresource == "status":
        obj = _only_status(obj, live, strategy.status_keeps)
    else:
        obj = dict(obj)
        if kind.has_status:
            _keep(obj, live, "status")
    metadata = obj["metadata"] = {**obj["metadata"], "resourceVersion": was["resourceVersion"]}
    metadata["uid"] = metadata.get("uid") or was["uid"]
    for key in ("creationTimestamp", "generation", "deletionTimestamp"):
        _keep(metadata, was, key, required=key == "deletionTimestamp")
    if "deletionGracePeriodSeconds" not in metadata and "deletionGracePeriodSeconds" in was:
        metadata["deletionGracePeriodSeconds"] = was["deletionGracePeriodSeconds"]
    strategy.prepare_update(obj, live, kind, target.subresource)
    metadata = obj["metadata"] = {**obj["metadata"]}
    if strategy.generation and target.subresource != "status" and strategy.counts(obj, live):
        metadata["generation"] = was.get("generation", 0) + 1
    if target.subresource != "status":
        _deduplicate_owners(metadata, target.warnings)
    errors = validate_metadata(metadata, namespaced=kind.namespaced)
    errors += strategy.validate_status(obj, live, kind) if target.subresource == "status" else strategy.validate(obj, live, kind)
    errors += _embedded(kind, obj)
    # Custom resources are asked twice about changes of their metadata: once by their schema's validation, once by everybody's.
    changed = validate_metadata_update(metadata, was)
    errors = [*changed, *changed, *dict.fromkeys(errors)] if strategy.metadata_judged_twice else list(dict.fromkeys([*changed, *errors]))
    if errors:
        raise invalid(kind.judged_group, kind.kind, target.name, errors)
    # What there is to warn of is not said again to who writes the status alone.
    strategy.finish(obj, live, means.now, [] if target.subresource == "status" else target.warnings)
    if same_but_for_timestamps(live, obj):
        obj = live
    gone = "deletionTimestamp" in metadata and not metadata.get("finalizers") and strategy.ready_to_go(obj)
    if gone and metadata.get("deletionGracePeriodSeconds"):
        gone = False
    return Draft(obj, live, gone)


_KEPT_UNDER = {
    "customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions",
    "endpoints": "services/endpoints",
    "ingresses": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
"""Where the real server keeps kinds of these plurals; all others under the plural."""


def check_uid(target: Target, live: Object | None, obj: Object) -> None:
    """The UID in a PUT is a precondition, also where nothing is (`live` is None). Raises Conflict."""
    kind, wanted, found = target.kind, obj["metadata"].get("uid"), live["metadata"]["uid"] if live is not None else ""
    if wanted and wanted != found:
        place = f"{kind.group}/{kind.plural}" if kind.strategy.custom else _KEPT_UNDER.get(kind.plural, kind.plural)
        root = "" if target.options.dry_run else "/registry"
        key = f"{root}/{place}/{kind.key(target.namespace, target.name)}"
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        raise conflict(
            kind.resource,
            target.name,
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}",
        )


def _check_version(target: Target, said: str, live: str) -> None:
    kind = target.kind
    if said in ("", "0"):
        if not kind.strategy.unconditional_update:
            cause = causes.invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid(kind.group, kind.plural, target.name, [cause])
    elif not said.isascii() or not said.isdigit():
        raise ApiError(Status(code=500, message=f'strconv.ParseUint: parsing "{said}": invalid syntax'))
    elif said != live:
        raise modified(kind.resource, target.name)


def _only_status(obj: Object, live: Object, keeps: Sequence[str] | None) -> Object:
    """The live object with the status of another, and with as much of its metadata as is not kept; its ownership in any case."""
    result = dict(live)
    _keep(result, obj, "status")
    if keeps is None:
        result["metadata"] = dict(live["metadata"])
        _keep(result["metadata"], obj["metadata"], "managedFields")
    else:
        result["metadata"] = dict(obj["metadata"])
        for field in keeps:
            _keep(result["metadata"], live["metadata"], field)
    return result


def _keep(obj: Object, source: Object, key: str, *, required: bool = False) -> None:
    """What `source` has at a key; nothing if it has nothing (with `required`, then it stays as it is)."""
    if key in source:
        obj[key] = source[key]
    elif not required:
        obj.pop(key, None)


# ---------------------------------------------------------------------------------------------------------------- apply


def applied_object(target: Target, live: Object | None, body: Json, means: Means) -> Object:
    """The live object (None: there is none) with an apply patch merged into it. Raises BadRequest, Conflict, and what apply refuses."""
    kind = target.kind
    if not isinstance(body, dict):
        why = f"json: cannot unmarshal {go_type(body)} into Go value of type map[string]interface {{}}"
        raise bad_request(f"error decoding patch: error unmarshaling JSON: while decoding JSON: {why}")
    api_version, name = body.get("apiVersion", ""), body.get("kind", "")
    if api_version != kind.api_version or name != kind.kind:
        group_version = api_version if "/" in str(api_version) else f"/{api_version}"
        raise bad_request(f"invalid object type: {group_version}, Kind={name}")
    metadata = body.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise bad_request("error decoding YAML: metadata must be an object")
    if metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    try:
        return apply(
            live,
            body,
            kind.typed,
            manager=target.options.manager,
            force=target.options.force,
            api_version=kind.api_version,
            subresource=target.subresource,
            now=means.now,
            reset=_reset(target),
            versions=kind.typed_versions,
            blank=kind.strategy.blank(kind) if live is not None and not live["metadata"].get("managedFields") else {},
        )
    except ApplyConflict as error:
        raise _apply_conflict(error) from error
    except ApplyInvalid as error:
        raise ApiError(Status(code=500, message=str(error))) from error


def _apply_conflict(error: ApplyConflict) -> ApiError:
    details = StatusDetails(causes=[StatusCause("FieldManagerConflict", f"conflict with {who}", where) for who, where in error.causes])
    return failure(409, "Conflict", error.message, details)


def unable_to_name(error: ApiError) -> ApiError:
    """What is said when no free name was found for a generateName."""
    status = error.status
    details = status.details or StatusDetails()
    details.retry_after_seconds = 1
    message = f"{status.message}, the server was not able to generate a unique name for the object"
    return error_of(Status(code=409, reason="AlreadyExists", message=message, details=details))
