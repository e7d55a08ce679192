"""The behaviours of the built-in kinds, a file for each API group (or idea), each with its `BEHAVIOURS` by the kind's name.

A new file needs no entry here. A kind that none of them knows is one of which only the schema is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.resources import files

from setpoint.cluster.server.builtin.behaviour import Behaviour

_ONLY_SCHEMA = Behaviour()


def behaviour_of(kind: str) -> Behaviour:
    """The behaviour of the kinds of this name; all its versions have one."""
    return behaviours().get(kind, _ONLY_SCHEMA)


@lru_cache(maxsize=1)
def behaviours() -> Mapping[str, Behaviour]:
    """All that are written. Raises `ValueError` for a kind that two files claim."""
    found: dict[str, Behaviour] = {}
    for name in sorted(file.name for file in files(__package__).iterdir()):
        if name.endswith(".py") and name != "__init__.py":
            module = import_module(f"{__package__}.{name.removesuffix('.py')}")
            stated: Mapping[str, Behaviour] = module.BEHAVIOURS
            if twice := found.keys() & stated.keys():
                raise ValueError(f"{name}: the behaviour of {', '.join(sorted(twice))} is stated in another file, too")
            found |= stated
    return found
