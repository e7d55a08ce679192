"""Versions and schemas of a definition as a refusal quotes them: the server prints its own types, all of their fields, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from setpoint.cluster.server.schema import FieldError, Json
from setpoint.cluster.server.schema.gotext import as_json


def refused(at: str, shown: str, detail: str) -> FieldError:
    """The refusal of a value that is printed already."""
    return FieldError("FieldValueInvalid", f"Invalid value: {shown}: {detail}", at)


def versions_text(versions: list[Mapping[str, Json]] | None, shared: Mapping[str, bool]) -> str:
    """The versions; of the parts that all agree on (`shared`) nothing is seen, since they are kept elsewhere."""
    if versions is None:
        return "null"
    own = [{name: value for name, value in version.items() if not shared.get(name)} for version in versions]
    return _list(_version)(own)


def schema_text(schema: Mapping[str, Json]) -> str:
    """A schema."""
    return _struct(_SCHEMA)(schema)


_Printer = Callable[[Json], str]


def _struct(fields: Mapping[str, tuple[str, _Printer, Json]]) -> _Printer:
    def text(value: Json) -> str:
        members = (f'"{shown}":{print_(value.get(name, zero))}' for name, (shown, print_, zero) in fields.items())
        return "{" + ",".join(members) + "}"

    return text


def _or_null(print_: _Printer) -> _Printer:
    return lambda value: "null" if value is None else print_(value)


def _list(print_: _Printer) -> _Printer:
    return _or_null(lambda value: "[" + ",".join(map(print_, value)) + "]")


def _map(print_: _Printer) -> _Printer:
    return _or_null(lambda value: "{" + ",".join(f"{as_json(name)}:{print_(item)}" for name, item in sorted(value.items())) + "}")


def _one_or_more(value: Json) -> str:
    one = "null" if isinstance(value, list) else schema_text(value)
    return f'{{"Schema":{one},"JSONSchemas":{_list(schema_text)(value if isinstance(value, list) else None)}}}'


def _schema_or_bool(value: Json) -> str:
    allows = value if isinstance(value, bool) else True
    return f'{{"Allows":{as_json(allows)},"Schema":{"null" if isinstance(value, bool) else schema_text(value)}}}'


def _schema_or_names(value: Json) -> str:
    if isinstance(value, list):
        return f'{{"Schema":null,"Property":{as_json(value)}}}'
    return f'{{"Schema":{schema_text(value)},"Property":null}}'


def _text(value: Json) -> str:
    return as_json(value)


def _schemas(value: Json) -> str:
    return _list(schema_text)(value)


def _schema(value: Json) -> str:
    return _or_null(schema_text)(value)


def _schema_map(value: Json) -> str:
    return _map(schema_text)(value)


_DOCS = _struct({"description": ("Description", _text, ""), "url": ("URL", _text, "")})
_RULE = _struct(
    {
        "rule": ("Rule", _text, ""),
        "message": ("Message", _text, ""),
        "messageExpression": ("MessageExpression", _text, ""),
        "reason": ("Reason", _text, None),
        "fieldPath": ("FieldPath", _text, ""),
        "optionalOldSelf": ("OptionalOldSelf", _text, None),
    }
)
_SCHEMA: dict[str, tuple[str, _Printer, Json]] = {
    "id": ("ID", _text, ""),
    "$schema": ("Schema", _text, ""),
    "$ref": ("Ref", _text, None),
    "description": ("Description", _text, ""),
    "type": ("Type", _text, ""),
    "nullable": ("Nullable", _text, False),
    "format": ("Format", _text, ""),
    "title": ("Title", _text, ""),
    "default": ("Default", _text, None),
    "maximum": ("Maximum", _text, None),
    "exclusiveMaximum": ("ExclusiveMaximum", _text, False),
    "minimum": ("Minimum", _text, None),
    "exclusiveMinimum": ("ExclusiveMinimum", _text, False),
    "maxLength": ("MaxLength", _text, None),
    "minLength": ("MinLength", _text, None),
    "pattern": ("Pattern", _text, ""),
    "maxItems": ("MaxItems", _text, None),
    "minItems": ("MinItems", _text, None),
    "uniqueItems": ("UniqueItems", _text, False),
    "multipleOf": ("MultipleOf", _text, None),
    "enum": ("Enum", _text, None),
    "maxProperties": ("MaxProperties", _text, None),
    "minProperties": ("MinProperties", _text, None),
    "required": ("Required", _text, None),
    "items": ("Items", _or_null(_one_or_more), None),
    "allOf": ("AllOf", _schemas, None),
    "oneOf": ("OneOf", _schemas, None),
    "anyOf": ("AnyOf", _schemas, None),
    "not": ("Not", _schema, None),
    "properties": ("Properties", _schema_map, None),
    "additionalProperties": ("AdditionalProperties", _or_null(_schema_or_bool), None),
    "patternProperties": ("PatternProperties", _schema_map, None),
    "dependencies": ("Dependencies", _map(_schema_or_names), None),
    "additionalItems": ("AdditionalItems", _or_null(_schema_or_bool), None),
    "definitions": ("Definitions", _schema_map, None),
    "externalDocs": ("ExternalDocs", _or_null(_DOCS), None),
    "example": ("Example", _text, None),
    "x-kubernetes-preserve-unknown-fields": ("XPreserveUnknownFields", _text, None),
    "x-kubernetes-embedded-resource": ("XEmbeddedResource", _text, False),
    "x-kubernetes-int-or-string": ("XIntOrString", _text, False),
    "x-kubernetes-list-map-keys": ("XListMapKeys", _text, None),
    "x-kubernetes-list-type": ("XListType", _text, None),
    "x-kubernetes-map-type": ("XMapType", _text, None),
    "x-kubernetes-validations": ("XValidations", _list(_RULE), None),
}
_COLUMN = _struct(
    {
        "name": ("Name", _text, ""),
        "type": ("Type", _text, ""),
        "format": ("Format", _text, ""),
        "description": ("Description", _text, ""),
        "priority": ("Priority", _text, 0),
        "jsonPath": ("JSONPath", _text, ""),
    }
)
_SCALE = _struct(
    {
        "specReplicasPath": ("SpecReplicasPath", _text, ""),
        "statusReplicasPath": ("StatusReplicasPath", _text, ""),
        "labelSelectorPath": ("LabelSelectorPath", _text, None),
    }
)
_version = _struct(
    {
        "name": ("Name", _text, ""),
        "served": ("Served", _text, False),
        "storage": ("Storage", _text, False),
        "deprecated": ("Deprecated", _text, False),
        "deprecationWarning": ("DeprecationWarning", _text, None),
        "schema": ("Schema", _or_null(_struct({"openAPIV3Schema": ("OpenAPIV3Schema", _schema, None)})), None),
        "subresources": (
            "Subresources",
            _or_null(_struct({"status": ("Status", _text, None), "scale": ("Scale", _or_null(_SCALE), None)})),
            None,
        ),
        "additionalPrinterColumns": ("AdditionalPrinterColumns", _list(_COLUMN), None),
        "selectableFields": ("SelectableFields", _list(_struct({"jsonPath": ("JSONPath", _text, "")})), None),
    }
)
