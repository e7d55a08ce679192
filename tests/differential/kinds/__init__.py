"""The kinds of the differential test, in classes: what each class has been asked is counted by itself.

What is known of a kind is data, in a file for each sort of kind; `definitions.yaml` defines the custom ones.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from . import made_up
from .kind import Json, Kind

_FOLDER = Path(__file__).parent
_FILES = ("config", "workload", "spec", "cluster", "custom", "definition")


def _kind(plain: dict[str, Any]) -> Kind:
    lists = {
        name: tuple(map(_frozen, value)) if name == "removals" else tuple(value) for name, value in plain.items() if isinstance(value, list)
    }
    return Kind(**{**plain, **lists})


def _frozen(path: list[str | int]) -> tuple[str | int, ...]:
    return tuple(path)


def _with_made_up(kind: Kind) -> Kind:
    if kind.kind != "CustomResourceDefinition":
        return kind
    return replace(kind, bases=(*kind.bases, *made_up.bases()), bad=(*kind.bad, *made_up.bad()))


KINDS: tuple[Kind, ...] = tuple(
    _with_made_up(kind)
    for kind in (_kind(plain) for name in _FILES for plain in yaml.safe_load((_FOLDER / f"{name}.yaml").read_text()))
    if "settles" not in kind.without
)

DEFINITIONS: tuple[Json, ...] = tuple(yaml.safe_load_all((_FOLDER / "definitions.yaml").read_text()))

SORTS: tuple[str, ...] = tuple(dict.fromkeys(kind.sort for kind in KINDS))

BY_SORT: dict[str, tuple[Kind, ...]] = {sort: tuple(kind for kind in KINDS if kind.sort == sort) for sort in SORTS}

VERBS_OF: dict[str, tuple[str, ...]] = {sort: tuple(dict.fromkeys(verb for kind in BY_SORT[sort] for verb in kind.verbs)) for sort in SORTS}
"""The verbs that some kind of a class has."""

__all__ = ["BY_SORT", "DEFINITIONS", "KINDS", "SORTS", "VERBS_OF", "Kind"]
