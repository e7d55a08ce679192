"""Kubernetes' layer of server-side apply: `metadata.managedFields` on top of `update`.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers. Functions of JSON objects alone; the time is an argument.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from . import update as rules
from .atoms import TypedSchema
from .compare import Comparison, compare, field_set
from .fieldset import EMPTY, FieldSet, display_path
from .validate import explain, validate
from .values import StructureError, same

__all__ = ["ApplyConflict", "ApplyInvalid", "Manager", "apply", "same_but_for_timestamps", "track_update"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_MAX_ANNOTATIONS = 256 * 1024  # bytes of all keys and values together
_MAX_UPDATERS = 10

Operation = Literal["Apply", "Update"]


class ApplyInvalid(ValueError):
    """What is applied does not fit the schema, or the live object's managedFields cannot be read."""


class ApplyConflict(Exception):
    """The apply would change fields that others own; the server answers 409.

    ``causes`` are pairs of who owns (as the message names them: ``"mgr" using v1``) and the field's path (``.spec.replicas``);
    ``message`` is what kubectl prints.
    """

    def __init__(self, causes: Sequence[tuple[str, str]], message: str) -> None:
        super().__init__(message)
        self.causes = list(causes)
        self.message = message


@dataclass(frozen=True, slots=True)
class Manager:
    """Who owns fields. One applier is the same in all versions, so its ``api_version`` is left empty here; an updater has one entry
    each."""

    name: str
    operation: Operation
    api_version: str
    subresource: str

    @classmethod
    def of(cls, name: str, operation: Operation, api_version: str, subresource: str) -> "Manager":
        return cls(name or "unknown", operation, "" if operation == "Apply" else api_version, subresource)

    @property
    def identity(self) -> str:
        """The text by which managers are sorted."""
        parts = {"manager": self.name, "operation": self.operation, "apiVersion": self.api_version, "subresource": self.subresource}
        return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        text = _quoted(self.name)
        if self.subresource:
            text += f" with subresource {_quoted(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------------------ entries


@dataclass(frozen=True, slots=True)
class _Entry:
    """One manager's part. ``wire`` is the entry's fieldsV1 as it was read: unchanged sets need not be written anew."""

    api_version: str
    fields: FieldSet
    time: str | None
    wire: dict[str, Any] | None = None

    def owning(self, fields: FieldSet) -> "_Entry":
        return self if fields is self.fields else replace(self, fields=fields, wire=None)


_Entries = dict[Manager, _Entry]


def _decode(managed: Any) -> _Entries:
    """Raises ValueError if the list is not what managedFields may be."""
    entries: _Entries = {}
    if not isinstance(managed, list):
        raise ValueError("managedFields must be a list")
    for position, entry in enumerate(managed):
        if not isinstance(entry, Mapping):
            raise ValueError(f"managed fields entry {position} is not an object")
        operation = entry.get("operation")
        if operation not in ("Apply", "Update"):
            raise ValueError("operation must be `Apply` or `Update`")
        api_version = entry.get("apiVersion")
        if not api_version or not isinstance(api_version, str):
            raise ValueError("apiVersion must not be empty")
        fields_type = entry.get("fieldsType")
        if fields_type != "FieldsV1":
            raise ValueError(
                f"invalid fieldsType {_quoted(str(fields_type))} in managed fields entry {position}"
                if fields_type
                else f"missing fieldsType in managed fields entry {position}"
            )
        wire = entry.get("fieldsV1") or {}
        if not isinstance(wire, dict):
            raise ValueError(f"fieldsV1 of managed fields entry {position} is not an object")
        # An entry without manager keeps its empty name: only requests without one are put down to "unknown".
        manager = Manager(
            entry.get("manager") or "", operation, "" if operation == "Apply" else api_version, entry.get("subresource") or ""
        )
        entries[manager] = _Entry(api_version, FieldSet.from_wire(wire), _time(entry.get("time")), wire)
    return entries


def _encode(entries: _Entries) -> list[dict[str, Any]]:
    def order(item: tuple[Manager, _Entry]) -> tuple[str, ...]:
        manager, entry = item
        return (manager.operation, entry.time or "", manager.name, entry.api_version, manager.subresource)

    encoded = []
    for manager, entry in sorted(entries.items(), key=order):
        wire: dict[str, Any] = {"manager": manager.name} if manager.name else {}
        wire["operation"] = manager.operation
        wire["apiVersion"] = entry.api_version
        if entry.time is not None:
            wire["time"] = entry.time
        wire["fieldsType"] = "FieldsV1"
        wire["fieldsV1"] = entry.fields.to_wire() if entry.wire is None else entry.wire
        if manager.subresource:
            wire["subresource"] = manager.subresource
        encoded.append(wire)
    return encoded


