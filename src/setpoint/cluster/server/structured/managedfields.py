"""Kubernetes' layer of server-side apply: `metadata.managedFields` on top of `update`.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers. Functions of JSON objects alone; the time is an argument.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import msgspec

from setpoint.cluster.server.remembering import remembering

from . import update as rules
from .atoms import Atom, TypedSchema
from .clientside import not_allowed, refresh
from .compare import Comparison, compare, field_set
from .entries import Entries, Entry, Manager, decode, encode
from .fieldset import EMPTY, FieldSet, display_path
from .merge import merge
from .validate import explain, validate
from .values import StructureError, same
from .versions import Inconvertible, Versions, check_live, check_merged, others

__all__ = ["ApplyConflict", "ApplyInvalid", "apply", "same_but_for_timestamps", "track_update"]

_MAX_UPDATERS = 10  # as a real API server


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
    versions: Versions = MappingProxyType({}),
) -> dict[str, Any]:
    """``new`` with its managedFields brought up to date: for creates (``live`` is None), puts and all patches but apply.

    The request may edit managedFields (not through a subresource); ``[]`` or ``[{}]`` forget all owners, after which none are recorded
    until the first apply; missing or unreadable ones are taken from ``live``. ``versions`` are the schemas of all versions of the kind, if
    they differ. ``now`` is an RFC 3339 time with seconds, which only owners
    who gain something get. ``reset`` are the paths (field names) whose ownership this endpoint does not record in its own version. Never
    fails: where objects cannot be compared, the live managedFields stay.
    """
    if not isinstance(new.get("metadata") or {}, Mapping):
        return new
    stored, bare = _managed_fields(live), _with_managed_fields(new, None)
    before = {} if live is None else _with_managed_fields(live, None)
    try:
        change = compare(schema.root, before, bare).without(_reset(reset))
    except StructureError:
        return _with_managed_fields(bare, stored)
    sent = None if subresource else _managed_fields(new)
    if live is not None and not change and sent in (None, stored):
        return _with_managed_fields(bare, _each_once(stored))
    entries = _entries_of_update(stored, sent)
    if not entries and live is not None:
        return bare
    elsewhere: dict[Manager, tuple[Atom, Comparison]] = {}
    try:
        foreign = others(entries, versions, api_version)
        check_live(bare, foreign, versions)
        if foreign:
            check_live(before, foreign, versions)
            atoms = {version: versions[version]().root for version in foreign}
            apart = _reset_elsewhere(subresource, reset)
            changes = {version: compare(theirs, before, bare).without(apart) for version, theirs in atoms.items()}
            elsewhere = {
                key: (atoms[each.api_version], changes[each.api_version]) for key, each in entries.items() if each.api_version in atoms
            }
    except (Inconvertible, StructureError):
        return _with_managed_fields(bare, stored)
    writer = Manager.of(manager, "Update", api_version, subresource)
    return _with_managed_fields(bare, encode(_track(change, schema, entries, writer, api_version, now, elsewhere)))


def _each_once(stored: Any) -> Any:
    """The entries, of each owner the last: the Scale of an object may have left two."""
    if not stored or len(stored) < 2:
        return stored
    named = ("manager", "operation", "apiVersion", "subresource")
    last = {tuple(str(entry.get(name, "")) for name in named): at for at, entry in enumerate(stored)}
    return stored if len(last) == len(stored) else [stored[at] for at in sorted(last.values())]


def _entries_of_update(stored: Any, sent: Any) -> Entries:
    """The entries to start from: those of the request if it has readable ones, else those of the live object, else none."""
    if sent in ([], [{}]):
        return {}
    for managed in (sent, stored):
        if managed:
            try:
                return decode(managed)
            except ValueError:
                continue
    return {}


def _track(
    change: Comparison,
    schema: TypedSchema,
    entries: Entries,
    writer: Manager,
    api_version: str,
    now: str,
    elsewhere: Mapping[Manager, tuple[Atom, Comparison]] = MappingProxyType({}),
) -> Entries:
    owned = {key: entry.fields for key, entry in entries.items()}
    owned, gained = rules.update(schema.root, change, owned, writer, _NEVER_OWNED, elsewhere)
    after = {key: entries[key].owning(fields) for key, fields in owned.items() if key in entries}
    if gained:
        fields = owned[writer]
        wire = entries[writer].wire if writer in entries and entries[writer].fields is fields else None
        after[writer] = Entry(api_version, fields, now, wire)
    return _capped(after)


def _capped(entries: Entries) -> Entries:
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
            entries[bucket] = Entry(entry.api_version, entry.fields.union(entries[bucket].fields), entry.time)
            del entries[key]
        excess -= 1
    return entries


def _reset(paths: Sequence[Sequence[str]]) -> FieldSet:
    return FieldSet.of(*(["f:" + name for name in path] for path in paths)) if paths else EMPTY


def _reset_elsewhere(subresource: str, reset: Sequence[Sequence[str]]) -> FieldSet:
    """What an endpoint does not record of owners in other versions: a real server's main endpoint leaves them their status."""
    return _reset(reset) if subresource else EMPTY


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
    versions: Versions = MappingProxyType({}),
    blank: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """The live object (None: there is none yet) with ``applied`` merged into it for ``manager``, managedFields included.

    Arguments as for `track_update`. ``applied`` must be of the endpoint's own group, version and kind and must not hold managedFields; both
    are the caller's to check, as is filling defaults into the result. ``blank`` is an object of the kind in which nothing has been set:
    what it has is nobody's who was there before the first apply. Raises ApplyConflict unless ``force``, and ApplyInvalid. If nothing
    would change, the result equals ``live``.
    """
    written = _written(applied)
    if problems := _problems(schema, written):
        raise ApplyInvalid(f"failed to create typed patch object ({_named(applied)}): {explain(list(problems))}")
    base = {} if live is None else _with_managed_fields(live, None)
    try:
        entries = decode(_managed_fields(live) or [])
    except ValueError as why:
        raise ApplyInvalid(f"failed to decode managed fields: {why}") from why
    not_recorded = _reset(reset)
    owner = Manager.of(manager, "Apply", api_version, subresource)
    try:
        elsewhere = others(entries, versions, api_version)
        if elsewhere:
            check_live(base, elsewhere, versions)
            check_merged(
                merge(schema.root, base, applied), elsewhere, versions, last=entries[owner].api_version if owner in entries else ""
            )
        if not entries:
            before = Manager.of("before-first-apply", "Update", api_version, subresource)
            entries = _track(compare(schema.root, dict(blank), base).without(not_recorded), schema, {}, before, api_version, now)
        atoms = {version: versions[version]().root for version in elsewhere}
        apart = {key: atom for version, atom in atoms.items() for key, each in entries.items() if each.api_version == version}
        how = _Apply(schema, owner, manager == "kubectl", api_version, force, not_recorded, apart, _reset_elsewhere(subresource, reset))
        merged, entries = how.run(base, applied, _stated(schema, written), entries)
    except (StructureError, Inconvertible) as why:
        raise ApplyInvalid(str(why)) from why
    if owner in entries and not same(merged, base):
        entries[owner] = replace(entries[owner], time=now)
    if manager == "kubectl":
        merged = refresh(merged, applied)
    return _with_managed_fields(merged, encode(entries))


