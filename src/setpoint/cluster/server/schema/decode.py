"""Bodies of requests: JSON and YAML read into plain values, and the keys that were written twice.

A key that occurs twice counts with its last value; field validation may warn about it or refuse it. Numbers become what the real server
makes of them: an integer that fits 64 bits stays one, any other number is a float, and a float without fraction is written as an integer.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import yaml

from setpoint.cluster.server.schema.gotext import number
from setpoint.cluster.server.schema.structural import Json


class MalformedBody(ValueError):
    """The body is not JSON, or not YAML."""


def decode_json(body: bytes) -> tuple[Json, list[str]]:
    """The value of a JSON body, and the paths (`spec.items[0].x`) of keys that occur more than once in their object.

    Raises MalformedBody.
    """
    repeated = False

    def collect(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal repeated
        value = dict(pairs)
        if len(value) < len(pairs):
            repeated = True
        return value

    value = _parse_json(body, collect)
    found: list[str] = []
    if repeated:
        # Only now is the place of the duplicates worth its price.
        value = _unpacked(_parse_json(body, _Pairs), "", found)
    return _without_lone_surrogates(body, value), found


def decode_yaml(body: bytes) -> tuple[Json, list[str]]:
    """The value of a YAML (or JSON) body, and the paths of keys that occur more than once in their mapping.

    Scalars are YAML 1.1 as Go reads it: `yes` and `on` are true, `0777` is octal, dates stay strings, there are no numbers to base 60. Keys
    become strings. An empty body is null; of several documents only the first is read. Raises MalformedBody.
    """
    if body.lstrip()[:1] == b"{":
        try:
            return decode_json(body)
        except MalformedBody:
            pass  # a flow mapping that is YAML alone
    try:
        node = yaml.compose(body.partition(b"\n---")[0], Loader=_Loader if len(body) < _LONG else _QuickLoader)
        value = None if node is None else _Reading(len(body) + _ALIASES).value(node)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBody(f"error converting YAML to JSON: yaml: {_yaml_problem(error)}") from error
    found: list[str] = []
    return _without_lone_surrogates(body, _unpacked(value, "", found)), found


def _without_lone_surrogates(body: bytes, value: Json) -> Json:
    """The value with a replacement character for each half of a pair that stands alone, as Go reads it: no text can hold one."""
    return _mended(value) if _SURROGATE.search(body) else value


_SURROGATE = re.compile(rb"\\[uU](?:0000)?[dD][89a-fA-F]")


def _mended(value: Json) -> Json:
    if type(value) is str:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if type(value) is dict:
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if type(value) is list else value


class _Pairs(list[tuple[str, Any]]):
    """An object whose keys may repeat."""


def _unpacked(value: Json, path: str, found: list[str]) -> Json:
    if type(value) is _Pairs:
        result: dict[str, Json] = {}
        for key, item in value:
            where = f"{path}.{key}" if path else key
            if key in result and where not in found:
                found.append(where)
            result[key] = _unpacked(item, where, found)
        return result
    if type(value) is list:
        return [_unpacked(item, f"{path}[{index}]", found) for index, item in enumerate(value)]
    return value


def _parse_json(body: bytes, collect: Callable[[list[tuple[str, Json]]], Any]) -> Json:
    try:
        # Go reads what is not UTF-8 as replacement characters; so does the real server.
        return json.loads(
            body.decode("utf-8", "replace"),
            object_pairs_hook=collect,
            parse_float=_number,
            parse_int=_integer,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise MalformedBody(_json_problem(error)) from error
    except RecursionError as error:
        raise MalformedBody("exceeded max depth") from error


def _integer(text: str) -> int | float:
    if len(text) < 19:
        return int(text)
    value = float(text)
    if abs(value) < 2e19 and -(2**63) <= (whole := int(text)) < 2**63:
        return whole
    return _finite(value, text)


def _number(text: str) -> int | float:
    return _finite(float(text), text)


def _finite(value: float, text: str) -> int | float:
    if value in (float("inf"), float("-inf")):
        raise MalformedBody(f"json: cannot unmarshal number {text} into Go value of type float64")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _refuse_constant(name: str) -> Json:
    raise MalformedBody(f"invalid character '{name[0]}' looking for beginning of value")


def _json_problem(error: json.JSONDecodeError) -> str:
    """The error in the words of Go's decoder, as far as the place tells which of them it would use."""
    rest = error.doc[error.pos :].lstrip(" \t\r\n")
    trailing = error.msg.startswith("Illegal trailing comma")  # since Python 3.13, which means the comma; Go means what follows it
    if trailing:
        rest = rest[1:].lstrip(" \t\r\n")
    if not rest:
        return "unexpected end of JSON input"
    character = rest[0]
    shown = "'\\''" if character == "'" else f"'{character}'"
    if error.msg.startswith("Extra data"):
        return f"invalid character {shown} after top-level value"
    if error.msg.startswith("Expecting property name") or (trailing and character == "}"):
        return f"invalid character {shown} looking for beginning of object key string"
    if error.msg.startswith("Expecting ':'"):
        return f"invalid character {shown} after object key"
    if error.msg.startswith("Expecting ','"):
        return f"invalid character {shown} after object key:value pair"
    if error.msg.startswith("Unterminated string"):
        return "unexpected end of JSON input"
    if error.msg.startswith("Invalid control character"):
        return f"invalid character {error.doc[error.pos]!r} in string literal"
    if error.msg.startswith("Invalid \\escape"):
        return f"invalid character {error.doc[error.pos + 1 : error.pos + 2]!r} in string escape code"
    return f"invalid character {shown} looking for beginning of value"


