"""Label and field selectors: what they accept, and what they match.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from setpoint.api.label_rules import label_key, label_value
from setpoint.api.label_syntax import Reader, Stated, SyntaxProblem

_Operator: TypeAlias = Literal["exists", "!", "=", "!=", "in", "notin", ">", "<"]


class SelectorError(ValueError):
    """The text is no selector."""


class Requirement(msgspec.Struct, frozen=True):
    """One condition on one key."""

    key: str
    operator: _Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """`!=` and `notin` also match where the key is absent, as in Kubernetes."""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "!":
                return value is None
            case "=" | "in":
                return value in self.values
            case "!=" | "notin":
                return value not in self.values
            case ">" | "<":
                try:
                    ours, theirs = int(value or ""), int(self.values[0])
                except ValueError:
                    return False
                return ours > theirs if self.operator == ">" else ours < theirs

    def __str__(self) -> str:
        match self.operator:
            case "exists":
                return self.key
            case "!":
                return f"!{self.key}"
            case "in" | "notin":
                return f"{self.key} {self.operator} ({','.join(self.values)})"
            case _:
                return f"{self.key}{self.operator}{self.values[0]}"


class LabelSelector(msgspec.Struct, frozen=True):
    """All of its requirements must hold; without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()

    @classmethod
    def parse(cls, selector: str | Mapping[str, str] | None) -> LabelSelector:
        """From the string form, from labels that must be equal, or from None for everything. Raises `SelectorError`."""
        if selector is None or selector == "":
            return cls()
        if isinstance(selector, Mapping):
            return cls(tuple(Requirement(key, "=", (value,)) for key, value in sorted(selector.items())))
        requirements: list[Requirement] = []
        reader = Reader(selector)
        try:
            while (stated := reader.next()) is not None:
                requirements.append(_requirement(stated))
                reader.separator()
        except SyntaxProblem as problem:
            raise SelectorError(str(problem)) from None
        return cls(tuple(sorted(requirements, key=lambda r: r.key)))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def _requirement(stated: Stated) -> Requirement:
    key = _checked_key(stated.key)
    match stated.operator:
        case "exists" | "!" as operator:
            return Requirement(key, operator)
        case ">" | "<" as operator:
            (value,) = stated.values
            if not re.fullmatch(r"-?[0-9]+", value):
                raise SelectorError(
                    f"unable to parse requirement: values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, "
                    "the value must be an integer"
                )
            return Requirement(key, operator, (_checked_value(key, value),))
        case "=" | "==":
            (value,) = stated.values
            return Requirement(key, "=", (_checked_value(key, value),))
        case "!=" | "in" | "notin" as operator:
            for index, value in enumerate(sorted(stated.values)):
                _checked_value(key, value, index)
            return Requirement(key, operator, stated.values)
    raise AssertionError(f"no operator: {stated.operator}")


def _checked_key(key: str) -> str:
    if problems := label_key(key):
        raise SelectorError(f"unable to parse requirement: {_all_of('<nil>', key, problems)}")
    return key


def _checked_value(key: str, value: str, index: int = 0) -> str:
    if problems := label_value(value):
        raise SelectorError(f"unable to parse requirement: {_all_of(f'values[{index}][{key}]', value, problems)}")
    return value


def _all_of(field: str, value: str, problems: Sequence[str]) -> str:
    shown = value.replace("\\", "\\\\").replace('"', '\\"')
    texts = [f'{field}: Invalid value: "{shown}": {problem}' for problem in problems]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


class FieldRequirement(msgspec.Struct, frozen=True):
    """One condition on one field path; `equal` is False for `!=`."""

    path: str
    value: str
    equal: bool = True


_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)


def parse_fields(selector: str) -> tuple[FieldRequirement, ...]:
    """A field selector: `=`, `==` and `!=` joined by commas; backslash escapes comma, equals and backslash. Raises `SelectorError`."""
    if selector == "":  # most often
        return ()
    requirements: list[FieldRequirement] = []
    for term in _terms(selector):
        for operator in ("!=", "==", "="):
            path, found, value = term.partition(operator)
            if found and "=" not in path:
                requirements.append(FieldRequirement(path, _unescaped(value), operator != "!="))
                break
        else:
            raise SelectorError(f"invalid selector: '{selector}'; can't understand '{term}'")
    return tuple(requirements)


def _unescaped(value: str) -> str:
    for escaped in _ESCAPED.findall(value):
        if escaped not in ("\\", ",", "="):
            raise SelectorError(f"invalid field selector: invalid escape sequence: \\{escaped}")
    for sign in ",=":
        if sign in _ESCAPED.sub("", value):
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(sign)}")
    return _ESCAPED.sub(r"\1", value)


def _terms(selector: str) -> list[str]:
    return [term for term in re.split(r"(?<!\\),", selector) if term]
