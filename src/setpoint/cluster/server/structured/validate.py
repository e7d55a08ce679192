"""Whether a value fits its type, with the messages that a real API server gives: kubectl shows them as they are."""

import json
from collections.abc import Iterator
from typing import Any

from . import elements
from .atoms import Atom
from .values import LIST, MAP, SCALAR, StructureError, element_of, field_atom, form

__all__ = ["explain", "validate"]


def validate(atom: Atom, value: Any, *, allow_duplicates: bool = False) -> list[str]:
    """What is wrong with a value, each problem beginning with its place; empty if the value fits.

    Duplicates in sets and associative lists are wrong in what is applied, but may be met in what is stored.
    """
    return [f"{path}: {problem}" if path else problem for path, problem in _problems(atom, value, allow_duplicates)]


def explain(problems: list[str]) -> str:
    """The problems as one message."""
    return problems[0] if len(problems) == 1 else "\n  ".join(["errors:", *problems])


def _problems(atom: Atom, value: Any, allow_duplicates: bool) -> Iterator[tuple[str, str]]:
    if value is None:
        return  # null fits everywhere
    shape = form(atom, value)
    misfit = _misfit(atom, shape, value)
    if misfit:
        yield "", misfit
    elif shape == MAP:
        map_atom = atom.map
        assert map_atom is not None
        for key, child in value.items():
            if map_atom.element is None and key not in map_atom.fields:
                yield "." + key, "field not declared in schema"
                continue
            for path, problem in _problems(field_atom(map_atom, key), child, allow_duplicates):
                yield "." + key + path, problem
    elif shape == LIST:
        list_atom = atom.list
        assert list_atom is not None
        seen: dict[str, None] = {}
        for position, child in enumerate(value):
            element = f"i:{position}"
            if not list_atom.atomic:
                try:
                    element = element_of(list_atom, child)
                except (StructureError, elements.MalformedElement) as why:
                    yield "", f"element {position}: {why}"
                    return
                if element in seen and not allow_duplicates:
                    yield "", f"duplicate entries for key {elements.display(element)}"
                seen[element] = None
            for path, problem in _problems(list_atom.element, child, allow_duplicates):
                yield elements.display(element) + path, problem


_GO_NAMES = {dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool", int: "int64", float: "float64"}


def _misfit(atom: Atom, shape: int, value: Any) -> str:
    kind = type(value)
    if shape == MAP:
        return "" if kind is dict else f"expected map, got &{{{_go(value)}}}"
    if shape == LIST:
        return "" if kind is list else f"expected list, got &{{{_go(value)}}}"
    assert shape == SCALAR
    match atom.scalar:
        case "numeric" if kind not in (int, float):
            return f"expected numeric (int or float), got {_GO_NAMES[kind]}"
        case "string" if kind is not str:
            return f"expected string, got &value.valueUnstructured{{Value:{_go(value)}}}"
        case "boolean" if kind is not bool:
            return f"expected boolean, got &{{{_go(value)}}}"
        case "untyped" if kind in (dict, list):
            return f"expected any scalar, got &{{{_go(value)}}}"
    return ""


def _go(value: Any) -> str:
    """A value as the API server, written in Go, prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join([f"{key}:{_go(value[key])}" for key in sorted(value)]) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(_go, value)) + "]"
    if isinstance(value, str):
        return value
    return "<nil>" if value is None else json.dumps(value)
