"""Discovery and schemas of the built-in kinds, from the data files in ``published/``; ``tools/generate_k8s.py`` writes those.

What is announced is little, and read at once. A schema is unpacked with the others of its package, when it is first asked for.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from setpoint.cluster.server.builtin.absent import ABSENT, ABSENT_SUBRESOURCES
from setpoint.objects import Scale

Schema: TypeAlias = dict[str, Any]
_PUBLISHED = Path(__file__).with_name("published")


@dataclass(frozen=True)
class Subresource:
    """A part of an object with a URL of its own. ``group``, ``version`` and ``kind`` say what is sent and answered there."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


@dataclass(frozen=True)
class BuiltinKind:
    """A built-in kind as discovery announces it. ``schema_name`` is its name among the `schemas`, and that of its Go struct."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    list_kind: str
    namespaced: bool
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    verbs: tuple[str, ...]
    subresources: tuple[Subresource, ...]
    """Those that are served."""
    has_status: bool
    """Whether status is a subresource."""
    scale: Scale | None
    """Where the scale subresource has its numbers. ``selector`` is the path of a label selector that is to be written as text."""
    schema_name: str


@lru_cache(maxsize=1)
def kinds() -> tuple[BuiltinKind, ...]:
    """All built-in kinds that are served, in the order in which a real server announces them."""
    return tuple(_kind(announced) for announced in unpacked("discovery") if (announced["group"], announced["plural"]) not in ABSENT)


@lru_cache(maxsize=1)
def _by_name() -> dict[tuple[str, str, str], BuiltinKind]:
    return {(kind.group, kind.version, kind.kind): kind for kind in kinds()}


def find(group: str, version: str, kind: str) -> BuiltinKind | None:
    """The built-in kind of this name that is served, None if there is none."""
    return _by_name().get((group, version, kind))


@lru_cache(maxsize=1)
def digest() -> str:
    """Names the content of all data files."""
    content = hashlib.sha256()
    for file in sorted(_PUBLISHED.iterdir()):
        content.update(file.read_bytes())
    return content.hexdigest()


def schemas() -> Mapping[str, Schema]:
    """The OpenAPI v3 component schemas of the built-in kinds and of what API machinery itself sends, by name. Not to be changed.

    References read ``#/components/schemas/<name>``.
    """
    return _SCHEMAS


def schema_of(kind: BuiltinKind) -> Schema:
    """The schema of a kind's objects; what it refers to is in `schemas`. Shared: not to be changed."""
    return _SCHEMAS[kind.schema_name]


@lru_cache(maxsize=64)
def unpacked(name: str) -> Any:
    """The content of a data file. Raises `FileNotFoundError`."""
    return msgspec.json.decode(gzip.decompress(_PUBLISHED.joinpath(f"{name}.json.gz").read_bytes()))


class _Schemas(Mapping[str, Schema]):
    """All schemas by name; a package's are unpacked when one of them is asked for."""

    def __getitem__(self, name: str) -> Schema:
        package = "apimachinery" if name.startswith("io.k8s.apimachinery.") else ".".join(name.split(".")[-3:-1])
        try:
            content: dict[str, Schema] = unpacked(package)
        except FileNotFoundError:
            raise KeyError(name) from None
        return content[name]

    def __iter__(self) -> Iterator[str]:
        for package in self._packages():
            yield from unpacked(package)

    def __len__(self) -> int:
        return sum(len(unpacked(package)) for package in self._packages())

    def __bool__(self) -> bool:
        return True

    @staticmethod
    def _packages() -> list[str]:
        found = (file.name.removesuffix(".json.gz") for file in _PUBLISHED.iterdir())
        return sorted(name for name in found if name not in ("columns", "discovery", "structs"))


_SCHEMAS = _Schemas()


def _kind(announced: dict[str, Any]) -> BuiltinKind:
    resource = (announced["group"], announced["plural"])
    subresources = tuple(
        Subresource(sub["name"], sub["group"], sub["version"], sub["kind"], tuple(sub["verbs"]))
        for sub in announced["subresources"]
        if (*resource, sub["name"]) not in ABSENT_SUBRESOURCES
    )
    names = [sub.name for sub in subresources]
    return BuiltinKind(
        group=announced["group"],
        version=announced["version"],
        kind=announced["kind"],
        plural=announced["plural"],
        singular=announced["singular"],
        list_kind=f"{announced['kind']}List",
        namespaced=announced["namespaced"],
        short_names=tuple(announced["short_names"]),
        categories=tuple(announced["categories"]),
        verbs=tuple(announced["verbs"]),
        subresources=subresources,
        has_status="status" in names,
        scale=Scale(spec=".spec.replicas", status=".status.replicas", selector=".spec.selector") if "scale" in names else None,
        schema_name=announced["schema"],
    )
