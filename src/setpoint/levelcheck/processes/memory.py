"""What a process remembers, as a digest: equal digests mean that nothing which the user's modules hold differs.

Module globals, class attributes, function defaults, closures, attributes of instances, and how full caches are. What only frames hold (the
locals of an app, of a task) is not seen: where there is an app, nothing is said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

from setpoint.controller import Controller
from setpoint.levelcheck.processes.fresh import Loaded

_DEEPEST = 6
_QUIET = frozenset({"setpoint", "logging", "builtins", "typing", "re", "asyncio", "contextvars", "msgspec"})
"""Packages whose objects hold nothing of a controller's own."""
_PLAIN = (str, int, float, bool, bytes, type(None))


def memory_of(loaded: Loaded) -> str:
    """The digest; empty where there may be more than can be seen."""
    if not all(isinstance(value, Controller) for value in loaded.values):
        return ""
    own = frozenset(loaded.modules)
    said = [f"{name}:{_module(module, own)}" for name, module in sorted(loaded.modules.items())]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


def _module(module: ModuleType, own: frozenset[str]) -> str:
    return ";".join(f"{name}={_value(value, own, {}, 0)}" for name, value in vars(module).items() if not name.startswith("__"))


def _value(value: Any, own: frozenset[str], seen: dict[int, None], depth: int) -> str:
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in seen or depth > _DEEPEST:
        return type(value).__name__
    seen = {**seen, id(value): None}

    def told(inner: Any) -> str:
        return _value(inner, own, seen, depth + 1)

    if isinstance(value, Mapping):
        return "{" + ",".join(f"{told(key)}:{told(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(told, value)) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ",".join(sorted(map(told, value))) + "}"
    if callable(info := getattr(value, "cache_info", None)):
        return f"cache({info().currsize})"
    if isinstance(value, FunctionType):
        if value.__module__ not in own:
            return value.__qualname__
        cells = [cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell)]
        return f"{value.__qualname__}({told(value.__defaults__)},{told(cells)},{told(vars(value))})"
    if isinstance(value, type):
        if value.__module__ not in own:
            return value.__qualname__
        held = {name: item for name, item in vars(value).items() if not name.startswith("__")}
        return f"{value.__qualname__}({told(held)})"
    if type(value).__module__.partition(".")[0] in _QUIET:
        return type(value).__qualname__
    items = list(value) if type(value).__module__ == "collections" else []
    return f"{type(value).__qualname__}({told(getattr(value, '__dict__', None))},{told(items)})"


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
