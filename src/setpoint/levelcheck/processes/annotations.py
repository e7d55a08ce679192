"""Annotations that are text (`from __future__ import annotations`), settled as long as it is clear what their names mean.

Whoever reads them later looks up the class's module in `sys.modules`, which may be another process's by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any


def settle_annotations(modules: Mapping[str, ModuleType]) -> None:
    """Replaces text by what it means in all classes that the modules define. What cannot be evaluated yet stays text."""
    for name, module in modules.items():
        for cls in _classes(vars(module).values(), name):
            hints = vars(cls).get("__annotations__", {})
            if not any(isinstance(hint, str) for hint in hints.values()):
                continue
            names = dict(vars(cls))
            for attribute, hint in hints.items():
                if isinstance(hint, str):
                    hints[attribute] = _evaluated(hint, module, names)


def _classes(values: Iterable[Any], module: str) -> Iterator[type]:
    for value in list(values):
        if isinstance(value, type) and value.__module__ == module:
            yield value
            yield from (
                inner for inner in _classes(vars(value).values(), module) if inner.__qualname__.startswith(f"{value.__qualname__}.")
            )


def _evaluated(hint: str, module: ModuleType, names: dict[str, Any]) -> Any:
    try:
        value = eval(_compiled(hint), vars(module), names)
    except Exception:  # a name that only type checkers see, or that is defined later: as it was for whoever asks
        return hint
    return type(None) if value is None else value


@lru_cache(maxsize=8192)
def _compiled(hint: str) -> CodeType:
    return compile(hint, "<annotation>", "eval", dont_inherit=True)
