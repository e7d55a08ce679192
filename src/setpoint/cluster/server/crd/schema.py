"""The rules for the schema of a custom resource: it must be *structural*, and its defaults must fit it.

Follows https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema.
Texts and order are those of kube-apiserver. CEL rules (`x-kubernetes-validations`) are refused, since nothing here would check them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from setpoint.cluster.server.crd.defaults import META_FIELDS, default_errors
from setpoint.cluster.server.crd.go_print import refused, schema_text
from setpoint.cluster.server.schema import FieldError, Json, SchemaError, causes, compile_schema
from setpoint.cluster.server.schema.formats import known_format
from setpoint.cluster.server.schema.pattern import PatternError, compile_pattern

Schema = Mapping[str, Json]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_JUNCTORS = ("anyOf", "allOf", "oneOf")
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_CEL_MISSING = "CEL validation rules (x-kubernetes-validations) are not supported by the embedded server yet"

_ROOT_WITH_STATUS = {
    "description": "Description", "type": "Type", "format": "Format", "title": "Title", "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum", "minimum": "Minimum", "exclusiveMinimum": "ExclusiveMinimum", "maxLength": "MaxLength",
    "minLength": "MinLength", "pattern": "Pattern", "maxItems": "MaxItems", "minItems": "MinItems", "uniqueItems": "UniqueItems",
    "multipleOf": "MultipleOf", "required": "Required", "items": "Items", "properties": "Properties", "externalDocs": "ExternalDocs",
    "example": "Example", "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields", "x-kubernetes-validations": "XValidations",
}  # fmt: skip
"""What may stand at the root of a schema whose kind has a status subresource, and what the server calls it."""


def schema_errors(schema: Schema, path: str, *, has_status: bool) -> list[FieldError]:
    """Everything that keeps `schema` (an `openAPIV3Schema`, at the field `path`) from being served."""
    errors = _root_errors(schema, path, has_status)
    # With a keyword that no structural schema knows there is no telling the rest; the keyword is refused below.
    structural = (
        []
        if any(map(_unsupported, walk(schema)))
        else sorted(
            [*_Invariants().node(schema, path, "root"), *_completeness(schema, schema, path, path)],
            key=lambda error: f"{error.field}: {error.message}",
        )
    )
    if not structural and not any(map(_unsupported, walk(schema))):
        structural = default_errors(schema, path)
    errors += structural
    errors += _OpenApiRules().node(schema, path, _Place(root=True))
    if not errors:
        try:
            compile_schema(schema)
        except SchemaError as error:
            errors.append(causes.invalid(path.removesuffix(".openAPIV3Schema"), "", f"error building validator: {error}"))
    return errors


def schema_warnings(schema: Schema) -> list[str]:
    """What the server warns about: formats that it does not check, and sets that neither server-side apply nor CEL can handle."""
    formats: list[str] = []
    sets: list[str] = []
    for node in walk(schema):
        written = node.get("format") or ""
        kind = node.get("type")
        if written and not known_format((str(kind),) if kind else (), written):
            formats.append(f'unrecognized format "{written}"')
        items = node.get("items")
        if node.get("x-kubernetes-list-type") == "set" and isinstance(items, Mapping) and items.get("type") in ("object", "array"):
            kinds = f'x-kubernetes-list-type: set for items of type "{items["type"]}"'
            sets.append(f"{kinds} is not supported by server-side apply or CEL validation rules")
    return formats + sorted(dict.fromkeys(sets))


def walk(schema: Schema) -> Iterator[Schema]:
    """`schema` and every schema inside it."""
    yield schema
    for key in ("items", "not", "additionalProperties"):
        child = schema.get(key)
        if isinstance(child, Mapping):
            yield from walk(child)
    for key in _JUNCTORS:
        for child in schema.get(key) or ():
            yield from walk(child)
    for child in (schema.get("properties") or {}).values():
        yield from walk(child)


def _unsupported(schema: Schema) -> bool:
    if isinstance(schema.get("items"), list) or schema.get("x-kubernetes-preserve-unknown-fields") is False:
        return True
    return any(schema.get(name) is not None for name in _UNSUPPORTED)


_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


def _root_errors(schema: Schema, path: str, has_status: bool) -> list[FieldError]:
    errors = []
    if has_status:
        # The status is validated on its own by properties["status"], so nothing at the root may say anything about it.
        if schema.get("type") and schema["type"] != "object":
            detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            errors.append(causes.invalid(f"{path}.type", schema["type"], detail))
        elif any(key not in _ROOT_WITH_STATUS and not _is_zero(key, value) for key, value in schema.items()):
            names = " ".join(_ROOT_WITH_STATUS.values())
            detail = f"only [{names}] fields are allowed at the root of the schema if the status subresource is enabled"
            errors.append(refused(path, schema_text(schema), detail))
    if schema.get("nullable"):
        errors.append(causes.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    return errors


def _is_zero(key: str, value: Json) -> bool:
    """Whether the server cannot tell this value from none: numbers may be zero, and a list of nothing is a list."""
    return value is None or (value in ("", False) and key in _PLAIN_VALUES)


_PLAIN_VALUES = ("id", "$schema", "nullable", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string")


class _Invariants:
    """What makes a schema structural: every node has a type of its own, and under allOf, anyOf, oneOf and not there are only checks."""

    def node(self, schema: Schema, path: str, level: str) -> list[FieldError]:
        errors: list[FieldError] = []
        kind = schema.get("type") or ""
        properties: Mapping[str, Schema] = schema.get("properties") or {}
        items = schema.get("items")
        if kind == "array" and not isinstance(items, (Mapping, list)):  # Go reads anything else as no items
            errors.append(causes.required(f"{path}.items", "must be specified"))
        if isinstance(items, Mapping):
            errors += self.node(items, f"{path}.items", "item")
        for name, child in properties.items():
            errors += self.node(child, f"{path}.properties[{name}]", "field")
        additional = schema.get("additionalProperties")
        if additional is not None and level == "root":
            errors.append(causes.forbidden(f"{path}.additionalProperties", "must not be used at the root"))
        if isinstance(additional, Mapping):
            errors += self.node(additional, f"{path}.additionalProperties", "field")
        errors += self._extensions(schema, path)
        errors += self._validations(
            schema, path, skip_any_of=schema.get("anyOf") == _INT_OR_STRING, skip_first=_starts_int_or_string(schema)
        )
        errors += self._type(schema, kind, path, level)
        errors += self._metadata(schema, properties, path, level)
        return errors

    def _extensions(self, schema: Schema, path: str) -> Iterator[FieldError]:
        if schema.get("x-kubernetes-int-or-string"):
            for name in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
                if schema.get(name):
                    yield causes.invalid(f"{path}.{name}", True, "must be false if x-kubernetes-int-or-string is true")

    def _type(self, schema: Schema, kind: str, path: str, level: str) -> Iterator[FieldError]:
        where = f"{path}.type"
        free = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
        if schema.get("x-kubernetes-embedded-resource"):
            if not kind:
                yield causes.required(where, "must be object if x-kubernetes-embedded-resource is true")
            elif kind != "object":
                yield causes.invalid(where, kind, "must be object if x-kubernetes-embedded-resource is true")
            if schema.get("additionalProperties") is not None:
                yield causes.forbidden(f"{path}.additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")
            if not schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
                detail = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
                yield causes.required(f"{path}.properties", detail)
        elif not kind and not free:
            places = {"root": "at the root", "item": "for specified array items", "field": "for specified object fields"}
            yield causes.required(where, f"must not be empty {places[level]}")
        if level == "root" and kind and kind != "object":
            yield causes.invalid(where, kind, "must be object at the root")

    def _metadata(self, schema: Schema, properties: Mapping[str, Schema], path: str, level: str) -> Iterator[FieldError]:
        if level == "root" or schema.get("x-kubernetes-embedded-resource"):
            for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
                if name in properties and properties[name].get("type") != wanted:
                    yield causes.invalid(f"{path}.properties[{name}].type", properties[name].get("type") or "", f"must be {wanted}")
        if level == "root" and "metadata" in properties:
            metadata = properties["metadata"]
            extra = [
                key
                for key, value in metadata.items()
                if key not in ("type", "default", "properties") and value not in (None, False, "", [])
            ]
            if extra or not (metadata.get("properties") or {}).keys() <= {"name", "generateName"}:
                detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
                yield causes.forbidden(f"{path}.properties[metadata]", detail)

    def _validations(self, schema: Schema, path: str, *, skip_any_of: bool, skip_first: bool) -> list[FieldError]:
        errors: list[FieldError] = []
        for junctor in _JUNCTORS:
            if junctor == "anyOf" and skip_any_of:
                continue
            for index, branch in enumerate(schema.get(junctor) or ()):
                errors += self._nested(branch, f"{path}.{junctor}[{index}]", skip_any_of=skip_first and junctor == "allOf" and index == 0)
        if isinstance(schema.get("not"), Mapping):
            errors += self._nested(schema["not"], f"{path}.not")
        if pattern := schema.get("pattern"):
            try:
                compile_pattern(pattern)
            except PatternError as error:
                errors.append(causes.invalid(f"{path}.pattern", pattern, f"must be a valid regular expression, but isn't: {error}"))
        return errors

    def _nested(self, schema: Schema, path: str, *, skip_any_of: bool = False) -> list[FieldError]:
        errors = self._validations(schema, path, skip_any_of=skip_any_of, skip_first=False)
        if isinstance(schema.get("items"), Mapping):
            errors += self._nested(schema["items"], f"{path}.items")
        for name, child in (schema.get("properties") or {}).items():
            errors += self._nested(child, f"{path}.properties[{name}]")
        for name, wanted in _FORBIDDEN_NESTED.items():
            value = schema.get(name)
            if value or (wanted == "undefined" and value is not None and not (name == "additionalProperties" and value is False)):
                errors.append(causes.forbidden(f"{path}.{name}", f"must be {wanted} to be structural"))
        if "metadata" in (schema.get("properties") or {}):
            errors.append(causes.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context"))
        return errors


_FORBIDDEN_NESTED = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "title": "empty",
    "description": "empty",
    "nullable": "false",
    "x-kubernetes-preserve-unknown-fields": "false",
    "x-kubernetes-embedded-resource": "false",
    "x-kubernetes-int-or-string": "false",
    "x-kubernetes-list-map-keys": "empty",
    "x-kubernetes-list-type": "undefined",
    "x-kubernetes-map-type": "undefined",
    "x-kubernetes-validations": "empty",
}


def _starts_int_or_string(schema: Schema) -> bool:
    branches: list[Schema] = schema.get("allOf") or []
    return bool(branches) and branches[0].get("anyOf") == _INT_OR_STRING


def _completeness(validation: Schema, schema: Schema | None, path: str, at: str) -> list[FieldError]:
    """A field that a value check names must be there in the structure too."""
    if schema is None:
        return [causes.required(path, f"because it is defined in {at}")]
    errors: list[FieldError] = []
    if isinstance(validation.get("not"), Mapping):
        errors += _nested_completeness(validation["not"], schema, path, f"{at}.not")
    for junctor in ("allOf", "anyOf", "oneOf"):
        for index, branch in enumerate(validation.get(junctor) or ()):
            errors += _nested_completeness(branch, schema, path, f"{at}.{junctor}[{index}]")
    return errors


def _nested_completeness(validation: Schema, schema: Schema | None, path: str, at: str) -> list[FieldError]:
    if schema is None:
        return [causes.required(path, f"because it is defined in {at}")]
    errors = _completeness(validation, schema, path, at)
    if isinstance(validation.get("items"), Mapping):
        errors += _nested_completeness(validation["items"], schema.get("items"), f"{path}.items", f"{at}.items")
    properties = schema.get("properties") or {}
    for name, child in (validation.get("properties") or {}).items():
        errors += _nested_completeness(child, properties.get(name), f"{path}.properties[{name}]", f"{at}.properties[{name}]")
    return errors


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the schema a node stands, as far as rules depend on it."""

    root: bool = False
    inside_meta: bool = False
    defaults_forbidden: str | None = None
    """Why a default must not be set here."""


