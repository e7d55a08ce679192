"""The kinds that a server serves: what each is called, what can be done with it, and what is special about it.

`Kinds` changes while the server runs, since custom resource definitions add kinds and take them away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from setpoint.api import GroupVersionKind, GroupVersionResource, Verb
from setpoint.api.names import api_version
from setpoint.cluster.server import names
from setpoint.cluster.server.schema import FieldError, Json, Structural, apply_defaults, causes, drop_nulls, validate, validate_change
from setpoint.cluster.server.schema.gotext import plain, type_name
from setpoint.cluster.server.schema.validate import NO_FIELD
from setpoint.cluster.server.structured import TypedSchema
from setpoint.cluster.server.structured.values import same
from setpoint.objects.selectable import field_text

STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")
ALL_VERBS: tuple[Verb, ...] = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
MAX_INT32 = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ScalePaths:
    """Where a kind keeps what its `scale` subresource shows. Paths are the keys from the object's root; `selector` may be absent."""

    spec: tuple[str, ...]
    status: tuple[str, ...]
    selector: tuple[str, ...] | None = None


def value_at(obj: Json, path: tuple[str, ...]) -> Json:
    """What an object holds at a path; None where it ends early."""
    for key in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(key)
    return obj


def selector_errors(obj: Mapping[str, Json], path: tuple[str, ...] | None) -> list[FieldError]:
    """What is wrong with the label selector that a Scale shows as a text. That it is missing is not wrong."""
    value, errors = _reached(obj, path or (), "")
    if errors or value is _ABSENT or isinstance(value, str) or path is None:
        return errors
    where = "." + ".".join(path)
    return [_no_access(where, where, value, "string", "")]


def _reached(obj: Mapping[str, Json], path: tuple[str, ...], instead: Json) -> tuple[Json, list[FieldError]]:
    """What is at a path, `_ABSENT` for nothing; or why there is no way to it. `instead` of the value is what the error quotes."""
    value: Json = obj
    for depth, key in enumerate(path):
        if value is None:
            return _ABSENT, []
        if not isinstance(value, dict):
            where, at = "." + ".".join(path), "." + ".".join(path[: depth + 1])
            return None, [_no_access(where, at, value, "map[string]interface{}", instead)]
        if key not in value:
            return _ABSENT, []
        value = value[key]
    return value, []


_ABSENT = object()


def replicas_errors(obj: Mapping[str, Json], path: tuple[str, ...]) -> list[FieldError]:
    """What is wrong with a number of replicas, which a Scale shows as an int32. That it is missing is not wrong."""
    where = "." + ".".join(path)
    value, errors = _reached(obj, path, 0)
    if errors or value is _ABSENT:
        return errors
    if not isinstance(value, int) or isinstance(value, bool):
        return [_no_access(where, where, value, "int64")]
    if value < 0:
        return [causes.invalid(where, value, "should be a non-negative integer")]
    if value > MAX_INT32:
        return [causes.invalid(where, value, f"should be less than or equal to {MAX_INT32}")]
    return []


def _no_access(where: str, at: str, value: Json, wanted: str, instead: Json = 0) -> FieldError:
    return causes.invalid(where, instead, f"{at} accessor error: {plain(value)} is of the type {type_name(value)}, expected {wanted}")


