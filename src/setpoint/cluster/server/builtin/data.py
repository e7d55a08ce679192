"""What ConfigMaps and Secrets must obey: their keys, their size, what their type needs, and that immutable ones do not change."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from setpoint.cluster.server import names
from setpoint.cluster.server.schema.causes import FieldError, forbidden, invalid, required, too_long

_LIMIT = 1024 * 1024
_IMMUTABLE = "field is immutable when `immutable` is set"
_SERVICE_ACCOUNT = "kubernetes.io/service-account.name"
_NEEDS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}


def validate_config_map(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[FieldError]:
    """What is wrong with a ConfigMap, or with its change."""
    text, binary = new.get("data") or {}, new.get("binaryData") or {}
    if old is not None:
        yield from _unchanged(new, old, ("data", "binaryData"))
    for key in text:
        yield from (invalid(f"data[{key}]", key, problem) for problem in names.config_key(key))
        if key in binary:
            yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from (invalid(f"binaryData[{key}]", key, problem) for problem in names.config_key(key))
    if sum(len(value.encode()) for value in text.values()) + sum(map(_decoded_size, binary.values())) > _LIMIT:
        # The path that the server gives is empty, and it prints that as a pair of brackets.
        yield too_long("[]", _LIMIT)


def validate_secret(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> Iterator[FieldError]:
    """What is wrong with a Secret, or with its change. ``stringData`` has been folded into ``data``."""
    data, kind = new.get("data") or {}, new.get("type")
    if old is not None:
        if kind != old.get("type"):
            yield invalid("type", kind, "field is immutable")
        yield from _unchanged(new, old, ("data",))
    for key in data:
        yield from (invalid(f"data[{key}]", key, problem) for problem in names.config_key(key))
    if sum(map(_decoded_size, data.values())) > _LIMIT:
        yield too_long("data", _LIMIT)
    if kind == "kubernetes.io/service-account-token":
        annotations = (new.get("metadata") or {}).get("annotations") or {}
        if not annotations.get(_SERVICE_ACCOUNT):
            yield required(f"metadata.annotations[{_SERVICE_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            yield required("data[username]")
            yield required("data[password]")
    else:
        for key in _NEEDS.get(kind or "", ()):
            if key not in data:
                yield required(f"data[{key}]")
            elif key.startswith(".docker") and (problem := _json_problem(data[key])):
                yield invalid(f"data[{key}]", "<secret contents redacted>", problem)


def _unchanged(new: Mapping[str, Any], old: Mapping[str, Any], fields: tuple[str, ...]) -> Iterator[FieldError]:
    if old.get("immutable") is not True:
        return
    if new.get("immutable") is not True:
        yield forbidden("immutable", _IMMUTABLE)
    for field in fields:
        if (new.get(field) or {}) != (old.get(field) or {}):
            yield forbidden(field, _IMMUTABLE)


def _decoded_size(text: str) -> int:
    return len(text) * 3 // 4 - text.count("=", -2)


def _json_problem(text: str) -> str:
    """What Go's decoder says of a value that should be JSON, or nothing."""
    content = base64.b64decode(text).decode(errors="replace")
    try:
        json.loads(content)
    except json.JSONDecodeError as error:
        if error.pos >= len(content):
            return "unexpected end of JSON input"
        return f"invalid character '{content[error.pos]}' looking for beginning of value"
    return ""
