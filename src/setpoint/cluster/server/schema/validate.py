"""Validation of a value by its schema, in the words of the real server.

The order of checks, the texts and even the oddities (a format error names the format as a type, a failed `anyOf` has no field) are those
of kube-apiserver, since people and programs read them. Only the order among the fields of one object is ours: by name, where the real
server's is random.
"""

from __future__ import annotations

from setpoint.cluster.server.schema import causes
from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.embedded import embedded_errors
from setpoint.cluster.server.schema.formats import has_format
from setpoint.cluster.server.schema.gotext import as_json, go_value, number, quote
from setpoint.cluster.server.schema.lists import list_errors
from setpoint.cluster.server.schema.structural import Json, Structural

NO_FIELD = "<nil>"
"""What Go prints for the path of an error that is about no field in particular."""

_INT_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1), "": (-(2**63), 2**63 - 1)}
_FLOAT32_MAX = 3.4028234663852886e38


def validate(obj: Json, schema: Structural) -> list[FieldError]:
    """Everything about `obj` that `schema` refuses: values first, then embedded resources, then lists that are sets or maps."""
    errors: list[FieldError] = []
    _Validator(errors).check(obj, schema, "")
    if len(errors) > 1:
        # The same finding by two branches is reported once.
        errors = list(dict.fromkeys(errors))
    errors = list(map(_named, errors))
    if schema.has_embedded:
        errors += embedded_errors(obj, schema)
    if schema.has_list_rules:
        errors += list_errors(obj, schema)
    return errors


def validate_value(value: Json, schema: Structural, path: str = "") -> list[FieldError]:
    """What `validate` does for a value somewhere inside an object, without the rules for embedded resources and lists."""
    errors: list[FieldError] = []
    _Validator(errors).check(value, schema, path)
    return [_named(error) for error in dict.fromkeys(errors)]


def _named(error: FieldError) -> FieldError:
    """The entries of a map at the root are `.key` in texts, and `key` where fields are named; the root itself has no name."""
    if error.field and not error.field.startswith("."):
        return error
    return FieldError(error.reason, error.message, (error.field or "")[1:] or NO_FIELD)