class Strategy:
    """What is special about a kind. This one is that of a custom resource; built-in kinds override what they do otherwise.

    The hooks may change the object that they are given at its top levels (`obj`, `obj["metadata"]`, `obj["spec"]`), never deeper in place.
    """

    custom = True
    """Whether objects are kept as they are sent (custom resources) or pass through Go structs, where null means absent."""
    generation = True
    """Whether `metadata.generation` counts changes of what is wanted."""
    unconditional_update = False
    """Whether an update may leave out the resourceVersion."""
    create_on_update = False
    """Whether an update of an absent object creates it."""
    returns_deleted = False
    """Whether a delete answers with the object instead of a Status."""
    graceful = False
    """Whether deleted objects get time to stop (see `grace`), and are marked as terminating even where they get none."""
    precondition = ""
    """How the words begin in which a delete's precondition fails, where a kind has words of its own for it."""
    tables_of_status = True
    """Whether the status of an object can be shown as a table."""
    metadata_judged_twice = True
    """Whether changes of the metadata are judged twice, and what is wrong is said as often."""
    heeds_policy = True
    """Whether the propagation policy counts also where an object that is not `ready_to_go` is marked as terminating."""
    status_keeps: tuple[str, ...] | None = None
    """What of the metadata a write of the status leaves as it is; None for all of it."""
    name_rule: names.NameRule = staticmethod(names.dns_subdomain)
    settles = True
    """Whether what has been read of an object once need not be read again, as long as nobody changes it."""
    keeps_first_status = False
    """Whether a new object may come with a status, though that is a subresource."""
    fills_status = False
    """Whether a new object is stored without the defaults of its status, which it is shown with."""

    def complete(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """The object without nulls that mean nothing, and with defaults."""
        schema = kind.structural
        return obj if schema is None else apply_defaults(drop_nulls(obj, schema), schema)

    def fill(self, obj: dict[str, Json], kind: ServedKind) -> dict[str, Json]:
        """What a server-side apply has made, with defaults; its nulls are left for `validate`."""
        schema = kind.structural
        return obj if schema is None else apply_defaults(obj, schema)

    def counts(self, obj: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
        """Whether the change makes a new generation: for custom resources, one of anything but the metadata.

        Status, where it is a subresource, is not asked about.
        """
        return len(obj) != len(old) or any(key != "metadata" and not (key in old and same(value, old[key])) for key, value in obj.items())

    def prepare_create(self, obj: dict[str, Json], kind: ServedKind) -> None:
        """Before validation of a new object."""

    def allocate(self, obj: dict[str, Json]) -> None:
        """Before validation, too: what a new object is given. Nothing is given to one that a write of its status has made."""

    def prepare_update(self, obj: dict[str, Json], old: Mapping[str, Json], kind: ServedKind, subresource: str) -> None:
        """Before validation of a changed object."""

    def finish(self, obj: dict[str, Json], old: Mapping[str, Json] | None, now: str, warnings: list[str]) -> None:
        """After validation: what only makes sense for a valid object, and what there is to warn of."""
        had = old["metadata"].get("finalizers") or () if old is not None else ()
        added = {finalizer: None for finalizer in obj["metadata"].get("finalizers") or () if finalizer not in had}
        for finalizer in sorted(added):
            if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
                warnings.append(
                    f'metadata.finalizers: "{finalizer}": prefer a domain-qualified finalizer name to avoid accidental conflicts '
                    "with other finalizer writers"
                )

    def metadata_alone(self, metadata: Mapping[str, Json]) -> Mapping[str, Json]:
        """An object's metadata as they are shown where nothing else of it is."""
        return metadata

    def empty(self, kind: ServedKind) -> dict[str, Json]:
        """What an object of the kind shows beside its metadata when there is nothing in it."""
        return self.blank(kind)

    def blank(self, kind: ServedKind) -> dict[str, Json]:
        """The same before it has been anywhere: nobody who writes an object makes what is in it then."""
        return {}

    def metadata_of_bookmark(self, metadata: Mapping[str, Json]) -> Mapping[str, Json]:
        """The metadata of a bookmark, as they are shown in an object that has nothing else."""
        return metadata

    def validate(self, obj: Mapping[str, Json], old: Mapping[str, Json] | None, kind: ServedKind) -> list[FieldError]:
        """Everything but the metadata that is wrong. `old` is None for a new object."""
        errors: list[FieldError] = []
        if kind.structural is not None:
            errors = validate(obj, kind.structural) if old is None else validate_change(obj, old, kind.structural)
        if kind.scale is not None:
            errors += replicas_errors(obj, kind.scale.spec)
            errors += replicas_errors(obj, kind.scale.status)
            errors += selector_errors(obj, kind.scale.selector)
        return errors

    def validate_status(self, obj: Mapping[str, Json], old: Mapping[str, Json], kind: ServedKind) -> list[FieldError]:
        """What is wrong with a written status; the rest of the object is not judged again.

        The texts of a custom resource name their fields from the status on, as if it were all there is.
        """
        errors: list[FieldError] = []
        schema = kind.structural.properties.get("status") if kind.structural is not None else None
        if schema is not None and "status" in obj:
            for error in validate_change(obj["status"], old.get("status"), schema):
                errors.append(FieldError(error.reason, error.message, "status" if error.field == NO_FIELD else f"status.{error.field}"))
        if kind.scale is not None:
            errors += replicas_errors(obj, kind.scale.status)
            errors += selector_errors(obj, kind.scale.selector)
        return errors

    def no_field(self, path: str, kind: ServedKind) -> str:
        """What is said to who would select by a field that is not selectable."""
        if not self.custom and not kind.selectable:
            return f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'
        return f"field label not supported: {path}"

    def field(self, path: str, obj: Mapping[str, Json]) -> str:
        """The value of a selectable field beyond the metadata ones."""
        return field_text(obj, path)

    def deletable(self, obj: Mapping[str, Json]) -> str:
        """Why this object may not be deleted, or nothing."""
        return ""

    def grace(self, obj: Mapping[str, Json], asked: int | None) -> int:
        """The seconds that a deleted object stays although nothing holds it; 0 removes it at once."""
        return 0

    def terminate(self, obj: dict[str, Json], now: str) -> None:
        """What else changes when an object that is not `ready_to_go` begins to terminate."""

    def ready_to_go(self, obj: Mapping[str, Json]) -> bool:
        """Whether a terminating object without finalizers may be removed."""
        return True


@dataclass(frozen=True, kw_only=True)
class Form:
    """How objects are kept, where a kind is but another form of what a resource keeps."""

    resource: GroupVersionResource
    to_kept: Callable[[Mapping[str, Json]], dict[str, Json]]
    """What makes the kept form of an object."""
    to_shown: Callable[[Mapping[str, Json]], dict[str, Json]]
    """The inverse."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Top-level fields that are kept under another name: name in the shown form to name in the kept one."""
    tells_all: bool = True
    """Whether the shown form has a field for all that is kept. Where it has not, tables tell of the kept form."""


@dataclass(eq=False, kw_only=True)
class ServedKind:
    """One kind in one version.

    `make_structural` and `make_typed` build the schema when it is first needed: None means that objects of the kind hold anything.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[Verb, ...] = ALL_VERBS
    subresources: Mapping[str, tuple[Verb, ...]] = field(default_factory=dict)
    scale: ScalePaths | None = None
    replicas_paths: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict)
    """Where other versions, by their apiVersion, keep the number that `scale` is about; None where they have no scale."""
    strategy: Strategy = field(default_factory=Strategy)
    selectable: tuple[str, ...] = ()
    """Field paths by which lists can be selected, beyond metadata.name and metadata.namespace."""
    storage_version: str = ""
    """The version in which objects are kept, where it is another one."""
    form: Form | None = None
    """The form in which objects are kept, where that is that of another resource."""
    kept_fields: tuple[str, ...] = ()
    """The `selectable` fields of all forms and versions of the kind, as the objects are kept; empty where they are those of this one."""
    deprecation: str = ""
    """The warning that requests for this version get."""
    make_structural: Callable[[], Structural | None] = lambda: None
    structural_versions: Mapping[str, Callable[[], Structural]] = field(default_factory=dict)
    """The same for all versions of the kind, by apiVersion, where they differ."""
    make_stored: Callable[[], Structural] | None = None
    """The schema of the version in which objects are kept, where it is another one."""
    fits_since: int | None = 0
    """The revision after which all that is stored is as the schema has it; None where no stored object can be relied on to be so."""
    make_typed: Callable[[], TypedSchema] = TypedSchema.deduced
    typed_versions: Mapping[str, Callable[[], TypedSchema]] = field(default_factory=dict)
    """The same for all versions of the kind, by apiVersion, where they differ."""
    closing: bool = False
    """Whether the kind is on its way out, and takes no new objects."""
    origin: Any = None
    """What describes the kind in more detail: the custom kind, or the built-in's data, for tables and documents."""

    def __post_init__(self) -> None:
        self.singular = self.singular or self.kind.lower()
        self.list_kind = self.list_kind or f"{self.kind}List"
        self.api_version = api_version(self.group, self.version)
        self.storage_api_version = api_version(self.group, self.storage_version or self.version)
        self.beginning = b'{"apiVersion":"%b"' % self.api_version.encode()
        """How an object of this version begins that is stored in it."""
        self.resource = GroupVersionResource(self.group, self.version, self.plural)
        keeper = self.resource
        if self.form is not None:
            keeper = self.form.resource
            self.storage_api_version = api_version(keeper.group, keeper.version)
        self.collection = f"{keeper.group}/{keeper.resource}"
        self.gvk = GroupVersionKind(self.group, self.version, self.kind)
        self.has_status = "status" in self.subresources
        self.judged_group = keeper.group
        """The group that a refusal of an object names."""

    @cached_property
    def structural(self) -> Structural | None:
        """The schema for pruning, defaults and validation."""
        return self.make_structural()

    def structural_of(self, api_version: str) -> Structural | None:
        """The schema of a version of the kind; this one's, where there is no such version any more."""
        make = self.structural_versions.get(api_version)
        return self.structural if make is None or api_version == self.api_version else make()

    @cached_property
    def fills_status(self) -> bool:
        """Whether an object that was created without a status, since that is a subresource, gets one by default when it is read."""
        status = self.structural.properties.get("status") if self.structural is not None else None
        return self.has_status and status is not None and status.default is not None

    @cached_property
    def stored(self) -> Structural | None:
        """What is left of an object when it is stored; None where nothing is lost."""
        return self.make_stored() if self.make_stored is not None else None

    @cached_property
    def typed(self) -> TypedSchema:
        """The schema for server-side apply."""
        return self.make_typed()

    def as_kept(self, obj: Mapping[str, Json]) -> dict[str, Json]:
        """An object of this form in the one that is kept."""
        return self.form.to_kept(obj) if self.form is not None else dict(obj)

    def as_shown(self, kept: Mapping[str, Json]) -> dict[str, Json]:
        """The inverse of `as_kept`."""
        return self.form.to_shown(kept) if self.form is not None else dict(kept)

    def kept_path(self, path: str) -> str:
        """A selectable field's path, as its value is kept."""
        first, dot, rest = path.partition(".")
        return path if self.form is None else self.form.names.get(first, first) + dot + rest

    def key(self, namespace: str, name: str) -> str:
        """Where an object is stored."""
        return f"{namespace}/{name}" if self.namespaced else name

    def fields_of(self, obj: Mapping[str, Json]) -> dict[str, str]:
        """The values of the selectable fields beyond name and namespace, of an object as it is kept."""
        return {path: self.strategy.field(path, obj) for path in self.kept_fields or self.selectable}


class Kinds:
    """The kinds as they are now. `version` counts the changes; listeners hear of each kind that goes.

    Those of the start are made when somebody asks for them.
    """

    def __init__(self, makers: Mapping[GroupVersionResource, Callable[[], ServedKind]] | None = None) -> None:
        self._makers = dict(makers or {})
        self._by_resource: dict[GroupVersionResource, ServedKind | None] = dict.fromkeys(self._makers)
        self._by_kind: dict[GroupVersionKind, ServedKind] | None = None
        self.version = len(self._makers)

    def add(self, kind: ServedKind) -> None:
        """Serves a kind, instead of the one that had its place."""
        self._by_resource[kind.resource] = kind
        self._by_kind = None
        self.version += 1

    def remove(self, resource: GroupVersionResource) -> ServedKind | None:
        """Serves a kind no longer."""
        self._by_kind = None
        self.version += 1
        return self._by_resource.pop(resource, None)

    def find(self, resource: GroupVersionResource) -> ServedKind | None:
        """The kind that a URL names."""
        kind = self._by_resource.get(resource)
        if kind is None and resource in self._by_resource:
            kind = self._by_resource[resource] = self._makers[resource]()
        return kind

    def named(self, gvk: GroupVersionKind) -> ServedKind | None:
        """The kind that an object names."""
        if self._by_kind is None:
            self._by_kind = {}
            for kind in self:
                self._by_kind.setdefault(kind.gvk, kind)
        return self._by_kind.get(gvk)

    def of_group(self, group: str) -> list[ServedKind]:
        """All kinds of a group, in all versions."""
        return self._found([resource for resource in self._by_resource if resource.group == group])

    def _found(self, resources: Iterable[GroupVersionResource]) -> list[ServedKind]:
        return [kind for resource in resources if (kind := self.find(resource)) is not None]

    def __iter__(self) -> Iterator[ServedKind]:
        return iter(self._found(list(self._by_resource)))

    def __len__(self) -> int:
        return len(self._by_resource)
