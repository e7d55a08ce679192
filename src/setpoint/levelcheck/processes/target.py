"""What is checked, by name: each simulated process imports it anew, so that a name must lead to it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any

from setpoint.controller import Controller
from setpoint.manager import App
from setpoint.manager.importing import BadTarget, controller_or_app, is_library, module_and_attribute, named

__all__ = ["BadTarget", "Target", "find"]


@dataclass(frozen=True)
class Target:
    """A controller or app as an attribute of a module; with no `attribute`, all controllers of the module. `file` is its source."""

    module: str
    attribute: str
    file: str

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute}" if self.attribute else self.module

    def of(self, module: ModuleType) -> Controller[Any] | App | list[Controller[Any]]:
        """The same thing in this copy of its module. Raises `BadTarget`."""
        if self.attribute:
            if not hasattr(module, self.attribute):
                raise BadTarget(f"{self}: a second import of {self.module} has no attribute {self.attribute!r}; let each import make it")
            return controller_or_app(getattr(module, self.attribute), str(self))
        return [value for value in vars(module).values() if isinstance(value, Controller)]


def find(what: str | Controller[Any] | App) -> Target:
    """The target that is meant by `package.module:attribute`, `FILE.py:attribute`, either without an attribute, or by the object itself.

    Without an attribute it is the module's `app`, or else all its controllers. An object must be a value at the top level of its module.
    The module is imported, if it has not been. Raises `BadTarget`: one sentence, with the remedy.
    """
    return _by_name(what) if isinstance(what, str) else _by_value(what)


def _by_name(text: str) -> Target:
    found = named(text)
    module, _ = module_and_attribute(text)
    return Target(module.__name__, found[0].attribute if len(found) == 1 else "", _file(module, text))


def _by_value(value: Any) -> Target:
    what = _described(value)
    if isinstance(value, type) or not (isinstance(value, Controller) or callable(value)):
        controller_or_app(value, "what is to be checked")
    for module in _modules_to_search(value):
        for attribute, held in vars(module).items():
            if held is value and attribute.isidentifier():
                return Target(_importable_name(module, what), attribute, _file(module, what))
    raise BadTarget(f"{what} cannot be imported by name, as each simulated process must: {_remedy(value)}")


def _described(value: Any) -> str:
    if isinstance(value, Controller):
        return repr(value)
    if isinstance(value, functools.partial):
        return f"a functools.partial of {_described(value.func)}"
    if isinstance(value, MethodType):
        return f"the method {value.__qualname__}"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if getattr(value, "__name__", "") == "<lambda>":
        return f"a lambda of {value.__module__}"
    name = getattr(value, "__qualname__", None)
    return f"the function {name}" if name else f"an object of type {type(value).__qualname__}"


def _remedy(value: Any) -> str:
    qualname = getattr(value, "__qualname__", "")
    if isinstance(value, Controller):
        return "assign it to a name at the top level of a module, or make it in an app (an async context manager that takes a Manager)"
    if "<locals>" in qualname and "<lambda>" not in qualname:
        return "it is made inside a function; move it to the top level of a module, and let it open there what it needs"
    if isinstance(value, MethodType):
        return "write an app at the top level of a module that calls it"
    return "assign it to a name at the top level of a module"


def _modules_to_search(value: Any) -> Iterator[ModuleType]:
    """The modules where it may be, the likeliest first, and then all that are the user's."""
    makers = [value, type(value)]
    if isinstance(value, Controller):
        reconciler = inspect.unwrap(value.declared_reconciler.call)
        makers = [reconciler, type(reconciler), value.kind]
    likely = {str(getattr(maker, "__module__", "")): None for maker in makers}
    own = {name: None for name, module in list(sys.modules.items()) if not is_library(getattr(module, "__file__", None) or "<")}
    for name in {**likely, **own}:
        module = sys.modules.get(name)
        if isinstance(module, ModuleType) and getattr(module, "__file__", None):
            yield module


def _importable_name(module: ModuleType, what: str) -> str:
    if module.__name__ != "__main__":
        return module.__name__
    # The program itself, run by its file or by `python -m`: another process imports it as a module.
    spec = module.__spec__
    return spec.name if spec is not None else Path(_file(module, what)).stem


def _file(module: ModuleType, what: str) -> str:
    file = getattr(module, "__file__", None)
    if not file or not Path(file).is_file():
        raise BadTarget(
            f"{what} is in the module {module.__name__}, which has no source file that could be imported again: put it into one"
        )
    return str(Path(file).resolve())