class _Validator:
    """Each method appends what it finds and returns how many checks passed, by which the best branch of an `anyOf` is chosen."""

    def __init__(self, errors: list[FieldError]) -> None:
        self._errors = errors

    def check(self, value: Json, node: Structural, path: str) -> int:
        if value is None:
            return self._check_null(node, path)
        kind = type(value)
        if kind in node.plain:
            return _PLAIN_COUNT[kind]
        count = 4  # the node, its branches (also where there are none) and its enum
        if node.types or node.format:
            fits = (kind is dict and "object" in node.types) or (kind is list and "array" in node.types)
            count += 2 if fits else self._type(value, node, path) + 1
        if node.branching:
            count += self._branches(value, node, path)
        if kind is str:
            self._string(value, node, path)
            count += 2 if node.format else 1
        elif kind is int or kind is float:
            self._number(value, node, path)
            count += 2
        elif kind is list:
            count += self._list(value, node, path) + 2
        if node.enum and not _in_enum(value, node.enum):
            self._errors.append(causes.not_supported(path, value, _enum_names(node.enum)))
        if kind is dict:
            count += self._object(value, node, path) + 1
        return count

    def _check_null(self, node: Structural, path: str) -> int:
        count = 1
        if node.types and not node.nullable:
            count = 0
            self._errors.append(causes.type_invalid(path, "null", f'{path} in body must be of type {",".join(node.types)}: "null"'))
        if node.enum:
            self._errors.append(causes.not_supported(path, None, _enum_names(node.enum)))
        return count

    def _type(self, value: Json, node: Structural, path: str) -> int:
        types, format = node.types, node.format
        kind = type(value)
        if kind is str:
            if "string" in types or (format and "integer" not in types and "number" not in types):
                return 1
            found = "string"
        elif kind is dict:
            if "object" in types:
                return 1
            found = "object"
        elif kind is int:
            if "integer" in types or "number" in types:
                return 1
            found = "integer"
        elif kind is bool:
            if "boolean" in types:
                return 1
            found = "boolean"
        elif kind is float:
            if "number" in types or ("integer" in types and is_whole(value)):
                return 1
            found = "number"
        else:
            if "array" in types or (format and "integer" not in types and "number" not in types):
                return 1
            found = "array"
        expected = ",".join(types)
        own = {"integer": "int64", "number": "float64"}.get(found, "")
        if format and kind is not str and kind is not list and own != format:
            # Here the real server compares formats, and shows the one that it would give to the value's own type.
            expected, found = format, own
        self._errors.append(causes.type_invalid(path, found, f"{path} in body must be of type {expected}: {quote(found)}"))
        return 0

    def _string(self, value: str, node: Structural, path: str) -> None:
        if node.max_length is not None and len(value) > node.max_length:
            self._errors.append(causes.too_long(path, node.max_length))
        elif node.min_length is not None and len(value) < node.min_length:
            self._errors.append(causes.invalid(path, value, f"{path} in body should be at least {node.min_length} chars long"))
        elif node.matcher is not None and not node.matcher.search(value):
            self._errors.append(causes.invalid(path, value, f"{path} in body should match '{node.pattern}'"))
        if node.format and not has_format(value, node.format):
            self._errors.append(causes.type_invalid(path, value, f"{path} in body must be of type {node.format}: {quote(value)}"))

    def _number(self, value: int | float, node: Structural, path: str) -> None:
        single = node.types[0] if len(node.types) == 1 else ""
        if single == "integer" or node.format == "float":
            self._range("Checked", value, node, single, path)
        if node.multiple_of is not None:
            factor, operand = self._bound("MultipleOf", node.multiple_of, value, node, single, path)
            if factor <= 0:
                self._errors.append(
                    causes.invalid(path, factor, f"factor MultipleOf declared for {path} must be positive: {number(factor)}")
                )
            elif not _is_multiple(operand, factor):
                self._errors.append(causes.invalid(path, operand, f"{path} in body should be a multiple of {number(factor)}"))
        if node.maximum is not None:
            limit, value_ = self._bound("Maximum boundary", node.maximum, value, node, single, path)
            if value_ >= limit if node.exclusive_maximum else value_ > limit:
                words = "less than" if node.exclusive_maximum else "less than or equal to"
                self._errors.append(causes.invalid(path, value_, f"{path} in body should be {words} {number(limit)}"))
        if node.minimum is not None:
            limit, value_ = self._bound("Minimum boundary", node.minimum, value, node, single, path)
            if value_ <= limit if node.exclusive_minimum else value_ < limit:
                words = "greater than" if node.exclusive_minimum else "greater than or equal to"
                self._errors.append(causes.invalid(path, value_, f"{path} in body should be {words} {number(limit)}"))

    def _bound(
        self, what: str, bound: int | float, value: int | float, node: Structural, single: str, path: str
    ) -> tuple[int | float, int | float]:
        """What a value is compared with, and as what: a whole number with the whole part of a bound, if the bound is of its type."""
        if not self._range(what, bound, node, single, path):
            return float(bound), float(value)
        return (int(bound) if type(value) is int else bound), value

    def _range(self, what: str, value: int | float, node: Structural, single: str, path: str) -> bool:
        if single == "integer":
            low, high = _INT_RANGES.get(node.format, _INT_RANGES["int64"])
            fits = float(value).is_integer() and low <= value <= high
        else:
            fits = node.format != "float" or abs(value) <= _FLOAT32_MAX
        if not fits:
            kind = f"{single} with format {node.format}" if node.format else f"{single} (default format)"
            self._errors.append(causes.invalid(NO_FIELD, "", f"{what} value must be of type {kind} in {path}"))
        return fits

    def _list(self, value: list[Json], node: Structural, path: str) -> int:
        count = 0
        if node.items is not None:
            plain = node.items.plain
            for index, item in enumerate(value):
                if (kind := type(item)) in plain:
                    count += _PLAIN_COUNT[kind]
                else:
                    count += self.check(item, node.items, f"{path}[{index}]")
        if node.min_items is not None and len(value) < node.min_items:
            self._errors.append(causes.invalid(path, len(value), f"{path} in body should have at least {node.min_items} items"))
        if node.max_items is not None and len(value) > node.max_items:
            self._errors.append(causes.too_many(path, len(value), node.max_items))
        if node.unique_items and len({as_json(item) for item in value}) < len(value):
            self._errors.append(causes.invalid(path, "", f"{path} in body shouldn't contain duplicates"))
        return count

    def _object(self, value: dict[str, Json], node: Structural, path: str) -> int:
        count = 0
        properties = node.properties
        if node.min_properties is not None and len(value) < node.min_properties:
            self._errors.append(causes.invalid(path, len(value), f"{path} in body should have at least {node.min_properties} properties"))
        if node.max_properties is not None and len(value) > node.max_properties:
            self._errors.append(causes.too_many(path, len(value), node.max_properties))
        if node.closed:
            for key in sorted(value.keys() - properties.keys()):
                self._errors.append(causes.invalid(path, key, f"{path}.{key} in body is a forbidden property"))
        elif node.additional is not None:
            for key, item in value.items():
                if key not in properties:
                    if (kind := type(item)) in node.additional.plain:
                        count += _PLAIN_COUNT[kind]
                        continue
                    count += self.check(item, node.additional, f"{path}.{key}")
        if len(properties) <= len(value):
            for key, child in properties.items():
                if key in value:
                    if (kind := type(value[key])) in child.plain:
                        count += _PLAIN_COUNT[kind]
                        continue
                    count += self.check(value[key], child, f"{path}.{key}" if path else key)
        else:
            for key in sorted(value):
                if key in properties:
                    if (kind := type(value[key])) in properties[key].plain:
                        count += _PLAIN_COUNT[kind]
                        continue
                    count += self.check(value[key], properties[key], f"{path}.{key}" if path else key)
        for key in node.required:
            if key not in value:
                self._errors.append(causes.required(f"{path}.{key}" if path else key))
        return count

    def _branches(self, value: Json, node: Structural, path: str) -> int:
        count = 0
        if node.any_of:
            count += self._any_of(value, node, path)
        if node.one_of:
            count += self._one_of(value, node, path)
        if node.all_of:
            valid = 0
            for branch in node.all_of:
                errors, passed = self._try(value, branch, path)
                valid += not errors
                self._errors += errors
                count += passed
            if valid != len(node.all_of):
                self._whole(f"{quote(path)} must validate all the schemas (allOf){'' if valid else '. None validated'}")
        if node.not_ is not None:
            errors, _ = self._try(value, node.not_, path)
            if not errors:
                self._whole(f"{quote(path)} must not validate the schema (not)")
        return count

    def _any_of(self, value: Json, node: Structural, path: str) -> int:
        best: tuple[list[FieldError], int] | None = None
        for branch in node.any_of:
            errors, passed = self._try(value, branch, path)
            if not errors:
                return passed
            if best is None or passed > best[1]:
                best = errors, passed
        assert best is not None
        self._whole(f"{quote(path)} must validate at least one schema (anyOf)")
        self._errors += best[0]
        return best[1]

    def _one_of(self, value: Json, node: Structural, path: str) -> int:
        best: tuple[list[FieldError], int] | None = None
        valid: list[int] = []
        for branch in node.one_of:
            errors, passed = self._try(value, branch, path)
            if not errors:
                valid.append(passed)
            elif not valid and (best is None or passed > best[1]):
                best = errors, passed
        if len(valid) == 1:
            return valid[0]
        found = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
        self._whole(f"{quote(path)} must validate one and only one schema (oneOf). {found}")
        if not valid and best is not None:
            self._errors += best[0]
            return best[1]
        return 0

    def _try(self, value: Json, branch: Structural, path: str) -> tuple[list[FieldError], int]:
        errors: list[FieldError] = []
        passed = _Validator(errors).check(value, branch, path)
        return errors, passed

    def _whole(self, detail: str) -> None:
        self._errors.append(causes.invalid(NO_FIELD, "", detail))


def _in_enum(value: Json, enum: list[Json]) -> bool:
    kind = type(value)
    # Python takes True for 1; JSON does not.
    return any(value == allowed and (type(allowed) is kind or (kind in _NUMBERS and type(allowed) in _NUMBERS)) for allowed in enum)


def _enum_names(enum: list[Json]) -> list[str]:
    return [value if isinstance(value, str) else go_value(value) for value in enum]


def _is_multiple(value: int | float, factor: float) -> bool:
    if type(value) is int:
        return value % factor == 0
    quotient = 1 / factor * value if factor < 1 else value / factor
    return is_whole(quotient)


def is_whole(value: float) -> bool:
    """Whether a number is an integer as JSON has them, or near enough."""
    difference = abs(value - int(value))
    return abs(value) < 2**53 and (difference == 0 or difference / (abs(value) + abs(int(value))) < 1e-9)


_NUMBERS = (int, float)
_PLAIN_COUNT: dict[type, int] = {str: 7, bool: 6, int: 8, float: 8}
"""The checks that a value passes whose type is all that the schema asks."""
