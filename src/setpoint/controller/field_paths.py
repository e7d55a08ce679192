"""Field paths: `spec.replicas`, as a way to a value in an object, and as something that can be checked before there is an object.

Fields are named as in Python or as on the wire. A key of a map that has dots or slashes stands in brackets, as does the number of a list's
item, or `*` for all of them: ``metadata.annotations["example.com/size"]``, ``spec.template.spec.containers[*].image``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

import msgspec

from setpoint.objects import Object, Untyped, is_absent
from setpoint.objects.shape import Attribute, Shape, attributes_of

Step: TypeAlias = str | int | None
"""A field or key, an item by its number, or None for all items."""

_STEP = re.compile(r"""\.?([^.\[\]"'\s]+)|\["([^"]+)"\]|\['([^']+)'\]|\[(\d+)\]|\[(\*)\]""")


class FieldPath:
    """One path. Raises `ValueError` for what cannot be read as one."""

    __slots__ = ("steps", "text")

    def __init__(self, text: str) -> None:
        self.text: str = text
        self.steps: tuple[Step, ...] = _parsed(text)

    def of(self, obj: Object) -> Any:
        """What is there, None where nothing is; a list for a path with ``*``."""
        return _value(obj, self.steps)

    def check(self, kind: type[Object]) -> None:
        """Raises `ValueError`, and says what is there instead, if no object of that class can have anything at this path."""
        if issubclass(kind, Untyped):
            return
        shape: Shape | None = None
        struct: type[Any] | None = kind
        for number, step in enumerate(self.steps):
            if struct is not None:
                attribute = _attribute(struct, step)
                if attribute is None:
                    raise ValueError(self._no_field(kind, struct, number))
                shape = attribute.shape
            elif shape is not None and (shape.is_list or shape.is_map):
                if shape.is_list == isinstance(step, str):
                    what = "a list: write [0] or [*]" if shape.is_list else "a map: write a key"
                    raise ValueError(f"{self.text!r}: {kind.__name__} has {what} after {self._until(number)!r}")
                shape = shape.items
            elif shape is not None and shape.plain in (str, int, float, bool):
                raise ValueError(f"{self.text!r}: {self._until(number)!r} of {kind.__name__} is a {shape.plain.__name__}, and has no parts")
            if shape is None:
                return  # a type that says nothing of its parts
            struct = shape.struct

    def _no_field(self, kind: type[Object], struct: type[Any], number: int) -> str:
        names = [attribute.name for attribute in attributes_of(struct).values()]
        close = get_close_matches(str(self.steps[number]), names, n=1)
        there = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names)}"
        where = f" in {self._until(number)!r}" if number else ""
        return f"{self.text!r}: {kind.__name__} has no field {self.steps[number]!r}{where}; {there}"

    def _until(self, number: int) -> str:
        return ".".join("*" if step is None else str(step) for step in self.steps[:number])

    def __repr__(self) -> str:
        return f"FieldPath({self.text!r})"


def _parsed(text: str) -> tuple[Step, ...]:
    if not isinstance(text, str):
        raise TypeError(f"a path such as 'spec.replicas' was expected, not {text!r}")
    steps: list[Step] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or (steps and match[1] is not None and text[at] != "."):
            steps = []
            break
        name, double, single, item, every = match.groups()
        steps.append(None if every else int(item) if item else name or double or single)
        at = match.end()
    if not steps:
        raise ValueError(f"""{text!r} is no path: write it as spec.replicas, metadata.labels["app"] or spec.rules[*].host""")
    return tuple(steps)


def _attribute(struct: type[Any], step: Step) -> Attribute | None:
    attributes = attributes_of(struct)
    found = attributes.get(step) if isinstance(step, str) else None
    return found or next((attribute for attribute in attributes.values() if attribute.name == step), None)


def _value(value: Any, steps: tuple[Step, ...]) -> Any:
    for number, step in enumerate(steps):
        if isinstance(value, Untyped):
            value = value.content
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list):
            if step is None:
                return [_value(item, steps[number + 1 :]) for item in value]
            value = value[step] if isinstance(step, int) and step < len(value) else None
        elif isinstance(value, msgspec.Struct) and (attribute := _attribute(type(value), step)) is not None:
            value = getattr(value, attribute.name)
        else:
            return None
    return None if value is msgspec.UNSET or is_absent(value) else value
