"""Workloads: what a user does, step by step, while a controller is checked.

A step holds plain JSON and nothing of anybody's program, so that it can be told, varied, shrunk and written down. `wait` lets the cluster
come to rest; without it the next step follows at once, within milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import yaml

from setpoint.objects import Object, Request, Untyped, encode, kind_of, yaml_text


class Ref(msgspec.Struct, frozen=True):
    """An object: its kind as `apiVersion` and `kind` say it, its namespace (or ""), its name."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


class Apply(msgspec.Struct, frozen=True):
    """Creates or changes an object, by server-side apply. `manifest` is JSON."""

    manifest: bytes

    @property
    def ref(self) -> Ref:
        """The object that it is about."""
        return ref_of(msgspec.json.decode(self.manifest))

    def __str__(self) -> str:
        return f"apply {self.ref}"


class Patch(msgspec.Struct, frozen=True):
    """Changes an object by a JSON merge patch, or its `subresource`. `patch` is JSON."""

    ref: Ref
    patch: bytes
    subresource: str = ""

    def __str__(self) -> str:
        return f"patch {self.ref}{f' ({self.subresource})' if self.subresource else ''} {self.patch.decode()}"


class Delete(msgspec.Struct, frozen=True):
    """Deletes an object; that it is gone already is no error."""

    ref: Ref
    propagation: str = "Background"

    def __str__(self) -> str:
        return f"delete {self.ref}"


class Recreate(msgspec.Struct, frozen=True):
    """Deletes an object, waits until it is gone, and applies the manifest at once: the same name, another UID."""

    ref: Ref
    manifest: bytes

    def __str__(self) -> str:
        return f"recreate {self.ref}"


class Wait(msgspec.Struct, frozen=True):
    """Waits until the cluster is at rest."""

    def __str__(self) -> str:
        return "wait"


class Advance(msgspec.Struct, frozen=True):
    """Lets so many seconds pass."""

    seconds: float

    def __str__(self) -> str:
        return f"advance {self.seconds:g} s"


Step: TypeAlias = Apply | Patch | Delete | Recreate | Wait | Advance


class Workload(msgspec.Struct, frozen=True):
    """Steps in order. At the end the cluster is waited for, as by `wait()`."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, *steps: Step) -> Workload:
        """`Workload.of(apply(...), wait(), delete(...))`."""
        return cls(steps)

    @classmethod
    def from_files(cls, *paths: Path | str) -> Workload:
        """Manifests in YAML or JSON, a file or a folder of them each; after each file the cluster is waited for.

        Files of a folder are taken in the order of their names. Raises `ValueError`, which names the file and what is wrong with it.
        """
        found: list[Step] = []
        for path in [file for each in paths for file in _files(Path(each))]:
            found += [apply(manifest) for manifest in _manifests(path)]
            found.append(Wait())
        return cls(tuple(found))


def apply(obj: Object | Mapping[str, Any], /) -> Apply:
    """The user applies an object, or a manifest as a mapping."""
    manifest = _manifest(obj)
    ref_of(manifest)
    return Apply(msgspec.json.encode(manifest))


def patch(
    obj: Object | type[Object] | Mapping[str, Any], patch: Mapping[str, Any], /, *, key: Request | str = "", subresource: str = ""
) -> Patch:
    """The user changes an object by a merge patch: `patch(WebApp, {"spec": {"replicas": 3}}, key="default/shop")`.

    The object is named by itself, or by its kind and `key`.
    """
    return Patch(_ref(obj, key), msgspec.json.encode(patch), subresource)


def delete(obj: Object | type[Object] | Mapping[str, Any], /, *, key: Request | str = "", propagation: str = "Background") -> Delete:
    """The user deletes an object, named as for `patch`."""
    return Delete(_ref(obj, key), propagation)


def recreate(obj: Object | Mapping[str, Any], /) -> Recreate:
    """The user deletes an object, and as soon as it is gone, makes one of the same name as given here."""
    manifest = _manifest(obj)
    return Recreate(ref_of(manifest), msgspec.json.encode(manifest))


def wait() -> Wait:
    """The user waits until the cluster is at rest."""
    return Wait()


def advance(by: timedelta | float, /) -> Advance:
    """So much time passes; a number is seconds."""
    return Advance(by.total_seconds() if isinstance(by, timedelta) else float(by))


def ref_of(manifest: Mapping[str, Any]) -> Ref:
    """The object that a manifest is about. Raises `ValueError` for what is no manifest."""
    metadata = manifest.get("metadata")
    if not manifest.get("apiVersion") or not manifest.get("kind") or not isinstance(metadata, Mapping) or not metadata.get("name"):
        raise ValueError(f"a manifest has apiVersion, kind and metadata.name; this one has {', '.join(manifest) or 'nothing'}")
    return Ref(manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def _manifest(obj: Object | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(obj, Mapping):
        return obj
    manifest: Mapping[str, Any] = msgspec.json.decode(encode(obj, status=False))
    return manifest


def _ref(obj: Object | type[Object] | Mapping[str, Any], key: Request | str) -> Ref:
    if isinstance(obj, type):
        if obj is Untyped:
            raise TypeError("name an untyped object by a manifest with apiVersion, kind and metadata")
        info = kind_of(obj)
        request = key if isinstance(key, Request) else Request.parse(key)
        if not request.name:
            raise ValueError('say which object is meant, with key="namespace/name" or key="name"')
        return Ref(info.api_version, info.kind, request.namespace, request.name)
    return ref_of(_manifest(obj))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.suffix in (".yaml", ".yml", ".json"))
        if not found:
            raise ValueError(f"{path} holds no file that ends in .yaml, .yml or .json")
        return found
    return [path]


def _manifests(path: Path) -> list[Mapping[str, Any]]:
    try:
        documents = [document for document in yaml_text.documents(path.read_text(encoding="utf-8")) if document is not None]
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid YAML: {error}") from error
    if not documents:
        raise ValueError(f"{path} holds no manifest")
    for document in documents:
        if not isinstance(document, Mapping):
            raise ValueError(f"{path}: a manifest is a mapping, and not {type(document).__name__}")
        try:
            ref_of(document)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return documents
