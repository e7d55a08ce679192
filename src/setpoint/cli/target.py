"""Targets on the command line, and the controllers, apps and kinds that they stand for; `manager.importing` says what a target is."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

from setpoint.cli.failure import Failure
from setpoint.controller import Controller
from setpoint.manager import App
from setpoint.manager.importing import BadTarget, module_and_attribute, named
from setpoint.objects import Object


class Target(NamedTuple):
    """A controller or an app, and what the command line calls it."""

    text: str
    value: Controller[Any] | App


def load(texts: Sequence[str]) -> list[Target]:
    """The controllers and apps that the targets name, each once. Raises `Failure`."""
    found = [target for text in texts for target in _named(text)]
    return list({id(target.value): target for target in reversed(found)}.values())[::-1]


def load_kinds(texts: Sequence[str]) -> list[type[Object]]:
    """The kinds that the targets' modules hold or that their controllers use, each once. Raises `Failure`.

    An attribute that is a controller or a kind narrows that down; one that is an app does not, since only running it would tell.
    """
    kinds: dict[type[Object], None] = {}
    for text in texts:
        module, attribute = _module_and_attribute(text)
        chosen = [getattr(module, attribute)] if attribute else []
        for value in chosen if any(map(_kinds_of, chosen)) else vars(module).values():
            kinds.update(dict.fromkeys(_kinds_of(value)))
    return list(kinds)


def load_controllers(texts: Sequence[str]) -> list[Controller[Any]]:
    """The controllers that the targets' modules hold, each once, or the one that a target names. Raises `Failure`."""
    found: dict[int, Controller[Any]] = {}
    for text in texts:
        module, attribute = _module_and_attribute(text)
        chosen = getattr(module, attribute) if attribute else None
        controllers = [chosen] if isinstance(chosen, Controller) else [v for v in vars(module).values() if isinstance(v, Controller)]
        if not controllers:
            raise Failure(f"{text} holds no controller at its top level; what an app adds shows only as it runs: let the module hold them")
        found.update((id(controller), controller) for controller in controllers)
    return list(found.values())


def _kinds_of(value: Any) -> Sequence[type[Object]]:
    if isinstance(value, Controller):
        return value.kinds
    is_kind = isinstance(value, type) and issubclass(value, Object) and "__kind__" in vars(value)
    return [value] if is_kind else []


def _module_and_attribute(text: str) -> tuple[ModuleType, str]:
    try:
        return module_and_attribute(text)
    except BadTarget as error:
        raise Failure(str(error)) from error


def _named(text: str) -> Sequence[Target]:
    try:
        return [Target(found.text, found.value) for found in named(text)]
    except BadTarget as error:
        raise Failure(str(error)) from error
