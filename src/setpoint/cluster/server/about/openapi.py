"""OpenAPI v3: an index with hashes, and one document for each group and version, as clients read them to validate and to explain.

A document's address contains a hash, another one for another content, so clients may keep it for ever; who asks for an old one is sent on
to the new one.
Of OpenAPI v2 there is only what kubectl falls back on, see `openapi_v2`.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from email.utils import format_datetime
from functools import cached_property
from typing import Any

from setpoint.api import Answer, Operation
from setpoint.api.status import failure
from setpoint.cluster.server import builtin
from setpoint.cluster.server.about import openapi_v2
from setpoint.cluster.server.about.openapi_paths import DELETE_OPTIONS, PATCH, REFERENCE, SCALE, STATUS, paths_of
from setpoint.cluster.server.about.version import VERSION
from setpoint.cluster.server.builtin import BuiltinKind
from setpoint.cluster.server.crd.openapi import published_schemas, schema_name
from setpoint.cluster.server.encoding import encode
from setpoint.cluster.server.kinds import Kinds, ServedKind

Json = dict[str, Any]

_FOREVER = timedelta(days=365)
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_JSON_NAMES = ("application/json", "application/*", "*/*")


class _Document:
    """A document and the kinds that it is about. It is written when it is read, or when its hash cannot be told without."""

    def __init__(self, place: str, kinds: tuple[ServedKind, ...]) -> None:
        self.kinds = kinds
        self._place = place

    @cached_property
    def body(self) -> bytes:
        return encode(_write(self.kinds))

    @cached_property
    def hash(self) -> str:
        if all(isinstance(kind.origin, BuiltinKind) for kind in self.kinds):
            # What is told of these is in the data files. To write all of it takes half a second of CPU, and few read more than a part.
            told = f"{builtin.digest()} {VERSION['gitVersion']} {self._place}".encode()
        else:
            told = self.body
        return hashlib.sha256(told).hexdigest().upper()


class Documents:
    """The documents of all kinds that are served, each written when it is first asked for and when one of its kinds has changed."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._documents: dict[str, _Document] = {}

    def answer(self, operation: Operation, now: datetime) -> Answer | None:
        """The answer for a path below `/openapi`, None where there is nothing. Raises `NotAcceptable` for a client that takes no JSON."""
        head, _, place = operation.path.partition("?")[0].strip("/").removeprefix("openapi/").partition("/")
        if (head, place) == ("v2", "") and openapi_v2.ACCEPT in operation.accept:
            return Answer(status=200, body=openapi_v2.document(self._kinds), content_type=openapi_v2.CONTENT_TYPE)
        if head != "v3":
            return None
        if not _takes_json(operation.accept):
            raise failure(406, "NotAcceptable", "only the following media types are accepted: application/json")
        if not place:
            return Answer(status=200, body=encode({"paths": {place: {"serverRelativeURL": self._url(place)} for place in self._places()}}))
        document = self._document(place)
        if document is None:
            return None
        tag = f'"{document.hash}"'
        headers = {"etag": tag, "vary": "Accept"}
        asked = operation.options.get("hash", "")
        if asked and asked != document.hash:
            return Answer(status=301, headers={**headers, "location": self._url(place)})
        if asked:
            headers |= {"cache-control": "public, immutable", "expires": format_datetime(now + _FOREVER, usegmt=True)}
        if operation.headers.get("if-none-match", "") == tag:
            return Answer(status=304, headers=headers)
        return Answer(status=200, body=document.body, headers=headers)

    def _places(self) -> Iterator[str]:
        """`api/v1` and `apis/apps/v1`, in the order in which groups and versions came."""
        yield from dict.fromkeys(_place(kind) for kind in self._kinds)

    def _url(self, place: str) -> str:
        document = self._document(place)
        return f"/openapi/v3/{place}?hash={document.hash if document is not None else ''}"

    def _document(self, place: str) -> _Document | None:
        kinds = tuple(kind for kind in self._kinds if _place(kind) == place)
        if not kinds:
            self._documents.pop(place, None)
            return None
        known = self._documents.get(place)
        if known is None or known.kinds != kinds:
            known = self._documents[place] = _Document(place, kinds)
        return known


def _place(kind: ServedKind) -> str:
    return f"apis/{kind.group}/{kind.version}" if kind.group else f"api/{kind.version}"


def _takes_json(accept: str) -> bool:
    return not accept or any(part.partition(";")[0].strip().lower() in _JSON_NAMES for part in accept.split(","))


def _write(kinds: Iterable[ServedKind]) -> Json:
    """The document of the kinds of one group and version."""
    paths: Json = {}
    schemas: Json = {}
    shared = builtin.schemas()
    for kind in kinds:
        if isinstance(kind.origin, BuiltinKind):
            name = kind.origin.schema_name
            list_name = f"{name}List"
            schemas |= _closed((name, list_name), shared)
        else:
            name = schema_name(kind.group, kind.version, kind.kind)
            list_name = schema_name(kind.group, kind.version, kind.list_kind)
            published = published_schemas(kind.origin)
            schemas |= published
            schemas |= _closed(_named(published), shared)
        schemas |= _closed((PATCH, DELETE_OPTIONS, STATUS), shared)
        if "scale" in kind.subresources:
            schemas |= _closed((SCALE,), shared)
        paths |= dict(paths_of(kind, name, list_name))
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes, as setpoint serves it", "version": VERSION["gitVersion"]},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _closed(names: Iterable[str], schemas: Mapping[str, Json]) -> Json:
    """The schemas of these names with all that they refer to."""
    found: Json = {}
    left = list(names)
    while left:
        name = left.pop()
        if name not in found and name in schemas:
            found[name] = schemas[name]
            left += _named(schemas[name])
    return found


def _named(schema: object) -> Iterator[str]:
    """The names of the schemas that one refers to."""
    if isinstance(schema, dict):
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield reference.removeprefix(REFERENCE)
        for child in schema.values():
            yield from _named(child)
    elif isinstance(schema, list):
        for child in schema:
            yield from _named(child)
