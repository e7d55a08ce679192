"""The types that server-side apply knows: what of a schema matters to ownership and merging.

An `Atom` says how a value of each JSON form is treated: as a scalar, as a list (one owner for all of it, or items that are owned one by
one) or as a map (the same choice). Atoms come from OpenAPI v3 or structural schemas (`TypedSchema.from_openapi`), following
https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy, and resolve themselves when they are first looked at: a
built-in kind's schema costs nothing until an object of it is written, and then only for the parts that the object has.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["ABSENT", "DEDUCED", "UNTYPED_ATOMIC", "Atom", "Field", "ListAtom", "MapAtom", "TypedSchema"]

Schema = Mapping[str, Any]


class _Absent:
    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""No value at all; None is JSON's null, which is one."""


class Atom:
    """How values of one place are treated, by their JSON form; a form that is None does not fit here.

    ``scalar`` is ``"numeric"``, ``"string"``, ``"boolean"`` or ``"untyped"`` (any of them).
    """

    __slots__ = ("_resolve", "list", "map", "scalar")

    scalar: str | None
    list: "ListAtom | None"
    map: "MapAtom | None"
    _resolve: "Callable[[], Atom] | None"

    def __init__(self, scalar: str | None = None, list: "ListAtom | None" = None, map: "MapAtom | None" = None) -> None:
        self.scalar, self.list, self.map, self._resolve = scalar, list, map, None

    @classmethod
    def later(cls, resolve: "Callable[[], Atom]") -> "Atom":
        """An atom that takes its content from ``resolve()`` when it is first looked at."""
        self = cls.__new__(cls)
        self._resolve = resolve
        return self

    def __getattr__(self, name: str) -> Any:
        # Only called while a slot is empty, which is so until an atom made by `later` is looked at.
        if name not in ("scalar", "list", "map"):
            raise AttributeError(name)
        resolve = self._resolve
        assert resolve is not None
        atom = resolve()
        self.scalar, self.list, self.map, self._resolve = atom.scalar, atom.list, atom.map, None
        return getattr(self, name)

    def with_relationship(self, atomic: bool) -> "Atom":
        """The same type, but with one owner for all of it or with parts that are owned one by one, as said where it is used."""
        if self.map is not None:
            return Atom(self.scalar, self.list, MapAtom(self.map.fields, self.map.element, atomic, self.map.nulls))
        if self.list is not None:
            return Atom(self.scalar, ListAtom(self.list.element, atomic, self.list.keys))
        return self


@dataclass(frozen=True, slots=True)
class Field:
    """A declared field of a map.

    ``default`` is the schema's default. ``zero`` is the value that the field has on an object which does not mention it: built-in kinds
    are Go structs on a real server, where a struct without pointer, or a list without omitempty, is always there.
    """

    type: Atom
    default: Any = ABSENT
    zero: Any = ABSENT


class MapAtom:
    """A map: declared fields, and the type of all other keys (None: other keys are an error).

    ``nulls`` says that null is more than nothing here. In a Go struct, as built-in kinds are on a real server, a null was always there.
    """

    __slots__ = ("atomic", "element", "fields", "nulls", "zeros")

    def __init__(self, fields: Mapping[str, Field], element: Atom | None, atomic: bool, nulls: bool = True) -> None:
        self.fields = fields
        self.element = element
        self.atomic = atomic
        self.nulls = nulls
        self.zeros: dict[str, Any] = {name: field.zero for name, field in fields.items() if field.zero is not ABSENT}

    @property
    def deduced(self) -> bool:
        """Whether nothing is known about what is inside."""
        return self.element is DEDUCED and not self.fields


class ListAtom:
    """A list. Unless atomic, its items are known by their ``keys`` (an associative list) or, without keys, by their value (a set)."""

    __slots__ = ("atomic", "element", "key_defaults", "keys")

    key_defaults: dict[str, Any]

    def __init__(self, element: Atom, atomic: bool, keys: tuple[str, ...] = ()) -> None:
        self.element = element
        self.atomic = atomic
        self.keys = tuple(sorted(keys))

    def __getattr__(self, name: str) -> Any:
        # The defaults need the element resolved, so they wait until an item is looked at.
        if name != "key_defaults":
            raise AttributeError(name)
        fields: Mapping[str, Field] = self.element.map.fields if self.element.map is not None else {}
        self.key_defaults = {key: fields[key].default for key in self.keys if key in fields and fields[key].default is not ABSENT}
        return self.key_defaults


