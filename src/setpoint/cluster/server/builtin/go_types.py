"""The Go structs of the Kubernetes API: how each of their fields is written in JSON and in protobuf, from ``published/structs``.

A type is written as in Go, with the OpenAPI name where Go has that of a package: ``[]io.k8s.api.core.v1.Container``, ``*int32``,
``map[string]string``. https://pkg.go.dev/encoding/json#Marshal says what omitempty and omitzero do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from setpoint.cluster.server.builtin.loader import unpacked

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
TIME, MICRO_TIME, FIELDS = f"{META}.Time", f"{META}.MicroTime", f"{META}.FieldsV1"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
RAW_EXTENSION = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
SCHEMA = f"{_SCHEMA}.JSONSchemaProps"
JSON = f"{_SCHEMA}.JSON"
SCHEMA_OR_BOOL = f"{SCHEMA}OrBool"
SCHEMA_UNIONS = (f"{SCHEMA}OrArray", SCHEMA_OR_BOOL, f"{SCHEMA}OrStringArray")
SPECIAL = (TIME, MICRO_TIME, FIELDS, QUANTITY, INT_OR_STRING, RAW_EXTENSION, JSON, *SCHEMA_UNIONS)
"""Structs that are written in a form of their own."""

Shape: TypeAlias = Literal["scalar", "struct", "list", "map", "bytes", "any"]


@dataclass(frozen=True, slots=True)
class GoType:
    """A type. `name` is that of the struct or scalar; for lists and maps, the text of the type of what they hold."""

    text: str
    pointer: bool
    shape: Shape
    name: str

    @property
    def shown(self) -> str:
        """The type as Go prints it: without the path of packages, and what a pointer points to."""
        text = self.text.removeprefix("*")
        start = max(text.rfind("]"), text.rfind("*")) + 1
        return text[:start] + ".".join(text[start:].split(".")[-2:])


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct. One that JSON does not show has its Go name in brackets."""

    name: str
    go_name: str
    number: int
    """In protobuf; 0 for none."""
    type: GoType
    omitempty: bool
    omitzero: bool
    default: Any
    """What the server fills in where nothing was sent; None for nothing."""


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct."""

    name: str
    fields: dict[str, Field]
    """Those that it shows in JSON, with those of the structs that are inlined."""
    own: dict[str, Field]
    """Those that are its own."""
    inlined: tuple[tuple[int, str, str], ...]
    """The structs that are inlined: number in protobuf (0 for none), name in Go, and struct."""


@lru_cache(maxsize=2048)
def struct(name: str) -> Struct:
    """The struct of an OpenAPI name. Raises `KeyError`."""
    own: dict[str, Field] = {}
    inherited: dict[str, Field] = {}
    inlined: list[tuple[int, str, str]] = []
    for called, number, flags, text, go_name, *default in unpacked("structs")["structs"][name]:
        if "i" in flags:
            embedded = go_type(text)
            if embedded.shape == "struct" and not embedded.name.startswith("time."):
                inlined.append((number, go_name, embedded.name))
                inherited |= struct(embedded.name).fields
        else:
            go_name = go_name or called[:1].upper() + called[1:]
            own[called] = Field(called, go_name, number, go_type(text), "o" in flags, "z" in flags, default[0] if default else None)
    return Struct(name, inherited | own, own, tuple(inlined))


@lru_cache(maxsize=4096)
def go_type(text: str) -> GoType:
    """What a type is."""
    pointer = text.startswith("*")
    bare = text.removeprefix("*")
    under: str = unpacked("structs")["named"].get(bare, bare)
    if under == "[]uint8":
        return GoType(text, pointer, "bytes", "")
    if under.startswith("[]"):
        return GoType(text, pointer, "list", under.removeprefix("[]"))
    if under.startswith("map[string]"):
        return GoType(text, pointer, "map", under.removeprefix("map[string]"))
    if under == "any":
        return GoType(text, pointer, "any", "")
    return GoType(text, pointer, "struct" if "." in under else "scalar", under)


@lru_cache(maxsize=1)
def registered() -> dict[tuple[str, str, str], str]:
    """The struct of each kind that Go's scheme knows in a stable version, by group, version and kind: objects, lists, and options."""
    return {(kind["Group"], kind["Version"], kind["Kind"]): kind["Struct"] for kind in unpacked("structs")["kinds"]}