class _OpenApiRules:
    """What OpenAPI allows and the API server does not, or only in certain company."""

    def node(self, schema: Schema, path: str, place: _Place) -> list[FieldError]:
        errors = list(self._keywords(schema, path, place))
        additional = schema.get("additionalProperties")
        properties: Mapping[str, Schema] = schema.get("properties") or {}
        if additional is not None and additional is not True and properties:
            errors.append(causes.forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive"))
        below = replace(place, root=False)
        if isinstance(additional, Mapping):
            inside = "inside additionalProperties applying to object metadata" if place.inside_meta else place.defaults_forbidden
            errors += self.node(additional, f"{path}.additionalProperties", replace(below, defaults_forbidden=inside))
        for name, child in sorted(properties.items()):
            at = below
            if (place.root or schema.get("x-kubernetes-embedded-resource")) and name in META_FIELDS:
                at = replace(at, inside_meta=True, defaults_forbidden=f"in top-level {name}" if place.root else at.defaults_forbidden)
            errors += self.node(child, f"{path}.properties[{name}]", at)
        if isinstance(schema.get("not"), Mapping):
            errors += self.node(schema["not"], f"{path}.not", below)
        for junctor in ("allOf", "oneOf", "anyOf"):
            for index, branch in enumerate(schema.get(junctor) or ()):
                errors += self.node(branch, f"{path}.{junctor}[{index}]", below)
        if isinstance(schema.get("items"), Mapping):
            errors += self.node(schema["items"], f"{path}.items", below)
        if schema.get("x-kubernetes-preserve-unknown-fields") is False:
            errors.append(causes.invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined"))
        errors += self._map_type(schema, path)
        errors += self._list_type(schema, path)
        if schema.get("x-kubernetes-validations"):
            errors.append(causes.forbidden(f"{path}.x-kubernetes-validations", _CEL_MISSING))
        return errors

    def _keywords(self, schema: Schema, path: str, place: _Place) -> Iterator[FieldError]:
        kind = schema.get("type")
        if kind and kind not in _TYPES:
            yield causes.not_supported(f"{path}.type", kind, _TYPES)
        if schema.get("default") is not None and place.defaults_forbidden is not None:
            yield causes.forbidden(f"{path}.default", f"must not be set {place.defaults_forbidden}")
        for name in _UNSUPPORTED:
            if schema.get(name) is not None:
                yield causes.forbidden(f"{path}.{name}", f"{name} is not supported")
        if kind == "null":
            yield causes.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
        if isinstance(schema.get("items"), list):
            yield causes.forbidden(f"{path}.items", "items must be a schema object and not an array")
        if place.inside_meta and schema.get("x-kubernetes-embedded-resource"):
            yield causes.forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")
        if schema.get("uniqueItems"):
            yield causes.forbidden(
                f"{path}.uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            )

    def _map_type(self, schema: Schema, path: str) -> Iterator[FieldError]:
        map_type = schema.get("x-kubernetes-map-type")
        if map_type is None:
            return
        yield from self._typed(schema, path, "object", "x-kubernetes-map-type")
        if map_type not in ("atomic", "granular"):
            yield causes.not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))

    def _typed(self, schema: Schema, path: str, wanted: str, keyword: str) -> Iterator[FieldError]:
        kind = schema.get("type")
        if kind == wanted:
            return
        detail = f"must be {wanted} if {keyword} is specified"
        yield causes.invalid(f"{path}.type", kind, detail) if kind else causes.required(f"{path}.type", detail)

    def _list_type(self, schema: Schema, path: str) -> Iterator[FieldError]:
        list_type = schema.get("x-kubernetes-list-type")
        keys = schema.get("x-kubernetes-list-map-keys") or []
        items = schema.get("items")
        where = f"{path}.x-kubernetes-list-type"
        if list_type is not None:
            yield from self._typed(schema, path, "array", "x-kubernetes-list-type")
            if schema.get("type") == "array" and list_type == "set" and isinstance(items, Mapping):
                yield from self._set_items(items, path)
            if list_type not in ("atomic", "set", "map"):
                yield causes.not_supported(where, list_type, ("atomic", "set", "map"))
        if keys and list_type != "map":
            detail = "must be map if x-kubernetes-list-map-keys is non-empty"
            yield causes.required(where, detail) if list_type is None else causes.invalid(where, list_type, detail)
        if list_type == "map":
            yield from self._map_list(items, keys, path)
        if list_type in ("set", "map") and isinstance(items, Mapping):
            yield from self._nullable(items, keys if list_type == "map" else [], path, list_type)

    def _set_items(self, items: Schema, path: str) -> Iterator[FieldError]:
        detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
        list_type = items.get("x-kubernetes-list-type")
        if items.get("type") == "array" and list_type not in (None, "atomic"):
            yield causes.invalid(f"{path}.items.x-kubernetes-list-type", list_type, detail)
        if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
            yield causes.invalid(f"{path}.items.x-kubernetes-map-type", list_type, detail)

    def _map_list(self, items: Json, keys: list[str], path: str) -> Iterator[FieldError]:
        where = f"{path}.x-kubernetes-list-map-keys"
        if not keys:
            yield causes.required(where, "must not be empty if x-kubernetes-list-type is map")
        if items is None:
            yield causes.required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
        if not isinstance(items, Mapping):
            return
        if items.get("type") != "object":
            detail = "must be object if parent array's x-kubernetes-list-type is map"
            yield causes.invalid(f"{path}.items.type", items.get("type") or "", detail)
            return
        properties = items.get("properties") or {}
        seen: list[str] = []
        for key in keys:
            if key not in properties:
                yield causes.invalid(where, keys, "entries must all be names of item properties")
            elif properties[key].get("type") in ("array", "object"):
                detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
                yield causes.invalid(f"{path}.items.properties[{key}].type", items["type"], detail)
            if key in seen:
                yield causes.invalid(where, keys, "must not contain duplicate entries")
            seen.append(key)

    def _nullable(self, items: Schema, keys: list[str], path: str, list_type: str) -> Iterator[FieldError]:
        if items.get("nullable"):
            yield causes.forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
        properties = items.get("properties") or {}
        for key in keys:
            if key not in properties:
                continue
            where = f"{path}.items.properties[{key}]"
            if key not in (items.get("required") or ()) and properties[key].get("default") is None:
                detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
                yield causes.required(f"{where}.default", detail)
            if properties[key].get("nullable"):
                yield causes.forbidden(f"{where}.nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