UNTYPED_ATOMIC: Final = Atom("untyped")
"""Anything, with one owner for all of it."""
UNTYPED_ATOMIC.list = ListAtom(UNTYPED_ATOMIC, True)
UNTYPED_ATOMIC.map = MapAtom({}, UNTYPED_ATOMIC, True)

DEDUCED: Final = Atom("untyped", ListAtom(UNTYPED_ATOMIC, True))
"""What is assumed where nothing is known: maps by key, lists as a whole."""
DEDUCED.map = MapAtom({}, DEDUCED, False)


class TypedSchema:
    """What server-side apply needs to know about a kind in one version. Opaque, immutable and cheap to make."""

    __slots__ = ("root",)

    root: Atom

    def __init__(self, root: Atom) -> None:
        self.root = root

    @classmethod
    def from_openapi(
        cls, schema: Schema, definitions: Mapping[str, Schema] | None = None, *, built_in: bool | None = None
    ) -> "TypedSchema":
        """The types of a kind from its OpenAPI v3 schema or a CRD version's structural schema.

        ``definitions`` holds what a ``$ref`` may name, by the last part of its path. ``built_in`` says that objects of this kind are Go
        structs on a real server (see `Field.zero`), which shows in what is recorded as owned; it is assumed when there are definitions.
        Where ``metadata`` is not described beyond its type, as in CRDs, it gets the types of ObjectMeta.
        """
        known = definitions or {}
        return cls(_Converter(known, bool(known) if built_in is None else built_in).root(schema))

    @classmethod
    def deduced(cls) -> "TypedSchema":
        """For kinds without a schema: maps by key, lists as a whole."""
        return cls(DEDUCED)


_SCALARS = {"integer": "numeric", "number": "numeric", "boolean": "boolean", "string": "string"}
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_STRING: dict[str, Any] = {"type": "string"}
_OBJECT_META: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), _STRING),
        **{name: {"type": "integer"} for name in ("generation", "deletionGracePeriodSeconds")},
        **{name: {"type": "string", "format": "date-time"} for name in ("creationTimestamp", "deletionTimestamp")},
        **{name: {"type": "object", "additionalProperties": _STRING} for name in ("labels", "annotations")},
        "finalizers": {"type": "array", "items": _STRING, "x-kubernetes-list-type": "set"},
        "managedFields": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "atomic"},
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": {
                "type": "object",
                "required": ["apiVersion", "kind", "name", "uid"],
                "x-kubernetes-map-type": "atomic",
                "properties": {
                    **{name: {"type": "string", "default": ""} for name in ("apiVersion", "kind", "name", "uid")},
                    **{name: {"type": "boolean"} for name in ("controller", "blockOwnerDeletion")},
                },
            },
        },
    },
}
_EVERY_OBJECT: dict[str, Any] = {"apiVersion": _STRING, "kind": _STRING, "metadata": {"type": "object"}}


