"""What a process remembers, as a digest: equal digests mean that nothing which the user's modules hold differs.

Module globals, class attributes, function defaults, closures, reconcilers that are objects, and all that these lead to, as `pickle` walks
it: values by value, and what modules of others define by its name. What cannot be walked may hold anything: then nothing is said. Nor is it
where there is an app, or a task that has been kept, whose frames cannot be seen, nor where a cache of calls has something in it.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
from asyncio import AbstractEventLoop
from io import BytesIO
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

from setpoint.controller import Controller
from setpoint.levelcheck.processes.fresh import Loaded

_BY_NAME = frozenset({"typing", "msgspec.json", "msgspec.msgpack"})
"""Modules whose objects hold nothing of a controller's own."""


def memory_of(loaded: Loaded) -> str:
    """The digest; empty where there may be more than can be seen."""
    if not all(isinstance(value, Controller) for value in loaded.values):
        return ""
    out = BytesIO()
    try:
        _Walk(out, frozenset(loaded.modules)).dump([(name, _held(loaded.modules[name])) for name in sorted(loaded.modules)])
    except Exception:  # whatever an object of the user's, or of a library, says of being pickled
        return ""
    return hashlib.sha256(out.getbuffer()).hexdigest()[:16]


class _Walk(pickle.Pickler):
    """Writes what is there, and is never read: functions and classes of the user's as what they hold, those of others by their names."""

    def __init__(self, out: BytesIO, own: frozenset[str]) -> None:
        super().__init__(out, protocol=pickle.HIGHEST_PROTOCOL)
        self._own = own

    def persistent_id(self, value: Any) -> Any:
        """What stands for a value and is written in its place; None for one that is to be walked."""
        if isinstance(value, str | bytes):
            return repr(value)  # a new one each time: whether two equal ones are one object makes no difference
        if isinstance(value, set | frozenset):
            return "set", *sorted(value, key=repr)
        if isinstance(value, ModuleType):
            return "module", value.__name__
        if isinstance(value, type):
            return None if value.__module__ in self._own else ("class", value.__module__, value.__qualname__)
        if isinstance(value, FunctionType):
            mine = value.__closure__ or value.__module__ in self._own
            return None if mine else ("function", value.__module__, value.__qualname__)
        if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, ModuleType | None):
            return "function", value.__module__, value.__qualname__
        if inspect.ismemberdescriptor(value) or isinstance(value, functools.cached_property | AbstractEventLoop):
            return "one", type(value).__qualname__
        return ("one", type(value).__qualname__) if type(value).__module__ in _BY_NAME else None

    def reducer_override(self, value: Any) -> Any:
        """How a value is walked that has got this far."""
        if isinstance(value, FunctionType):
            return str, (value.__qualname__,), (value.__defaults__, value.__kwdefaults__, value.__closure__, vars(value))
        if isinstance(value, type):
            return str, (value.__qualname__,), _held(value)
        if isinstance(value, CellType):
            return str, ("cell",), _content(value)
        if isinstance(value, staticmethod | classmethod):
            return str, ("method",), value.__func__
        if isinstance(value, property):
            return str, ("property",), (value.fget, value.fset, value.fdel)
        if callable(info := getattr(value, "cache_info", None)) and info().currsize:
            raise pickle.PicklingError("what a cache of calls has in it cannot be seen")
        if isinstance(value, functools._lru_cache_wrapper):
            return str, ("cached",), (value.__wrapped__, vars(value))
        return NotImplemented


def _held(holder: ModuleType | type) -> list[tuple[str, Any]]:
    """The attributes, but for those that Python makes."""
    return [(name, value) for name, value in vars(holder).items() if not (name.startswith("__") and name.endswith("__"))]


def _content(cell: CellType) -> Any:
    try:
        return [cell.cell_contents]
    except ValueError:  # not filled yet
        return []