def _time(text: Any) -> str | None:
    """A time as metav1.Time writes it: UTC, whole seconds. Raises ValueError if it is not one."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError("a time is a string")
    if len(text) == 20 and text[10] == "T" and text[19] == "Z":
        return text
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _managed_fields(thing: Mapping[str, Any] | None) -> Any:
    metadata = None if thing is None else thing.get("metadata")
    return metadata.get("managedFields") if isinstance(metadata, Mapping) else None


def _with_managed_fields(thing: dict[str, Any], managed: Any) -> dict[str, Any]:
    """The object with these managedFields; without any if there are none."""
    metadata = {key: value for key, value in (thing.get("metadata") or {}).items() if key != "managedFields"}
    if managed:
        metadata["managedFields"] = managed
    return {**thing, "metadata": metadata}


# ------------------------------------------------------------------------------------------------------------- update

_NEVER_OWNED = FieldSet.of(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(
        ("f:metadata", "f:" + name)
        for name in (
            "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
        )
    ),
)  # fmt: skip


def track_update(
    live: dict[str, Any] | None,
    new: dict[str, Any],
    schema: TypedSchema,
    *,
    manager: str,
    api_version: str,
    subresource: str,
    now: str,
    reset: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """``new`` with its managedFields brought up to date: for creates (``live`` is None), puts and all patches but apply.

    The request may edit managedFields (not through a subresource); ``[]`` or ``[{}]`` forget all owners, after which none are recorded
    until the first apply; missing or unreadable ones are taken from ``live``. ``now`` is an RFC 3339 time with seconds, which only owners
    who gain something get. ``reset`` are the paths (field names) whose ownership this endpoint does not record. Never fails: where
    objects cannot be compared, the live managedFields stay.
    """
    if not isinstance(new.get("metadata") or {}, Mapping):
        return new
    stored, bare = _managed_fields(live), _with_managed_fields(new, None)
    before = {} if live is None else _with_managed_fields(live, None)
    try:
        change = compare(schema.root, before, bare).without(_reset(reset))
    except StructureError:
        return _with_managed_fields(bare, stored)
    if live is not None and not change and (subresource or _managed_fields(new) in (None, stored)):
        return _with_managed_fields(bare, stored)
    entries = _entries_of_update(live, new, subresource)
    if not entries and live is not None:
        return bare
    writer = Manager.of(manager, "Update", api_version, subresource)
    return _with_managed_fields(bare, _encode(_track(change, schema, entries, writer, api_version, now)))


def _entries_of_update(live: dict[str, Any] | None, new: dict[str, Any], subresource: str) -> _Entries:
    for managed in (_managed_fields(live),) if subresource else (_managed_fields(new), _managed_fields(live)):
        if not subresource and managed is not None and managed is _managed_fields(new) and managed in ([], [{}]):
            return {}
        if managed:
            try:
                return _decode(managed)
            except ValueError:
                continue  # the next best: what is stored, else nothing
    return {}


def _track(change: Comparison, schema: TypedSchema, entries: _Entries, writer: Manager, api_version: str, now: str) -> _Entries:
    kept, gained = rules.update(schema.root, change, {key: entry.fields for key, entry in entries.items()})
    after = {key: entries[key].owning(fields) for key, fields in kept.items()}
    gained = gained.difference(_NEVER_OWNED)
    if gained:
        before = after.get(writer)
        after[writer] = _Entry(api_version, gained if before is None else gained.union(before.fields), now)
    return _capped(after)


def _capped(entries: _Entries) -> _Entries:
    """The entries with the oldest updaters of each version folded into one, if there are too many."""
    updaters = [key for key in entries if key.operation == "Update"]
    excess = len(updaters) - _MAX_UPDATERS
    if excess <= 0:
        return entries
    updaters.sort(key=lambda key: (entries[key].time or "", key.identity))
    entries = dict(entries)
    first_of: dict[str, Manager] = {}
    for key in updaters:
        if excess <= 0:
            break
        entry = entries[key]
        first = first_of.setdefault(entry.api_version, key)
        if first is key:
            continue
        bucket = Manager("ancient-changes", "Update", entry.api_version, "")
        if bucket not in entries:
            entries[bucket] = entries.pop(first)
        if bucket != key:
            entries[bucket] = _Entry(entry.api_version, entry.fields.union(entries[bucket].fields), entry.time)
            del entries[key]
        excess -= 1
    return entries


def _reset(paths: Sequence[Sequence[str]]) -> FieldSet:
    return FieldSet.of(*(["f:" + name for name in path] for path in paths)) if paths else EMPTY


# -------------------------------------------------------------------------------------------------------------- apply


def apply(
    live: dict[str, Any] | None,
    applied: dict[str, Any],
    schema: TypedSchema,
    *,
    manager: str,
    force: bool,
    api_version: str,
    subresource: str,
    now: str,
    reset: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """The live object (None: there is none yet) with ``applied`` merged into it for ``manager``, managedFields included.

    Arguments as for `track_update`. ``applied`` must be of the endpoint's own group, version and kind and must not hold managedFields; both
    are the caller's to check, as is filling defaults into the result. Raises ApplyConflict unless ``force``, and ApplyInvalid. If nothing
    would change, the result equals ``live``.
    """
    problems = validate(schema.root, applied)
    if problems:
        raise ApplyInvalid(f"failed to create typed patch object ({_named(applied)}): {explain(problems)}")
    base = {} if live is None else _with_managed_fields(live, None)
    try:
        entries = _decode(_managed_fields(live) or [])
    except ValueError as why:
        raise ApplyInvalid(f"failed to decode managed fields: {why}") from why
    not_recorded = _reset(reset)
    try:
        if not entries:
            before = Manager.of("before-first-apply", "Update", api_version, subresource)
            entries = _track(compare(schema.root, {}, base).without(not_recorded), schema, {}, before, api_version, now)
        owner = Manager.of(manager, "Apply", api_version, subresource)
        merged, entries = _apply(base, applied, schema, entries, owner, manager == "kubectl", api_version, force, not_recorded)
    except StructureError as why:
        raise ApplyInvalid(str(why)) from why
    if owner in entries and not same(merged, base):
        entries[owner] = replace(entries[owner], time=now)
    if manager == "kubectl":
        merged = _refresh_last_applied(merged, applied)
    return _with_managed_fields(merged, _encode(entries))


def _named(thing: Mapping[str, Any]) -> str:
    metadata = thing.get("metadata")
    namespace, name = (metadata.get("namespace") or "", metadata.get("name") or "") if isinstance(metadata, Mapping) else ("", "")
    group, _, version = str(thing.get("apiVersion") or "").rpartition("/")
    return f"{namespace}/{name}; {group}/{version}, Kind={thing.get('kind') or ''}"


def _apply(
    live: dict[str, Any],
    applied: dict[str, Any],
    schema: TypedSchema,
    entries: _Entries,
    owner: Manager,
    kubectl: bool,
    api_version: str,
    force: bool,
    reset: FieldSet,
) -> tuple[dict[str, Any], _Entries]:
    owners = {key: entry.fields for key, entry in entries.items()}
    try:
        result = rules.apply(schema.root, live, applied, owners, owner, force=force, reset=reset)
    except rules.Conflicts as conflicts:
        left = _not_allowed(conflicts.sets, live, schema, api_version) if kubectl else conflicts.sets
        if left:
            raise _conflict(left) from None
        result = rules.apply(schema.root, live, applied, owners, owner, force=True, reset=reset)
    after: _Entries = {}
    for key, fields in result.owners.items():
        if key != owner:
            after[key] = entries[key].owning(fields)
        elif fields := fields.difference(_NEVER_OWNED):
            before = entries.get(key)
            wire = before.wire if before is not None and before.fields == fields else None
            after[key] = _Entry(api_version, fields, None if before is None else before.time, wire)
    return result.object, after


def _conflict(sets: Mapping[Manager, FieldSet]) -> ApplyConflict:
    causes: list[tuple[str, str]] = []
    lines: list[str] = []
    for manager in sorted(sets, key=lambda manager: manager.identity):
        paths = [display_path(path) for path in sets[manager]]
        causes += [(str(manager), path) for path in paths]
        lines += [f"conflicts with {manager}:", *(f"- {path}" for path in paths)]
    if len(causes) == 1:
        return ApplyConflict(causes, f"Apply failed with 1 conflict: conflict with {causes[0][0]}: {causes[0][1]}")
    return ApplyConflict(causes, f"Apply failed with {len(causes)} conflicts: " + "\n".join(lines))


# ------------------------------------------------------------------------------------- coming from client-side apply


def _not_allowed(
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


def _refresh_last_applied(merged: dict[str, Any], applied: dict[str, Any]) -> dict[str, Any]:
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


# --------------------------------------------------------------------------------------------------------- timestamps


def same_but_for_timestamps(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two objects are equal when the times in managedFields are left aside: such a change alone is not written."""
    return same(_timeless(a), _timeless(b))


def _timeless(thing: dict[str, Any]) -> dict[str, Any]:
    managed = _managed_fields(thing)
    if not isinstance(managed, list):
        return thing
    entries: Iterable[Any] = (
        {key: value for key, value in entry.items() if key != "time"} if isinstance(entry, Mapping) else entry for entry in managed
    )
    return {**thing, "metadata": {**thing["metadata"], "managedFields": list(entries)}}
