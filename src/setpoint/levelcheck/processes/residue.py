"""What a simulated process leaves behind where another one finds it: in modules that all of them share.

A process that crashes loses all its memory. The user's own modules are loaded anew for each one, but installed packages, Python and
Setpoint are the same for all. `Residue` looks at those that the user's modules lead to, before and after, and says in sentences what has
changed: state that would be lost in production and is not lost here. Mere caches of pure functions are among them, so that a sentence is
a hint and no verdict; forked processes share nothing, and judge.

Looked at are: of installed packages that the user's modules import, the globals and class attributes of all their modules, and how much
is in a `functools.lru_cache`; of Python and Setpoint, attributes that were added to modules and classes which the user's modules name;
the environment and the current folder.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sized
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from setpoint.levelcheck.processes.fresh import Loaded

_MOST = 1000
"""Members of a container that are looked at one by one; of a larger one it is only how many there are."""

_OURS = frozenset({"setpoint", "msgspec", "aiohttp", "yaml", "prometheus_client", "rich", "click", "pytest", "_pytest", "hypothesis"})
"""Packages that Setpoint itself uses, or what runs the tests: they change without the user's doing."""

_PLAIN = (int, float, complex, str, bytes, bool, type(None))

Digest: TypeAlias = Any


class Residue:
    """Remembers what shared modules hold, and tells what has changed since."""

    def __init__(self, loaded: Loaded) -> None:
        self._shared = _shared_with(loaded)
        self._before = self._look()

    def changed(self) -> list[str]:
        """A sentence for each thing that has changed since the last call, or since this was made."""
        before, self._before = self._before, self._look()
        return [
            _sentence(place, before[place], after) for place, after in self._before.items() if place in before and before[place] != after
        ]

    def _look(self) -> dict[str, Digest]:
        found: dict[str, Digest] = {"the environment": dict(os.environ), "the current folder": os.getcwd()}
        for name in _modules_of(self._shared.packages):
            found.update(_globals(name, sys.modules[name]))
        for place, value in self._shared.named.items():
            found[f"what has been added to {place}"] = _attributes(value)
        return found


class _Shared:
    """What the user's modules name that all processes share: installed packages, and single modules and classes."""

    def __init__(self) -> None:
        self.packages: dict[str, None] = {}
        self.named: dict[str, ModuleType | type] = {}


def _shared_with(loaded: Loaded) -> _Shared:
    shared = _Shared()
    for module in loaded.modules.values():
        for value in vars(module).values():
            place = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if not isinstance(place, str) or place in loaded.modules or place not in sys.modules:
                continue
            top = place.partition(".")[0]
            if top not in _OURS and top not in sys.stdlib_module_names:
                shared.packages[top] = None
            elif isinstance(value, ModuleType):
                shared.named[f"the module {place}"] = value
            elif isinstance(value, type):
                shared.named[f"the class {place}.{value.__qualname__}"] = value
    return shared


def _modules_of(packages: Mapping[str, None]) -> list[str]:
    return sorted(name for name, module in sys.modules.items() if name.partition(".")[0] in packages and type(module) is ModuleType)


def _attributes(value: ModuleType | type) -> list[str]:
    """The names in it, submodules aside, which come with imports, and what Python keeps for itself."""
    return sorted(name for name, held in vars(value).items() if not isinstance(held, ModuleType) and not name.startswith("__"))


def _globals(name: str, module: ModuleType) -> Iterator[tuple[str, Digest]]:
    for attribute, value in list(vars(module).items()):
        if attribute.startswith("__") or isinstance(value, ModuleType):
            continue
        place = f"{name}.{attribute}"
        yield place, _digest(value)
        if isinstance(value, type) and value.__module__ == name:
            for inner, held in list(vars(value).items()):
                if not inner.startswith(("__", "_abc_")):
                    yield f"{place}.{inner}", _digest(held)


def _digest(value: Any) -> Digest:
    """What tells by comparison whether a value has changed: itself where it cannot, else what is in it, one level deep."""
    if isinstance(value, _PLAIN):
        return value
    held = getattr(value, "__func__", value)
    info = getattr(held, "cache_info", None)
    if callable(info):
        return "cached", info().currsize
    if isinstance(held, type | FunctionType | ModuleType):
        return _Same(held)
    if isinstance(held, list | tuple | deque | set | frozenset):
        return len(held), *_members(held)
    if isinstance(held, MutableMapping):
        return len(held), *_members(held), *_members(held.values())
    inside = tuple((name, _Same(part)) for name, part in vars(held).items()) if hasattr(held, "__dict__") else ()
    return _Same(held), len(held) if isinstance(held, Sized) else 0, inside


def _members(values: Iterable[Any]) -> Iterator[Any]:
    for number, each in enumerate(list(values)):
        if number == _MOST:
            return
        yield each if isinstance(each, _PLAIN) else _Same(each)


class _Same:
    """Equal only to the same object, which is kept alive, so that no other can come to its address."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _sentence(place: str, before: Digest, after: Digest) -> str:
    if isinstance(after, tuple) and after and after[0] == "cached":
        return f"{place} remembers {after[1]} results of calls, and had {before[1]} before: a crash would lose them"
    if isinstance(after, dict):
        names = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
        return f"{place} has changed ({', '.join(names)}): a crash would lose that"
    if place.startswith("what has been added to "):
        added = [name for name in after if name not in before]
        return f"{place.removeprefix('what has been added to ')} has been given {', '.join(added) or 'less'}: a crash would lose that"
    return f"{place} has changed: a crash would lose that"
