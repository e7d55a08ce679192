"""Values as Go prints them, since that is how the API server quotes what it refuses."""

from __future__ import annotations

import json
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
    """A number as by Go's `%v`: the shortest form that reads back equal, with an exponent below 1e-4 and from 1e21."""
    if isinstance(value, int):
        return str(value)
    if isnan(value) or isinf(value):
        return "NaN" if isnan(value) else ("+Inf" if value > 0 else "-Inf")
    digits, _, exponent = f"{value!r}".replace("E", "e").partition("e")
    power = int(exponent or 0)
    if value != 0 and not 1e-4 <= abs(value) < 1e21:
        if not exponent:  # a form without exponent is the shortest one, but Go wants one here
            digits, _, exponent = f"{value:e}".partition("e")
            power = int(exponent)
            digits = digits.rstrip("0").rstrip(".")
        return f"{digits.removesuffix('.0')}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if exponent:
        return f"{value:.{max(0, len(digits.partition('.')[2]) - power)}f}"
    return digits.removesuffix(".0")


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
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        digits, _, exponent = f"{value!r}".partition("e")
        if exponent:  # Python goes over to exponents earlier
            places = len(digits.partition(".")[2]) - int(exponent)
            return f"{value:.{max(0, places)}f}"
        return digits.removesuffix(".0")
    digits, _, exponent = number(value).partition("e")
    return f"{digits}e{exponent[0]}{int(exponent[1:])}"


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
