"""Bodies of requests: JSON and YAML read into plain values, and the keys that were written twice.

A key that occurs twice counts with its last value; field validation may warn about it or refuse it. Numbers become what the real server
makes of them: an integer that fits 64 bits stays one, any other number is a float, and a float without fraction is written as an integer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from setpoint.cluster.server.schema.json_problems import json_problem
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
        value = _unpacked(_parse_json(body, Pairs), "", found)
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
    from setpoint.cluster.server.schema.yaml_values import yaml_value  # few bodies are YAML, and PyYAML takes its time to import

    value = yaml_value(body)
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


class Pairs(list[tuple[str, Any]]):
    """An object whose keys may repeat."""


def _unpacked(value: Json, path: str, found: list[str]) -> Json:
    if type(value) is Pairs:
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
        raise MalformedBody(json_problem(body)) from error
    except RecursionError as error:
        raise MalformedBody("exceeded max depth") from error


def _integer(text: str) -> int | float:
    if len(text) < 19:
        return int(text)
    value = float(text)
    if abs(value) < 2e19 and -(2**63) <= (whole := int(text)) < 2**63:
        return whole
    return finite(value, text)


def _number(text: str) -> int | float:
    return finite(float(text), text)


def finite(value: float, text: str) -> int | float:
    """A number as Go has it. Raises MalformedBody for one that is too large."""
    if value in (float("inf"), float("-inf")):
        raise MalformedBody(f"json: cannot unmarshal number {text} into Go value of type float64")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _refuse_constant(name: str) -> Json:
    raise json.JSONDecodeError(f"{name} is not JSON", name, 0)
