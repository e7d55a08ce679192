"""Values as Go prints them, since that is how the API server quotes what it refuses."""

from __future__ import annotations

import json
from decimal import Decimal
from math import isinf, isnan

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"'}


def quote(text: str) -> str:
    """`text` in double quotes, escaped as by Go's `%q`."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number(value: float) -> str:
    """A number as by Go's `%v`: the fewest digits that read back equal, with an exponent below 1e-4 and from 1e6 for what is no integer."""
    if isinstance(value, int):
        return str(value)
    if isnan(value) or isinf(value):
        return "NaN" if isnan(value) else ("+Inf" if value > 0 else "-Inf")
    decimal, exponent = _shortest(value)
    return f"{decimal:f}" if -4 <= exponent < 6 else _scientific(decimal, exponent, "02d")


def _shortest(value: float) -> tuple[Decimal, int]:
    """The fewest digits that read back equal, without trailing zeros, and the power of ten of the first of them."""
    decimal = Decimal(repr(value))
    return (decimal.normalize(), decimal.adjusted()) if decimal else (decimal.quantize(Decimal(1)), 0)


def _scientific(decimal: Decimal, exponent: int, form: str) -> str:
    sign, digits, _ = decimal.as_tuple()
    first, rest = digits[0], "".join(map(str, digits[1:]))
    mantissa = f"{'-' if sign else ''}{first}{'.' if rest else ''}{rest}"
    return f"{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):{form}}"


def plain(value: object) -> str:
    """A decoded JSON value as by Go's `%v`."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
        case dict():
            return "map[" + " ".join(f"{key}:{plain(item)}" for key, item in sorted(value.items())) + "]"
        case list():
            return "[" + " ".join(map(plain, value)) + "]"
    return str(value)


def type_name(value: object) -> str:
    """The Go type of a decoded JSON value, as by `%T`."""
    return _TYPES[type(value)]


_TYPES = {
    type(None): "<nil>",
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def as_json(value: object) -> str:
    """Compact JSON as Go marshals it: sorted keys; <, > and & escaped; numbers without exponent from 1e-6 up to 1e21."""
    match value:
        case dict():
            return "{" + ",".join(f"{_json_text(key)}:{as_json(item)}" for key, item in sorted(value.items())) + "}"
        case list() | tuple():
            return "[" + ",".join(map(as_json, value)) + "]"
        case str():
            return _json_text(value)
        case float():
            return _json_number(value)
    return json.dumps(value)


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_JSON_ESCAPES)


_JSON_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def _json_number(value: float) -> str:
    decimal, exponent = _shortest(value)
    return f"{decimal:f}" if -6 <= exponent < 21 else _scientific(decimal, exponent, "d")


def go_value(value: object) -> str:
    """A refused value inside an error message."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quote(value)
        case int() | float():
            return number(value)
        case _:
            return as_json(value)
