"""The value of a YAML body, as Go's reader of YAML 1.1 makes it. See `decode_yaml`, whose door this is behind."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Any

import yaml

from setpoint.cluster.server.schema.decode import MalformedBody, Pairs, finite
from setpoint.cluster.server.schema.gotext import number
from setpoint.cluster.server.schema.structural import Json


def yaml_value(body: bytes) -> Json:
    """The value of the first document; mappings are `Pairs`. Raises MalformedBody."""
    try:
        node = yaml.compose(body.partition(b"\n---")[0], Loader=_Loader if len(body) < _LONG else _QuickLoader)
        return None if node is None else _Reading(len(body) + _ALIASES).value(node)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedBody(f"error converting YAML to JSON: yaml: {_yaml_problem(error)}") from error


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

    def _mapping(self, node: yaml.MappingNode) -> Pairs:
        own, merged = Pairs(), Pairs()
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
        return finite(float(digits), text)
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
