"""What strategic merge needs to know of a built-in kind: for each field its Go kind, its patch strategy and its merge key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from setpoint.cluster.server import builtin

from .problems import PatchFailure

Schema = Mapping[str, Any]
_STRATEGY, _MERGE_KEY = "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"
_KINDS = {"boolean": "bool", "number": "float64", "integer": "int64", "string": "string"}


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct: its type, how it is patched (`merge`, `replace` or nothing said) and the key by which its items are known."""

    type: PatchType
    strategy: str
    merge_key: str


class PatchType:
    """A type as Go has it. Its fields are read when they are first asked for, so that types may hold themselves."""

    def __init__(self, schema: Schema, types: _Types, name: str = "") -> None:
        self._schema, self._types = schema, types
        self.name = name
        """The name of a struct."""

    @cached_property
    def kind(self) -> str:
        """What Go's reflection calls it: struct, map, slice, string, int32, ..."""
        schema = self._schema
        if self.name:
            return "struct"
        kind = schema.get("type", "")
        if kind == "array" or (kind == "string" and schema.get("format") == "byte"):
            return "slice"
        if kind == "object":
            return "map" if "additionalProperties" in schema else "struct"
        if kind in ("integer", "number") and schema.get("format") in ("int32", "int64"):
            return str(schema["format"])
        return _KINDS.get(kind, "struct")

    @cached_property
    def fields(self) -> dict[str, Field]:
        """The fields of a struct."""
        return {name: self._types.field(schema) for name, schema in (self._schema.get("properties") or {}).items()}

    @cached_property
    def element(self) -> PatchType:
        """The type of a list's items or of a map's values."""
        return self._types.use(self._schema.get("items") or self._schema.get("additionalProperties") or {})

    @property
    def format(self) -> str:
        """The format of a text."""
        return str(self._schema.get("format") or "")

    def field(self, name: str) -> Field:
        """A field of this struct. Raises PatchFailure if it has none of that name, or is none."""
        if self.kind != "struct":
            raise PatchFailure(f"merging an object in json but data type is not struct, instead is: {self.kind}")
        found = self.fields.get(name)
        if found is None:
            raise PatchFailure(f'unable to find api field in struct {self.name} for the json field "{name}"')
        return found

    def list_field(self, name: str) -> Field:
        """A field that is a list, with the type of its items. Raises PatchFailure."""
        found = self.field(name)
        if found.type.kind == "slice":
            return Field(found.type.element, found.strategy, found.merge_key)
        if found.type.kind in ("struct", "map"):
            return found
        raise PatchFailure(f"expected slice or array type, but got: {self.kind}")


class _Types:
    """The types of all built-in kinds: each struct is read once."""

    def __init__(self) -> None:
        self._schemas = builtin.schemas()
        self._named: dict[str, PatchType] = {}

    def named(self, name: str) -> PatchType:
        found = self._named.get(name)
        if found is None:
            found = self._named[name] = PatchType(self._schemas[name], self, name.rpartition(".")[2])
        return found

    def use(self, schema: Schema) -> PatchType:
        wrapped = (schema.get("allOf") or [schema])[0]
        reference = wrapped.get("$ref")
        return self.named(reference.rpartition("/")[2]) if isinstance(reference, str) else PatchType(schema, self)

    def field(self, schema: Schema) -> Field:
        # `retainKeys` only tells clients to send `$retainKeys`: the server does not look at it.
        said = [strategy for strategy in str(schema.get(_STRATEGY, "")).split(",") if strategy != "retainKeys"]
        return Field(self.use(schema), "".join(said), schema.get(_MERGE_KEY, ""))


@lru_cache(maxsize=1)
def _types() -> _Types:
    return _Types()


def patch_type(schema_name: str) -> PatchType:
    """The type of the built-in schema of this name. Each is read once."""
    return _types().named(schema_name)
