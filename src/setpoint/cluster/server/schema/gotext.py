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
    """Compact JSON with sorted keys and with <, > and & escaped, as Go marshals it."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


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
