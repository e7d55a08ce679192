"""Definitions whose schemas are made up at random, the same ones each time: right ones, and wrong ones."""

from __future__ import annotations

from itertools import count, islice
from random import Random

from tests.differential.customs.definitions import DefinitionMaker

from .kind import Json

_LONG = 1500
"""Characters beyond which a schema is left out: it would tell no more than some short ones."""


def _made(faults: float, first: int) -> list[Json]:
    """Versions of definitions, one after another."""
    specs = (DefinitionMaker(Random(seed), faults, "NS.example.com", "SHORT").definition()["spec"] for seed in count(first))
    return list(islice((_named(spec["versions"]) for spec in specs if spec["versions"] and len(str(spec["versions"])) < _LONG), 16))


def _named(versions: list[Json]) -> list[Json]:
    """The version that is stored is called v1, so that one definition can be changed into another."""
    return [
        {**version, "name": "v1" if version.get("storage") else "v1old" if version["name"] == "v1" else version["name"]}
        for version in versions
    ]


def bases() -> list[Json]:
    """Whole definitions."""
    names = {"plural": "SHORTs", "kind": "Short"}
    return [
        {"spec": {"group": "NS.example.com", "scope": ("Cluster", "Namespaced")[at % 2], "names": names, "versions": versions}}
        for at, versions in enumerate(_made(0, 1))
    ]


def bad() -> list[Json]:
    """What is laid over a definition, and is mostly wrong."""
    return [{"spec": {"versions": versions}} for versions in _made(0.05, 1000)]