def _yaml_problem(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem or error.context or 'syntax error'}"
    return str(error)


_ALIASES = 100_000
"""Values that aliases may stand for, beyond those that a document can hold anyway."""
_TAG = "tag:yaml.org,2002:"
_PLAIN = _TAG + "plain"
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"))
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_NOT_JSON = frozenset((".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"))
_YAML_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_YAML_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


_FLOW_DEPTH = 200
"""Brackets within brackets; the time that each letter takes grows with them."""


class _Marking:
    """Marks the scalars whose type their text alone decides."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        return _TAG + ("str" if kind is yaml.ScalarNode else "map" if kind is yaml.MappingNode else "seq")


class _Loader(_Marking, yaml.SafeLoader):
    """Composes nodes."""

    def fetch_flow_collection_start(self, token: Any) -> None:
        if self.flow_level >= _FLOW_DEPTH:
            raise MalformedBody("yaml: exceeded max depth")
        super().fetch_flow_collection_start(token)


class _QuickLoader(_Marking, yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]  # which is either
    """The same by libyaml, several times as fast, for what is long: requests wait for each other here."""


_LONG = 32 * 1024


class _Reading:
    """Values from nodes, as many as a document can hold that does not say most of them by aliases: a few lines could mean billions."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def value(self, node: yaml.Node) -> Json:
        self._left -= 1
        if self._left < 0:
            raise MalformedBody("error converting YAML to JSON: yaml: document contains excessive aliasing")
        match node:
            case yaml.MappingNode():
                return self._mapping(node)
            case yaml.SequenceNode():
                return [self.value(item) for item in node.value]
            case _:
                return _scalar(node)

    def _mapping(self, node: yaml.MappingNode) -> _Pairs:
        own, merged = _Pairs(), _Pairs()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag == _PLAIN and key.value == "<<":
                for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if not isinstance(source, yaml.MappingNode):
                        raise _misplaced("map merge requires map or sequence of maps as the value", key)
                    merged.extend(self._mapping(source))
            elif isinstance(key, yaml.ScalarNode):
                own.append((_key(_scalar(key)), self.value(value)))
            else:
                raise _misplaced("invalid map key", key)
        present = {key for key, _ in own}
        # Of merged mappings the first to have a key decides it, and the mapping's own keys outrank them.
        for key, value in merged:
            if key not in present:
                present.add(key)
                own.append((key, value))
        return own


def _misplaced(problem: str, node: yaml.Node) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _scalar(node: yaml.Node) -> Json:
    text: str = node.value
    match node.tag.removeprefix(_TAG):
        case "str" | "timestamp":
            return text
        case "binary":
            try:
                return b64decode(text).decode("utf-8", "replace")
            except ValueError:
                raise MalformedBody("yaml: !!binary value contains invalid base64 data") from None
        case "plain":
            return _plain(text)
        case "float" if isinstance(value := _plain(text), int | float) and not isinstance(value, bool):
            return value
        case "int" if isinstance(value := _plain(text), int) and not isinstance(value, bool):
            return value
        case "bool" if isinstance(value := _plain(text), bool):
            return value
        case "null" if _plain(text) is None:
            return None
        case tag:
            raise _misplaced(f"cannot decode `{text}` as a !!{tag}", node)


def _plain(text: str) -> Json:
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _NOT_JSON:
        raise MalformedBody(f"error converting YAML to JSON: json: unsupported value: {text}")
    if text[0] not in "+-.0123456789":
        return text
    digits = text.replace("_", "") if text[0] != "." else text
    if found := _YAML_INTEGER.fullmatch(digits):
        sign, hexadecimal, binary, octal, decimal = found.groups()
        base, number = (16, hexadecimal) if hexadecimal else (2, binary) if binary else (8, octal) if octal else (10, decimal)
        # Longer ones are no integers of 64 bits, and would take their time.
        value = int(number, base) * (-1 if sign == "-" else 1) if len(number.lstrip("0")) <= 64 else None
        if value is not None and -(2**63) <= value < 2**64:
            return value
    if _YAML_FLOAT.fullmatch(digits):
        return _finite(float(digits), text)
    return text


def _key(key: Json) -> str:
    match key:
        case str():
            return key
        case bool():
            return "true" if key else "false"
        case None:
            return "null"
        case _:
            return number(key)
