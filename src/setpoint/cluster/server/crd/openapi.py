"""The schemas that the server publishes for a custom kind, in its OpenAPI v3 document: what `kubectl explain` and clients read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.cluster.server.crd.definitions import CustomKind

_REFERENCE = "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_API_VERSION = {
    "description": "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas "
    f"to the latest internal value, and may reject unrecognized values. More info: {_CONVENTIONS}#resources",
    "type": "string",
}
_KIND = {
    "description": "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint "
    f"the client submits requests to. Cannot be updated. In CamelCase. More info: {_CONVENTIONS}#types-kinds",
    "type": "string",
}
_EMBEDDED_API_VERSION = {
    "description": f"apiVersion defines the versioned schema of this representation of an object. More info: {_CONVENTIONS}#resources",
    "type": "string",
}
_EMBEDDED_KIND = {
    "description": f"kind is a string value representing the type of this object. In CamelCase. More info: {_CONVENTIONS}#types-kinds",
    "type": "string",
}
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def schema_name(group: str, version: str, kind: str) -> str:
    """The name of a kind's schema in the document: the group's parts reversed, such as `dev.ex.v1.WebApp`."""
    return ".".join([*reversed(group.split(".")), version, kind])


def published_schemas(kind: CustomKind) -> dict[str, dict[str, Any]]:
    """Name to schema, for the kind and its list. They refer to ObjectMeta and ListMeta of the same document."""
    name = schema_name(kind.group, kind.version, kind.kind)
    return {name: _kind_schema(kind), schema_name(kind.group, kind.version, kind.list_kind): _list_schema(kind, name)}


def _kind_schema(kind: CustomKind) -> dict[str, Any]:
    schema = _published(kind.schema)
    properties = {**(schema.get("properties") or {}), "apiVersion": _API_VERSION, "kind": _KIND, "metadata": _metadata("Object")}
    schema["properties"] = dict(sorted(properties.items()))
    schema["x-kubernetes-group-version-kind"] = [{"group": kind.group, "kind": kind.kind, "version": kind.version}]
    return schema | _selectable(kind)


def _list_schema(kind: CustomKind, name: str) -> dict[str, Any]:
    return {
        "description": f"{kind.list_kind} is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _API_VERSION,
            "items": {
                "description": f"List of {kind.plural}. More info: {_CONVENTIONS}",
                "type": "array",
                "items": {"$ref": _REFERENCE + name},
            },
            "kind": _KIND,
            "metadata": _metadata("List"),
        },
        "x-kubernetes-group-version-kind": [{"group": kind.group, "kind": kind.list_kind, "version": kind.version}],
        **_selectable(kind),
    }


def _selectable(kind: CustomKind) -> dict[str, Any]:
    return {"x-kubernetes-selectable-fields": [{"fieldPath": path} for path in kind.selectable]} if kind.selectable else {}


def _metadata(of: str) -> dict[str, Any]:
    what = "object's metadata" if of == "Object" else "list metadata"
    anchor = "metadata" if of == "Object" else "types-kinds"
    return {
        "description": f"Standard {what}. More info: {_CONVENTIONS}#{anchor}",
        "allOf": [{"$ref": f"{_REFERENCE}{_META}{of}Meta"}],
    }


def _published(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` as clients see it: int-or-string spelled out as a choice, embedded resources with the fields of an object."""
    result = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(child := schema.get(key), Mapping):
            result[key] = _published(child)
    if schema.get("properties"):
        result["properties"] = {name: _published(child) for name, child in sorted(schema["properties"].items())}
    if schema.get("x-kubernetes-int-or-string"):
        _spell_out(result)
    if schema.get("x-kubernetes-embedded-resource"):
        fields = {"apiVersion": _EMBEDDED_API_VERSION, "kind": _EMBEDDED_KIND, "metadata": _metadata("Object")}
        result["properties"] = dict(sorted({**(result.get("properties") or {}), **fields}.items()))
        required = list(schema.get("required") or ())
        result["required"] = required + [name for name in ("kind", "apiVersion") if name not in required]
    return result


def _spell_out(schema: dict[str, Any]) -> None:
    any_of, all_of = schema.get("anyOf"), schema.get("allOf") or []
    if any_of == _INT_OR_STRING or (all_of and all_of[0].get("anyOf") == _INT_OR_STRING):
        return
    if any_of is None:
        schema["anyOf"] = _INT_OR_STRING
    else:
        schema["allOf"] = [{"anyOf": _INT_OR_STRING}, *all_of]
