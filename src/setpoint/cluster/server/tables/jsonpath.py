"""Kubernetes' JSONPath, as printer columns and scale paths use it.

Follows https://kubernetes.io/docs/reference/kubectl/jsonpath/ for what stands between one pair of braces: fields (`.a.b`, `['a']`, escaped
dots `.metadata.labels.app\\.kubernetes\\.io/name`), indices and slices, unions, wildcards, `..` and filters (`[?(@.type=="Ready")]`). A
missing field is no result, not an error; an index outside a list, or a filter on what is no list, is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Json = Any
Step = Callable[[list[Json]], list[Json]]
"""One step of a path: from all values reached so far to all values that it reaches from them."""

_TERMINATORS = frozenset(" \t\r\n.,[]$@{}")
_SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?", re.ASCII)
_KEY = re.compile(r"'([^']*)'")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d[\d.]*", re.ASCII)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", "'": "'", '"': '"'}


class JsonPathError(ValueError):
    """The path cannot be read, or cannot be followed in this value."""


@lru_cache(maxsize=1024)
def compile_path(path: str) -> JsonPath:
    """Read a path. The braces of kubectl's templates may be there or not. Raises JsonPathError."""
    inner = path[1:-1] if path.startswith("{") and path.endswith("}") else path
    return JsonPath(path, tuple(_Parser(inner).steps()))


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path that was read. Equal texts give equal paths."""

    text: str
    _steps: tuple[Step, ...]

    def find(self, value: Json) -> list[Json]:
        """Everything that the path leads to, in document order. Raises JsonPathError."""
        return _follow(self._steps, [value])

    def first(self, value: Json, default: Json = None) -> Json:
        """The first of what `find` gives, or `default` if there is none or the path cannot be followed."""
        try:
            return next(iter(self.find(value)), default)
        except JsonPathError:
            return default


def _follow(steps: tuple[Step, ...], values: list[Json]) -> list[Json]:
    for step in steps:
        values = step(values)
    return values


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def steps(self) -> list[Step]:
        text, steps = self._text, list[Step]()
        after_descent = False
        while self._at < len(text):
            rest = text[self._at :]
            descends = False
            if rest.startswith("[?("):
                steps.append(self._filter())
            elif rest.startswith(".."):
                if after_descent:
                    raise JsonPathError("invalid multiple recursive descent")
                self._at += 2
                steps.append(_descend)
                descends = True
                if self._at < len(text) and (text[self._at].isalnum() or text[self._at] == "_"):
                    steps.append(self._field())
                    descends = False
            elif rest[0] in " @$":
                self._at += 1
            elif rest[0] == "[":
                steps.append(self._bracket())
            elif rest[0] in "\"'":
                steps.append(_constant(self._quoted()))
            elif rest[0] == ".":
                self._at += 1
                steps.append(self._field())
            elif number := _NUMBER.match(rest):
                self._at += number.end()
                steps.append(_constant(_as_number(number[0])))
            elif rest[0].isalnum() or rest[0] == "_":
                steps.append(self._word())
            else:
                raise JsonPathError(f"unrecognized character in action: {rest[0]!r}")
            after_descent = descends
        return steps

    def _field(self) -> Step:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _TERMINATORS:
            self._at += 2 if self._text[self._at] == "\\" else 1
        name = self._text[start : self._at]
        return _wildcard if name == "*" else _field(name.replace("\\", ""))

    def _word(self) -> Step:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in _TERMINATORS:
            self._at += 1
        word = self._text[start : self._at]
        if word in ("true", "false"):
            return _constant(word == "true")
        return _unknown(word)

    def _quoted(self) -> str:
        quote = self._text[self._at]
        out: list[str] = []
        at = self._at + 1
        while at < len(self._text):
            character = self._text[at]
            if character == quote:
                self._at = at + 1
                return "".join(out)
            if character == "\\" and at + 1 < len(self._text):
                at += 1
                if self._text[at] not in _ESCAPES:
                    raise JsonPathError(f"unquote string {self._text[self._at :]} error invalid syntax")
                character = _ESCAPES[self._text[at]]
            out.append(character)
            at += 1
        raise JsonPathError("unterminated quoted string")

    def _bracket(self) -> Step:
        end = self._text.find("]", self._at)
        if end < 0:
            raise JsonPathError("unterminated array")
        inside = self._text[self._at + 1 : end]
        self._at = end + 1
        parts = inside.split(",")
        if len(parts) > 1:
            branches = tuple(tuple(_Parser(f"[{part.strip(' ')}]").steps()) for part in parts)
            return lambda values: [found for branch in branches for found in _follow(branch, values)]
        if key := _KEY.fullmatch(inside):
            steps = tuple(_Parser(f".{key[1]}").steps())
            return lambda values: _follow(steps, values)
        return _index(inside)

    def _filter(self) -> Step:
        start = at = self._at + len("[?(")
        quote = ""
        while True:
            if at >= len(self._text):
                raise JsonPathError("unterminated filter")
            character = self._text[at]
            if quote:
                if character == "\\":
                    at += 1
                elif character == quote:
                    quote = ""
            elif character in "\"'":
                quote = character
            elif character == ")":
                break
            at += 1
        if self._text[at + 1 : at + 2] != "]":
            raise JsonPathError("unclosed array expect ]")
        inside = self._text[start:at]
        self._at = at + 2
        comparison = _COMPARISON.fullmatch(inside)
        if comparison is None:
            return _filter(tuple(_Parser(inside).steps()), "exists", ())
        left, operator, right = comparison.groups()
        if operator not in _OPERATORS:
            raise JsonPathError(f"unrecognized filter operator {operator}")
        return _filter(tuple(_Parser(left).steps()), operator, tuple(_Parser(right).steps()))


def _as_number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError as error:
            raise JsonPathError(f"cannot parse number {text}") from error


def _constant(value: Json) -> Step:
    return lambda values: [value for _ in values]


def _unknown(word: str) -> Step:
    def fail(values: list[Json]) -> list[Json]:
        raise JsonPathError(f"unrecognized identifier {word}")

    return fail


def _field(name: str) -> Step:
    return lambda values: [value[name] for value in values if isinstance(value, Mapping) and name in value]


def _children(value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _wildcard(values: list[Json]) -> list[Json]:
    return [child for value in values for child in _children(value)]


def _descend(values: list[Json]) -> list[Json]:
    """All objects and lists that are not empty, each before what is inside it."""
    found = []
    for value in values:
        if children := _children(value):
            found.append(value)
            found += _descend(children)
    return found


def _index(inside: str) -> Step:
    found = _SLICE.fullmatch(":" if inside == "*" else inside)
    if found is None or not found[0]:
        raise JsonPathError(f"invalid array index {inside}")
    first, end, step = (_whole((part or "").removeprefix(":")) for part in found.groups())
    step = 1 if step is None else step
    if step <= 0:
        raise JsonPathError("step must be > 0")
    single = first if found[2] is None else None

    def slices(values: list[Json]) -> list[Json]:
        result: list[Json] = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise JsonPathError(f"{type(value).__name__} is not array or slice")
            result += _sliced(value, single, first, end, step)
        return result

    return slices


def _whole(text: str) -> int | None:
    if not text:
        return None
    # As long as a number of 64 bits at most, and a lone sign is none.
    if text == "-" or len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        raise JsonPathError(f"array index {text} is not a number")
    return int(text)


def _sliced(items: list[Json], single: int | None, first: int | None, end: int | None, step: int) -> list[Json]:
    size = len(items)
    low = first or 0
    low += size if low < 0 else 0
    if single is not None:
        high = low + 1
    else:
        high = size if end is None else end
        high += size if high < 0 else 0
    if low == high:
        return []
    if not 0 <= low < size:
        raise JsonPathError(f"array index out of bounds: index {low}, length {size}")
    if not 0 <= high <= size:
        raise JsonPathError(f"array index out of bounds: index {high - 1}, length {size}")
    if low > high:
        raise JsonPathError(f"starting index {low} is greater than ending index {high}")
    return items[low:high:step]


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda left, right: bool(left == right),
    "!=": lambda left, right: bool(left != right),
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def _filter(left: tuple[Step, ...], operator: str, right: tuple[Step, ...]) -> Step:
    def matches(item: Json) -> bool:
        if operator == "exists":
            try:
                return bool(_follow(left, [item]))
            except JsonPathError:
                return False
        lefts, rights = _follow(left, [item]), _follow(right, [item])
        if not lefts or not rights:
            return False
        if len(lefts) > 1 or len(rights) > 1:
            raise JsonPathError("can only compare one element at a time")
        return _compare(lefts[0], operator, rights[0])

    def keep(values: list[Json]) -> list[Json]:
        for value in values:
            if not isinstance(value, list):
                raise JsonPathError(f"{value} is not array or slice and cannot be filtered")
        return [item for value in values for item in value if matches(item)]

    return keep


def _compare(left: Json, operator: str, right: Json) -> bool:
    # As in Go's templates, only values of one type compare, and booleans have no order.
    if type(left) is not type(right) or not isinstance(left, bool | int | float | str):
        raise JsonPathError("incompatible types for comparison")
    if isinstance(left, bool) and operator not in ("==", "!="):
        raise JsonPathError("invalid type for comparison")
    return _OPERATORS[operator](left, right)
