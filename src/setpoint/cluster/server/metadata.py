"""The rules that the metadata of every object obeys, whatever its kind, with the words of kube-apiserver.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from setpoint.api.status import bad_request
from setpoint.cluster.server import names
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.schema import FieldError, Json, Structural, causes, embedded_resources, tidy_metadata
from setpoint.cluster.server.schema.gotext import as_json, quote
from setpoint.cluster.server.schema.metadata import metadata_problem

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
MANAGER_LIMIT = 128
"""Bytes that the name of who owns fields may have."""
_ANNOTATIONS_LIMIT = 256 * 1024
_IMMUTABLE = "field is immutable"
_IMMUTABLE_FIELDS = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


_GO_TYPES = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}


def go_type(value: Json) -> str:
    """What Go's JSON decoder calls a value."""
    return _GO_TYPES.get(type(value), "null")


def read_metadata(kind: ServedKind, metadata: Json) -> dict[str, Json]:
    """An object's metadata, tidied. Raises BadRequest, in Go's words, for what has the wrong type."""
    if (problem := metadata_problem(metadata)) is not None:
        if not kind.strategy.custom:
            problem = problem.replace("ObjectMeta.", "ObjectMeta.metadata.", 1)
        raise bad_request(f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {problem}')
    tidied = tidy_metadata(metadata or {})
    # In a Go struct, empty managedFields are not none: they forget all owners, and are gone once that is done.
    forgets = not kind.strategy.custom and metadata and metadata.get("managedFields") == []
    return {**tidied, "managedFields": []} if forgets else tidied


def validate_metadata(meta: Mapping[str, Json], *, namespaced: bool, rule: names.NameRule = names.path_segment) -> list[FieldError]:
    """What is wrong with an object's metadata, once its name has been generated."""
    errors: list[FieldError] = []
    if prefix := meta.get("generateName"):
        errors += [causes.invalid("metadata.generateName", prefix, problem) for problem in rule(prefix, True)]
    if name := meta.get("name"):
        errors += [causes.invalid("metadata.name", name, problem) for problem in rule(name, False)]
    else:
        errors.append(causes.required("metadata.name", "name or generateName is required"))
    namespace = meta.get("namespace")
    if namespaced:
        if not namespace:
            errors.append(causes.required("metadata.namespace"))
        else:
            errors += [causes.invalid("metadata.namespace", namespace, problem) for problem in names.dns_label(namespace)]
    elif namespace:
        errors.append(causes.forbidden("metadata.namespace", "not allowed on this type"))
    errors += _described(meta)
    errors += _finalizers(meta.get("finalizers") or ())
    return errors + _managed_fields(meta.get("managedFields") or ())


def validate_embedded_metadata(obj: Json, schema: Structural) -> list[FieldError]:
    """What is wrong with the metadata of the resources inside an object. They need no name."""
    errors: list[FieldError] = []
    for path, resource in embedded_resources(obj, schema):
        meta = resource.get("metadata")
        if isinstance(meta, dict):
            found = validate_metadata({**meta, "name": meta.get("name") or "fakename"}, namespaced=bool(meta.get("namespace")))
            errors += [FieldError(error.reason, error.message, f"{path}.{error.field}") for error in found]
    return errors


def validate_metadata_update(new: Mapping[str, Json], old: Mapping[str, Json]) -> list[FieldError]:
    """What of the metadata may not change, or not in this way; and once more what is wrong with what describes the object."""
    errors: list[FieldError] = []
    if "deletionTimestamp" in old:
        had = old.get("finalizers") or ()
        added = sorted({finalizer: None for finalizer in new.get("finalizers") or () if finalizer not in had})
        if added:
            shown = "[]string{" + ", ".join(map(quote, added)) + "}"
            errors.append(
                causes.forbidden(
                    "metadata.finalizers", f"no new finalizers can be added if the object is being deleted, found new finalizers {shown}"
                )
            )
    for field in _IMMUTABLE_FIELDS:
        if new.get(field) != old.get(field):
            errors.append(causes.invalid(f"metadata.{field}", new.get(field), _IMMUTABLE))
    return [*errors, *_described(new)]


def _described(meta: Mapping[str, Json]) -> list[FieldError]:
    """What is wrong with labels, annotations and owners."""
    errors = [*_labels(meta.get("labels") or {}), *_annotations(meta.get("annotations") or {})]
    return [*errors, *_owners(meta.get("ownerReferences") or ())]


def _labels(labels: Mapping[str, str]) -> Iterable[FieldError]:
    for key, value in labels.items():
        for problem in names.label_key(key):
            yield causes.invalid("metadata.labels", key, problem)
        for problem in names.label_value(value):
            yield causes.invalid("metadata.labels", value, problem)


def _annotations(annotations: Mapping[str, str]) -> Iterable[FieldError]:
    size = 0
    for key, value in annotations.items():
        size += len(key.encode()) + len(value.encode())
        for problem in names.label_key(key.lower()):
            yield causes.invalid("metadata.annotations", key, problem)
    if size > _ANNOTATIONS_LIMIT:
        yield causes.too_long("metadata.annotations", _ANNOTATIONS_LIMIT)


def _owners(owners: Iterable[Mapping[str, Json]]) -> Iterable[FieldError]:
    first = ""
    for index, owner in enumerate(owners):
        at = f"metadata.ownerReferences[{index}]"
        version = owner.get("apiVersion") or ""
        if version and (version.count("/") > 1 or version.endswith("/")):
            yield causes.invalid(f"{at}.apiVersion", version, "must be <group>/<version> or <version>")
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                yield causes.required(f"{at}.{field}", "must not be empty")
        if version == "v1" and owner.get("kind") == "Event":
            yield _refused(at, _shown(owner), "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller") is True:
            here = f"{owner.get('kind')}/{owner.get('name')}"
            if first:
                yield _refused(
                    "metadata.ownerReferences",
                    f"[{','.join(map(_shown, owners))}]",
                    f'Only one reference can have Controller set to true. Found "true" in references for {first} and {here}',
                )
            else:
                first = here


def _shown(owner: Mapping[str, Json]) -> str:
    """An owner reference as Go writes it: in the order of its struct."""
    stated = [(field, owner.get(field) or "") for field in ("apiVersion", "kind", "name", "uid")]
    stated += [(field, owner[field]) for field in ("controller", "blockOwnerDeletion") if owner.get(field) is not None]
    return "{" + ",".join(f'"{field}":{as_json(value)}' for field, value in stated) + "}"


def _refused(field: str, shown: str, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", f"Invalid value: {shown}: {detail}", field)


def _finalizers(finalizers: Iterable[str]) -> Iterable[FieldError]:
    for finalizer in finalizers:
        for problem in names.label_key(finalizer):
            yield causes.invalid("metadata.finalizers", finalizer, problem)
    if FOREGROUND in finalizers and ORPHAN in finalizers:
        yield causes.invalid("metadata.finalizers", list(finalizers), f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set")


def _managed_fields(entries: Iterable[Mapping[str, Json]]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, entry in enumerate(entries):
        at = f"metadata.managedFields[{index}]"
        operation = entry.get("operation")
        if not operation:
            errors.append(causes.required(f"{at}.operation", "must not be empty"))
        elif operation not in ("Apply", "Update"):
            errors.append(causes.not_supported(f"{at}.operation", operation, ("Apply", "Update")))
        if len((entry.get("manager") or "").encode()) > MANAGER_LIMIT:
            errors.append(causes.too_long(f"{at}.manager", MANAGER_LIMIT))
        if entry.get("fieldsType") not in (None, "", "FieldsV1"):
            errors.append(causes.invalid(f"{at}.fieldsType", entry["fieldsType"], "must be `FieldsV1`"))
    return errors