_written = msgspec.json.Encoder().encode


@remembering(512)
def _problems(schema: TypedSchema, applied: bytes) -> tuple[str, ...]:
    """What is wrong with something that is applied: the same is applied again and again."""
    return tuple(validate(schema.root, msgspec.json.decode(applied)))


@remembering(512)
def _stated(schema: TypedSchema, applied: bytes) -> FieldSet:
    """What whoever applies something comes to own by that."""
    return field_set(schema.root, msgspec.json.decode(applied))


def _named(thing: Mapping[str, Any]) -> str:
    metadata = thing.get("metadata")
    namespace, name = (metadata.get("namespace") or "", metadata.get("name") or "") if isinstance(metadata, Mapping) else ("", "")
    group, _, version = str(thing.get("apiVersion") or "").rpartition("/")
    namespace, name = (text if isinstance(text, str) else "" for text in (namespace, name))
    return f"{namespace}/{name}; {group}/{version}, Kind={thing.get('kind') or ''}"


@dataclass(frozen=True, slots=True)
class _Apply:
    """How one apply is carried out. `apart` are the types of the owners in other versions, `reset_apart` what is not recorded of them."""

    schema: TypedSchema
    owner: Manager
    kubectl: bool
    api_version: str
    force: bool
    reset: FieldSet
    apart: Mapping[Manager, Atom]
    reset_apart: FieldSet

    def run(self, live: dict[str, Any], applied: dict[str, Any], stated: FieldSet, entries: Entries) -> tuple[dict[str, Any], Entries]:
        owners = {key: entry.fields for key, entry in entries.items()}
        try:
            result = self._merged(live, applied, stated, owners, force=self.force)
        except rules.Conflicts as conflicts:
            left = not_allowed(conflicts.sets, live, self.schema, self.api_version) if self.kubectl else conflicts.sets
            if left:
                raise _conflict(left) from None
            result = self._merged(live, applied, stated, owners, force=True)
        after: Entries = {}
        for key, fields in result.owners.items():
            if key != self.owner:
                after[key] = entries[key].owning(fields)
            elif fields := fields.difference(_NEVER_OWNED):
                before = entries.get(key)
                wire = before.wire if before is not None and before.fields == fields else None
                after[key] = Entry(self.api_version, fields, None if before is None else before.time, wire)
        return result.object, after

    def _merged(
        self, live: dict[str, Any], applied: dict[str, Any], stated: FieldSet, owners: Mapping[Manager, FieldSet], *, force: bool
    ) -> rules.Applied[Manager]:
        return rules.apply(
            self.schema.root,
            live,
            applied,
            stated,
            owners,
            self.owner,
            force=force,
            reset=self.reset,
            elsewhere=self.apart,
            reset_elsewhere=self.reset_apart,
        )


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


# --------------------------------------------------------------------------------------------------------- timestamps


def same_but_for_timestamps(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two objects are equal when the times in managedFields are left aside: such a change alone is not written."""
    if a.keys() != b.keys() or not all(key == "metadata" or same(value, b[key]) for key, value in a.items()):
        return False
    return same(_timeless(a), _timeless(b))


def _timeless(thing: dict[str, Any]) -> Any:
    """The metadata without those times."""
    managed = _managed_fields(thing)
    if not isinstance(managed, list):
        return thing.get("metadata")
    entries: Iterable[Any] = (
        {key: value for key, value in entry.items() if key != "time"} if isinstance(entry, Mapping) else entry for entry in managed
    )
    return {**thing["metadata"], "managedFields": list(entries)}
