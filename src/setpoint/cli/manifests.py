"""Manifests: YAML or JSON files with one or more objects each, read and applied as `kubectl apply -f` does."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from setpoint.api.status import ApiError
from setpoint.cli.failure import Failure
from setpoint.client import Client
from setpoint.client.errors import NotServed
from setpoint.objects import KindInfo
from setpoint.objects.yaml_text import documents as yaml_documents

log = logging.getLogger("setpoint.run")

KIND_PATIENCE = 10.0
"""Seconds to wait for a kind that a manifest before it defines."""
_SUFFIXES = (".yaml", ".yml", ".json")


def read(paths: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """The objects in files and folders, each with where it comes from; `-` is standard input. Raises `Failure`."""
    return [found for path in paths for name, text in _texts(path) for found in _objects(name, text)]


async def apply(client: Client, objects: Sequence[tuple[str, dict[str, Any]]], namespace: str) -> None:
    """Applies what `read` gave, in that order; `namespace` is for those that name none. Raises `Failure` for the first that is refused."""
    defines_kinds = any(manifest["kind"] == "CustomResourceDefinition" for _, manifest in objects)
    deadline = asyncio.get_running_loop().time() + (KIND_PATIENCE if defines_kinds else 0.0)
    for where, manifest in objects:
        try:
            info = await _kind(client, manifest, deadline)
            if info.namespaced and not manifest["metadata"].get("namespace"):
                manifest = {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}
            applied = await client.apply(manifest)
        except (ApiError, ValueError) as error:
            raise Failure(f"{where}: {error}") from error
        log.info("applied %s %s", info.kind, applied.key)


async def _kind(client: Client, manifest: dict[str, Any], deadline: float) -> KindInfo:
    """How the server serves it, which takes a moment after its definition was applied. Raises `NotServed` at the deadline."""
    while True:
        try:
            return await client.kind_info(manifest)
        except NotServed:
            if asyncio.get_running_loop().time() >= deadline:
                raise
            await asyncio.sleep(0.1)


def _texts(path: str) -> Iterator[tuple[str, str]]:
    if path == "-":
        yield "standard input", sys.stdin.read()
        return
    place = Path(path)
    if not place.exists():
        raise Failure(f"there is no manifest {path}")
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if file.suffix in _SUFFIXES)
        if not files:
            raise Failure(f"the folder {path} holds no manifest ({', '.join(_SUFFIXES)})")
    else:
        files = [place]
    for file in files:
        try:
            yield str(file), file.read_text(encoding="utf-8")
        except OSError as error:
            raise Failure(f"the manifest {file} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise Failure(f"the manifest {file} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _objects(name: str, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        documents = yaml_documents(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1}, column {mark.column + 1})" if mark is not None else ""
        raise Failure(f"the manifest {name} is not valid YAML{where}: {getattr(error, 'problem', None) or error}") from error
    found = False
    for number, document in enumerate(documents, 1):
        if document is None:
            continue
        found = True
        where = name if len(documents) == 1 else f"{name}, document {number}"
        if not isinstance(document, dict):
            raise Failure(f"the manifest {where} is no object: it has apiVersion, kind and metadata at its top")
        if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
            for item in document["items"]:
                yield where, _checked(where, item)
        else:
            yield where, _checked(where, document)
    if not found:
        raise Failure(f"the manifest {name} is empty")


def _checked(where: str, document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise Failure(f"the manifest {where} has an item that is no object")
    for field in ("apiVersion", "kind"):
        if not isinstance(document.get(field), str) or not document[field]:
            raise Failure(f"the manifest {where} does not say its {field}")
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise Failure(f"the manifest {where} ({document['kind']}) has no metadata.name")
    return document
