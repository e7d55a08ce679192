"""Functions replaced by others, wherever an installed package may have taken hold of them.

Python's own modules keep what they have taken, except for the module where a function lives: the machinery of threads and of real event
loops is neither to be slowed down nor to be led astray.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_HOMES = ("os", "random", "time", "uuid")


@contextmanager
def substituted(pairs: Sequence[tuple[Any, Any]]) -> Iterator[None]:
    """Replaces the first of each pair by the second while the context is open.

    That is done in its home, and of other packages in the globals, in the bodies of classes, and among the defaults of their functions.
    """
    stands_for = {id(real): stand_in for real, stand_in in pairs}
    undo: list[Callable[[], None]] = []
    try:
        for holder, attributes in _holders():
            for name, held in attributes:
                if not isinstance(held, _FUNCTIONS):
                    continue
                if id(held) in stands_for:
                    undo.append(_in_attribute(holder, name, stands_for))
                elif isinstance(held, FunctionType) and (held.__defaults__ or held.__kwdefaults__) and _has_taken(held, stands_for):
                    undo.append(_in_defaults(held, stands_for))
        yield
    finally:
        for each in reversed(undo):
            each()


def _holders() -> Iterator[tuple[Any, list[tuple[str, Any]]]]:
    """The modules and classes in which functions may be replaced, with what they hold."""
    for name, module in list(sys.modules.items()):
        if _is_open(name) and isinstance(module, ModuleType):
            held = list(vars(module).items())
            yield module, held
            for _, value in held:
                if isinstance(value, type) and value.__module__ == name:
                    yield value, list(vars(value).items())


def _has_taken(function: FunctionType, stands_for: dict[int, Any]) -> bool:
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return any(isinstance(each, _FUNCTIONS) and id(each) in stands_for for each in defaults)


def _is_open(module: object) -> bool:
    top = module.partition(".")[0] if isinstance(module, str) else "sys"
    return module in _HOMES or not (top in sys.stdlib_module_names or top == "setpoint")


def _in_attribute(holder: Any, name: str, stands_for: dict[int, Any]) -> Callable[[], None]:
    real = vars(holder)[name]
    stand_in = stands_for[id(real)]
    setattr(holder, name, stand_in)

    def undo() -> None:
        if vars(holder).get(name) is stand_in:
            setattr(holder, name, real)

    return undo


def _in_defaults(function: FunctionType, stands_for: dict[int, Any]) -> Callable[[], None]:
    defaults, named = function.__defaults__, function.__kwdefaults__
    if defaults is not None:
        function.__defaults__ = tuple(stands_for.get(id(each), each) for each in defaults)
    if named is not None:
        function.__kwdefaults__ = {name: stands_for.get(id(each), each) for name, each in named.items()}

    def undo() -> None:
        function.__defaults__, function.__kwdefaults__ = defaults, named

    return undo
