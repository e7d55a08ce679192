"""Aggregated discovery: all groups, versions and resources in two documents, `/api` (the core group) and `/apis` (all others).

Their tags are hashes of their content, so that a client that has one already is answered 304.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from setpoint.api import Answer, Operation
from setpoint.cluster.server.about.discovery import kind_of_subresource, told_verbs, versions
from setpoint.cluster.server.accept import by_quality, media_for, not_acceptable
from setpoint.cluster.server.encoding import encode
from setpoint.cluster.server.kinds import Kinds, ServedKind

Json = dict[str, Any]

CONTENT_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_PATHS = ("/api", "/apis")


class Aggregated:
    """The two documents, each written when it is first asked for and when the kinds have changed."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._version = -1
        self._documents: dict[str, tuple[bytes, str]] = {}

    def answer(self, operation: Operation, path: str) -> Answer | None:
        """The document at a path, where the client prefers this form of it; else None. Raises `NotAcceptable`."""
        if path not in _PATHS or not _wanted(operation.accept):
            return None
        body, tag = self._document(path)
        headers = {"etag": tag, "vary": "Accept", "cache-control": "public"}
        if operation.headers.get("if-none-match", "") == tag:
            return Answer(status=304, headers=headers, content_type=CONTENT_TYPE)
        return Answer(status=200, body=body, headers=headers, content_type=CONTENT_TYPE)

    def _document(self, path: str) -> tuple[bytes, str]:
        if self._version != self._kinds.version:
            self._documents.clear()
            self._version = self._kinds.version
        if path not in self._documents:
            body = encode(_write(kind for kind in self._kinds if bool(kind.group) is (path == "/apis")))
            self._documents[path] = body, f'"{hashlib.sha512(body).hexdigest().upper()}"'
        return self._documents[path]


def _wanted(accept: str) -> bool:
    """Whether the first of what the client accepts and the server has is the aggregated form."""
    clauses = by_quality(accept)
    for media, parameters in clauses:
        shape, group = parameters.get("as", ""), parameters.get("g", "")
        if not shape and media_for(media):
            return False
        if media == "application/json" and (shape, group, parameters.get("v")) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"):
            return True
    if clauses:
        raise not_acceptable()
    return False


def _write(kinds: Iterable[ServedKind]) -> Json:
    groups: dict[str, list[ServedKind]] = {}
    for kind in kinds:
        groups.setdefault(kind.group, []).append(kind)
    items = [{"metadata": {"name": name} if name else {}, "versions": _versions(group)} for name, group in groups.items()]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _versions(group: list[ServedKind]) -> list[Json]:
    return [
        {"version": version, "resources": [_resource(kind) for kind in group if kind.version == version], "freshness": "Current"}
        for version in versions(group)
    ]


def _resource(kind: ServedKind) -> Json:
    entry: Json = {
        "resource": kind.plural,
        "responseKind": _gvk(kind, kind.group, kind.version, kind.kind),
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": told_verbs(kind),
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if kind.categories:
        entry["categories"] = list(kind.categories)
    if kind.subresources:
        entry["subresources"] = [
            {"subresource": name, "responseKind": _gvk(kind, *kind_of_subresource(kind, name)), "verbs": list(verbs)}
            for name, verbs in kind.subresources.items()
        ]
    return entry


def _gvk(kind: ServedKind, group: str, version: str, name: str) -> Json:
    """What is answered; built-in kinds leave out a group and version that are those of the list."""
    if not kind.strategy.custom and (group, version) == (kind.group, kind.version):
        group = version = ""
    return {"group": group, "version": version, "kind": name}
