"""Discovery and schemas of the built-in kinds, from data files beside this one; ``tools/generate_k8s.py`` writes those."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from setpoint.objects import Scale

_FILES = {
    ("", "v1"): "core_v1.json.gz",
    ("apps", "v1"): "apps_v1.json.gz",
    ("events.k8s.io", "v1"): "events_v1.json.gz",
    ("coordination.k8s.io", "v1"): "coordination_v1.json.gz",
    ("apiextensions.k8s.io", "v1"): "apiextensions_v1.json.gz",
}

_WITH_GENERATION = ("Pod", "Deployment", "ReplicaSet", "CustomResourceDefinition")
"""The kinds whose ``metadata.generation`` counts changes of what is wanted; discovery does not tell."""


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
    """A built-in kind as discovery announces it. ``schema_name`` is its name among the `schemas` of its group and version."""

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
    has_status: bool
    """Whether status is a subresource."""
    has_generation: bool
    """Whether ``metadata.generation`` is kept."""
    scale: Scale | None
    """Where the scale subresource has its numbers. ``selector`` is the path of a label selector that is to be written as text."""
    schema_name: str


@lru_cache(maxsize=1)
def kinds() -> tuple[BuiltinKind, ...]:
    """All built-in kinds that are served, by group and version, then by plural."""
    return tuple(_kind(group, version, resource) for group, version in _FILES for resource in _content(group, version)["resources"])


@lru_cache(maxsize=64)
def kind_named(name: str) -> BuiltinKind | None:
    """The built-in kind of this name, None if there is none. An `Event` is the core one, in whose form they are all kept."""
    return next((kind for kind in kinds() if kind.kind == name), None)


def schemas(group: str, version: str) -> dict[str, dict[str, Any]]:
    """The OpenAPI v3 component schemas of a group and version, by name, closed under ``$ref``. Shared: not to be changed.

    They hold the served kinds and their lists, what API machinery itself sends (``DeleteOptions``, ``Status``, ``WatchEvent``, ...) and,
    with ``apps``, ``Scale``. References read ``#/components/schemas/<name>``. Raises `LookupError` for another group or version.
    """
    result: dict[str, dict[str, Any]] = _content(group, version)["schemas"]
    return result


def schema_of(kind: BuiltinKind) -> dict[str, Any]:
    """The schema of a kind's objects; what it refers to is in `schemas`. Shared: not to be changed."""
    return schemas(kind.group, kind.version)[kind.schema_name]


@lru_cache(maxsize=len(_FILES))
def _content(group: str, version: str) -> dict[str, Any]:
    name = _FILES.get((group, version))
    if name is None:
        raise LookupError(f"no built-in kinds of {group or 'the core group'}, version {version}")
    content: dict[str, Any] = json.loads(gzip.decompress(files(__package__).joinpath(name).read_bytes()))
    return content


@lru_cache(maxsize=len(_FILES))
def _names(group: str, version: str) -> dict[tuple[str, str, str], str]:
    """The names of the schemas that stand for a kind."""
    return {
        (gvk["group"], gvk["version"], gvk["kind"]): name
        for name, schema in schemas(group, version).items()
        for gvk in schema.get("x-kubernetes-group-version-kind", ())
    }


def _kind(group: str, version: str, resource: dict[str, Any]) -> BuiltinKind:
    kind = resource["responseKind"]["kind"]
    subresources = tuple(
        Subresource(
            name=sub["subresource"],
            group=sub["responseKind"]["group"] or group,
            version=sub["responseKind"]["version"] or version,
            kind=sub["responseKind"]["kind"],
            verbs=tuple(sub["verbs"]),
        )
        for sub in resource.get("subresources", ())
    )
    names = [sub.name for sub in subresources]
    return BuiltinKind(
        group=group,
        version=version,
        kind=kind,
        plural=resource["resource"],
        singular=resource["singularResource"],
        list_kind=f"{kind}List",
        namespaced=resource["scope"] == "Namespaced",
        short_names=tuple(resource.get("shortNames", ())),
        categories=tuple(resource.get("categories", ())),
        verbs=tuple(resource["verbs"]),
        subresources=subresources,
        has_status="status" in names,
        has_generation=kind in _WITH_GENERATION,
        scale=Scale(spec=".spec.replicas", status=".status.replicas", selector=".spec.selector") if "scale" in names else None,
        schema_name=_names(group, version)[group, version, kind],
    )
