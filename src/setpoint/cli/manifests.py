"""Manifests: YAML or JSON files with one or more objects each, as `kubectl apply -f` takes them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from setpoint.cli.failure import Failure

_SUFFIXES = (".yaml", ".yml", ".json")


def read(paths: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """The objects in files and folders, each with where it comes from; `-` is standard input. Raises `Failure`."""
    return [found for path in paths for name, text in _texts(path) for found in _objects(name, text)]


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
        documents = list(yaml.safe_load_all(text))
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