class _Converter:
    def __init__(self, definitions: Mapping[str, Schema], built_in: bool) -> None:
        self.definitions = definitions
        self.built_in = built_in
        self.named: dict[str, Atom] = {}  # also what lets types hold themselves

    def root(self, schema: Schema) -> Atom:
        name = _reference(schema)
        return self._named(name) if name else Atom.later(lambda: self._convert(_as_object(schema), False))

    def _use(self, schema: Schema, preserve: bool) -> Atom:
        """The type at a place where a schema is used, which may be a reference with a relationship of its own."""
        preserve = preserve and schema is not _OBJECT_META  # what metadata holds is known, whatever else is not
        name = _reference(schema)
        if not name:
            return Atom.later(lambda: self._convert(schema, preserve))
        atom = self._named(name)
        relationship = schema.get("x-kubernetes-map-type")
        return atom if relationship is None else Atom.later(lambda: atom.with_relationship(relationship == "atomic"))

    def _named(self, name: str) -> Atom:
        atom = self.named.get(name)
        if atom is None:
            atom = self.named[name] = Atom.later(lambda: self._convert_named(name))
        return atom

    def _convert_named(self, name: str) -> Atom:
        if name == _QUANTITY:
            return Atom("untyped")
        if name == _RAW_EXTENSION:
            return UNTYPED_ATOMIC
        if name not in self.definitions:
            raise LookupError(f"the schema refers to {name}, which is not defined")
        return self._convert(self.definitions[name], False)

    def _convert(self, schema: Schema, preserve: bool) -> Atom:
        preserve = preserve or schema.get("x-kubernetes-preserve-unknown-fields") is True
        if schema.get("x-kubernetes-embedded-resource") is True:
            schema = _as_object(schema)
        kind = schema.get("type", "")
        match kind:
            case "object":
                return Atom(map=self._map(schema, preserve))
            case "array":
                return Atom(list=self._list(schema, preserve))
            case "":
                return Atom("untyped", self._list(schema, preserve), self._map(schema, preserve))
            case "string" if schema.get("format") not in (None, "", "byte"):
                return Atom("untyped")  # times, quantities, int-or-string: not always strings on the wire
            case _:
                return Atom(_SCALARS.get(kind, "untyped"))

    def _map(self, schema: Schema, preserve: bool) -> MapAtom:
        required = schema.get("required") or ()
        properties: Mapping[str, Schema] = schema.get("properties") or {}
        fields = {name: self._field(member, name in required, preserve) for name, member in properties.items()}
        additional = schema.get("additionalProperties")
        element: Atom | None
        if isinstance(additional, Mapping):
            element = self._use(additional, preserve)
        elif additional is None:
            element = DEDUCED if preserve or not properties else None
        else:
            element = DEDUCED if additional else None
        return MapAtom(fields, element, schema.get("x-kubernetes-map-type") == "atomic", not self.built_in)

    def _field(self, schema: Schema, required: bool, preserve: bool) -> Field:
        default = schema.get("default", ABSENT)
        zero: Any = ABSENT
        if self.built_in:
            if default is not ABSENT and default in ({}, "", 0):  # 0 covers False
                zero = default
            elif required and default is ABSENT and (_reference(schema) or schema.get("type") in ("array", "object")):
                zero = None
        return Field(self._use(schema, preserve), default, zero)

    def _list(self, schema: Schema, preserve: bool) -> ListAtom:
        items = schema.get("items")
        element = UNTYPED_ATOMIC if items is None else self._use(items, preserve)
        list_type = schema.get("x-kubernetes-list-type")
        if list_type is not None:
            keys = schema.get("x-kubernetes-list-map-keys") or () if list_type == "map" else ()
            return ListAtom(element, list_type not in ("set", "map"), tuple(keys))
        if schema.get("x-kubernetes-patch-strategy") in ("merge", "merge,retainKeys"):
            merge_key = schema.get("x-kubernetes-patch-merge-key")
            return ListAtom(element, False, () if merge_key is None else (merge_key,))
        return ListAtom(element, True)


def _reference(schema: Schema) -> str:
    """The name that a ``$ref`` gives, also one inside an allOf of one; empty if there is none."""
    reference: str = schema.get("$ref") or ""
    all_of = schema.get("allOf")
    if not reference and isinstance(all_of, list) and len(all_of) == 1:
        reference = all_of[0].get("$ref") or ""
    return reference.rpartition("/")[2]


def _as_object(schema: Schema) -> Schema:
    """The schema of a whole Kubernetes object: with the fields that every object has, whether declared or not."""
    properties: dict[str, Any] = {**_EVERY_OBJECT, **(schema.get("properties") or {})}
    if not _reference(properties["metadata"]):
        # A CRD may constrain name and generateName there; the rest is ObjectMeta all the same.
        properties["metadata"] = _OBJECT_META
    return {**schema, "properties": properties}
