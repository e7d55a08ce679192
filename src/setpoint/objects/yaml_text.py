"""YAML as Kubernetes' own programs read it: what is on the wire in the end is what kubectl would have sent.

PyYAML follows YAML 1.1 to the letter, and makes a number of ``12:30``, a date of ``2026-01-31`` and a text of ``1e5``. To kubectl the first
two are text and the last is a number.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import yaml

_NUMBER = r"[-+]?(?:0[bB][01_]+|0[oO][0-7_]+|0[xX][0-9a-fA-F_]+|(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9][0-9_]*)?)"
_RESOLVED = {
    "null": r"~|null|Null|NULL|",
    "bool": r"y|Y|n|N|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE",
    "int": _NUMBER,
    "float": r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "merge": "<<",
}
"""How each sort of value looks that is written without quotes and is no text; a number may turn out to be of either sort."""
_WHOLE = re.compile(r"([-+]?)(?:0[bB]([01]+)|0[xX]([0-9a-fA-F]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1


def documents(text: str) -> list[Any]:
    """What each document of a text holds. Raises `yaml.YAMLError` for what is neither YAML nor JSON."""
    if text.lstrip().startswith("{"):
        try:
            return [msgspec.json.decode(text)]  # which may be indented with tabs, as YAML may not
        except msgspec.DecodeError:
            pass  # YAML has such braces, too
    try:
        return list(yaml.load_all(text, _Loader))
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply") from error


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}


def _number(loader: _Loader, node: yaml.ScalarNode) -> Any:
    text = loader.construct_scalar(node)
    digits = text.replace("_", "")
    if (whole := _WHOLE.fullmatch(digits)) is not None:
        sign, *forms = whole.groups()
        base, form = next((base, form) for base, form in zip((2, 16, 8, 10), forms, strict=True) if form is not None)
        # More than 64 bits make a text or a float of it; Python refuses to read numbers of thousands of digits.
        if len(form) <= 64 and _SMALLEST <= (number := int(sign + form, base)) <= _LARGEST:
            return number
    try:
        found = float(digits)
    except ValueError:
        return text
    if not math.isfinite(found):
        return text
    return int(found) if found.is_integer() and abs(found) < 1e21 else found


def _no_number(loader: _Loader, node: yaml.ScalarNode) -> Any:
    if node.value.lower().endswith((".inf", ".nan")):
        raise yaml.MarkedYAMLError(problem=f"JSON has no {node.value}", problem_mark=node.start_mark)
    return _number(loader, node)


def _text(loader: _Loader, node: yaml.ScalarNode) -> Any:
    return loader.construct_scalar(node)


def _boolean(loader: _Loader, node: yaml.ScalarNode) -> bool:
    return loader.construct_scalar(node).lower() in ("y", "yes", "on", "true")


for _tag, _form in _RESOLVED.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), None)
_Loader.add_constructor("tag:yaml.org,2002:int", _number)
_Loader.add_constructor("tag:yaml.org,2002:float", _no_number)
_Loader.add_constructor("tag:yaml.org,2002:bool", _boolean)
_Loader.add_constructor("tag:yaml.org,2002:merge", _text)
