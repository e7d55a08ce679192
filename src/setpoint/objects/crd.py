"""The CustomResourceDefinition of a kind: what makes an API server serve it."""

from __future__ import annotations

import re
from typing import Any

from .kind_info import KindInfo, kind_of
from .metadata import Object
from .schema import SchemaError, schema_of

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?", re.ASCII)
_STABILITY = {None: 2, "beta": 1, "alpha": 0}


def crd(*versions: type[Object], storage: str | None = None) -> dict[str, Any]:
    """The manifest for one kind, of which each class is a version. Minimal, and the same every time.

    Objects are stored in the version ``storage``; unless given, in the one that is declared as ``stored``; else in the most stable and
    newest one. Raises `ValueError` for classes that are not versions of one kind or claim both to be stored, and for a group that no custom
    kind can be in, and `SchemaError` for a class that a schema cannot describe.
    """
    if not versions:
        raise ValueError("crd() takes the class of a kind, or the classes of its versions")
    classes = sorted(versions, key=lambda cls: version_priority(kind_of(cls).version), reverse=True)
    infos = [kind_of(cls) for cls in classes]
    first = infos[0]
    _check(infos, first)
    declared = [info.version for info in infos if info.stored]
    if len(declared) > 1:
        raise ValueError(f"{first.kind}: objects are stored in one version, not in {' and '.join(declared)}")
    stored = storage or (declared or [first.version])[0]
    if stored not in [info.version for info in infos]:
        raise ValueError(f"{first.kind} has no version {stored} to be stored in; there are {', '.join(info.version for info in infos)}")
    names: dict[str, Any] = {"kind": first.kind, "listKind": first.list_kind, "plural": first.plural, "singular": first.singular}
    if first.short_names:
        names["shortNames"] = list(first.short_names)
    if first.categories:
        names["categories"] = list(first.categories)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{first.plural}.{first.group}"},
        "spec": {
            "group": first.group,
            "names": names,
            "scope": first.scope,
            "versions": [_version(cls, info, info.version == stored) for cls, info in zip(classes, infos, strict=True)],
        },
    }


def version_priority(version: str) -> tuple[int, int, int]:
    """Orders versions as Kubernetes does: stable before beta before alpha, newer before older, other names last. Higher comes first."""
    match = _VERSION.fullmatch(version)
    if not match:
        return (-1, 0, 0)
    major, stability, minor = match.groups()
    return (_STABILITY[stability], int(major), int(minor or 0))


def _check(infos: list[KindInfo], first: KindInfo) -> None:
    if "." not in first.group:
        raise ValueError(
            f'{first.kind}: a custom kind lives in a group with a domain of yours, such as "apps.example.com", not in {first.group!r}'
        )
    seen: dict[str, None] = {}
    for info in infos:
        for what in ("group", "kind", "plural", "scope"):
            if getattr(info, what) != getattr(first, what):
                raise ValueError(
                    f"{info.kind} {info.api_version} and {first.kind} {first.api_version} are not versions of one kind: {what} differs"
                    f" ({getattr(info, what)!r}, {getattr(first, what)!r})"
                )
        if info.version in seen:
            raise ValueError(f"two classes are version {info.version} of {info.kind}")
        seen[info.version] = None


def _version(cls: type[Object], info: KindInfo, stored: bool) -> dict[str, Any]:
    version: dict[str, Any] = {"name": info.version, "served": info.served, "storage": stored}
    if info.deprecated:
        version["deprecated"] = True
        if isinstance(info.deprecated, str):
            version["deprecationWarning"] = info.deprecated
    schema = schema_of(cls)
    version["schema"] = {"openAPIV3Schema": schema}
    subresources: dict[str, Any] = {"status": {}} if info.has_status else {}
    if info.scale:
        subresources["scale"] = {"specReplicasPath": info.scale.spec, "statusReplicasPath": info.scale.status}
        if info.scale.selector:
            subresources["scale"]["labelSelectorPath"] = info.scale.selector
    if subresources:
        version["subresources"] = subresources
    if columns := _columns(info):
        version["additionalPrinterColumns"] = columns
    if info.selectable_fields:
        _check_selectable(info, schema)
        version["selectableFields"] = [{"jsonPath": path} for path in info.selectable_fields]
    return version


def _check_selectable(info: KindInfo, schema: dict[str, Any]) -> None:
    if len(info.selectable_fields) > _MOST_SELECTABLE:
        raise SchemaError(f"{info.kind}: a version has at most {_MOST_SELECTABLE} selectable fields, not {len(info.selectable_fields)}")
    for at, path in enumerate(info.selectable_fields):
        first, *steps = path.split(".")
        if first or not steps or not all(steps) or "[" in path:
            raise SchemaError(f'{info.kind}: a selectable field is a path of names such as ".spec.color", not {path!r}')
        if path in info.selectable_fields[:at]:
            raise SchemaError(f"{info.kind}: {path} is selectable twice")
        node: Any = schema
        for step in steps:
            node = (node.get("properties") or {}).get(step, node.get("additionalProperties"))
            if not isinstance(node, dict):
                raise SchemaError(f"{info.kind}: the selectable field {path} is none of its fields: there is no {step!r}")
        if node.get("type") not in ("string", "integer", "boolean"):
            raise SchemaError(f"{info.kind}: the selectable field {path} is no text, whole number or boolean")


_MOST_SELECTABLE = 8


def _columns(info: KindInfo) -> list[dict[str, Any]]:
    columns = []
    for column in info.columns:
        spelled: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
        extras = {"format": column.format, "description": column.description, "priority": column.priority}
        columns.append(spelled | {name: value for name, value in extras.items() if value})
    if columns and all(column["name"] != "Age" for column in columns):
        # Without columns the server shows the age by itself; with any, only what is declared.
        columns.append({"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"})
    return columns
