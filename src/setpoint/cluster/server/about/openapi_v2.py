"""OpenAPI v2, as little of it as kubectl falls back on where a document of v3 has no such kind: a mistyped `kind:`, for one.

kubectl then asks here, in protobuf alone, whether writes of a kind can be validated by the server, and goes on to say in its own words that
there is no such kind. So the document tells of each kind its patch and the parameter `fieldValidation`, and has no schemas. In JSON, which
other clients ask for, there is nothing: they would take a document without schemas for the whole.

The messages are those of https://github.com/google/gnostic-models/blob/main/openapiv2/OpenAPIv2.proto; all that is used of them are strings
and messages in messages.
"""

from __future__ import annotations

from collections.abc import Iterable

from setpoint.cluster.server.about.version import VERSION
from setpoint.cluster.server.kinds import ServedKind

ACCEPT = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
CONTENT_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


def document(kinds: Iterable[ServedKind]) -> bytes:
    """The message `Document`."""
    info = _field(1, b"Kubernetes, as setpoint serves it") + _field(2, VERSION["gitVersion"].encode())
    paths = b"".join(_field(2, _path(kind)) for kind in kinds if "patch" in kind.verbs)
    return _field(1, b"2.0") + _field(2, info) + _field(8, paths)


def _path(kind: ServedKind) -> bytes:
    """A `NamedPathItem`: where objects of the kind are, and what is said of their patch."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    place = f"{root}/namespaces/{{namespace}}/{kind.plural}/{{name}}" if kind.namespaced else f"{root}/{kind.plural}/{{name}}"
    query = _field(2, b"query") + _field(4, b"fieldValidation") + _field(6, b"string")
    parameter = _field(1, _field(2, _field(3, query)))
    named = f"group: {kind.group!r}\nkind: {kind.kind}\nversion: {kind.version}\n"
    extension = _field(1, b"x-kubernetes-group-version-kind") + _field(2, _field(2, named.encode()))
    patch = _field(8, parameter) + _field(13, extension)
    return _field(1, place.encode()) + _field(2, _field(8, patch))


def _field(number: int, content: bytes) -> bytes:
    """A field that holds a string or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
