"""Operations as HTTP requests and back, after the conventions of the Kubernetes API.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, unquote_plus, urlencode

import msgspec

from setpoint.api.names import GroupVersionResource
from setpoint.api.operation import JSON, Operation, Verb

METHODS: dict[str, str] = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
"""The HTTP method of each verb."""
_NAMESPACE_SUBRESOURCES = ("status", "finalize")
"""`/api/v1/namespaces/x/status` is a subresource of the namespace; `/api/v1/namespaces/x/pods` is a collection in it."""


class NotAPath(ValueError):
    """The request is for nothing that the Kubernetes API has."""


class MethodNotAllowed(ValueError):
    """The path is one, but the method means nothing there. `operation` is what a GET would ask for."""

    def __init__(self, text: str, operation: Operation) -> None:
        super().__init__(text)
        self.operation = operation


def is_segment(text: str) -> bool:
    """Whether a name or namespace stays where it is put in a path: `..` would lead elsewhere, however it is quoted.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
    """
    return text not in (".", "..") and "/" not in text and "%" not in text


def to_http(operation: Operation) -> tuple[str, str]:
    """Method and request target (path with query) of an operation."""
    query = [*operation.options.items(), *operation.arguments]
    if operation.verb == "watch":
        query.append(("watch", "true"))
    target = operation.path if operation.resource is None else _path(operation, operation.resource)
    if query:
        target = f"{target}{'&' if '?' in target else '?'}{urlencode(query)}"
    return METHODS[operation.verb], target


def _path(operation: Operation, resource: GroupVersionResource) -> str:
    parts = ["/apis", resource.group, resource.version] if resource.group else ["/api", resource.version]
    if operation.namespace:
        parts += ["namespaces", quote(operation.namespace, safe="")]
    parts.append(resource.resource)
    if operation.name:
        parts.append(quote(operation.name, safe=""))
    if operation.subresource:
        parts.append(operation.subresource)
    return "/".join(parts)


def from_http(method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b"") -> Operation:
    """The operation that a request asks for. `headers` have lower-case names; `path` may still be percent-encoded.

    A GET of a collection with `watch` is a watch; so are the deprecated `/watch/` paths, of which one with a name is a watch of the
    collection with a field selector. What is no resource is read, whatever the method. An empty part of a path makes it that of a resource
    without a name, which no server has.

    Raises `NotAPath`, or `MethodNotAllowed` where the method means nothing for a resource.
    """
    headers = headers or {}
    options, repeated = _query(query)
    decoded = unquote(path)
    asked = Operation(
        verb="get",
        path=decoded,
        options=options,
        arguments=repeated,
        body=body,
        content_type=headers.get("content-type", ""),
        accept=headers.get("accept", "") or JSON,
        headers=headers,
        user_agent=headers.get("user-agent", ""),
    )
    match decoded.removesuffix("/").split("/"):
        case ["", "api", version, *rest] if rest:
            group = ""
        case ["", "apis", group, version, *rest] if rest:
            pass
        case ["", "api" | "apis", *_] | ["", ""] | [""]:
            return msgspec.structs.replace(asked, path="/" + decoded.strip("/"))
        case ["", first, *_] if first:
            return asked
        case _:
            raise NotAPath(path)

    watching = rest[0] == "watch" and len(rest) > 1
    if watching:
        rest = rest[1:]
    namespace = name = subresource = ""
    match rest:
        case ["namespaces", namespace, plural, *tail] if plural not in _NAMESPACE_SUBRESOURCES or not namespace:
            pass
        case [plural, *tail]:
            namespace = ""
    if tail:
        name, *more = tail
        subresource = "/".join(more)
        if not name or "" in more:
            plural = ""
    asked = msgspec.structs.replace(
        asked, resource=GroupVersionResource(group, version, plural), namespace=namespace, name=name, subresource=subresource, path=""
    )
    if watching:
        if method != "GET":
            raise MethodNotAllowed(f"{method} {path}", asked)
        if name and not subresource:
            asked = msgspec.structs.replace(asked, name="", options={**options, "fieldSelector": f"metadata.name={name}"})
        return asked if subresource else msgspec.structs.replace(asked, verb="watch", options=_without_watch(asked.options))
    verb = _verb(method, bool(name))
    if verb is None:
        raise MethodNotAllowed(f"{method} {path}", asked)
    if verb == "list" and (options.get("watch", "0").lower() not in ("0", "false")):
        verb = "watch"
    return msgspec.structs.replace(asked, verb=verb, options=_without_watch(options))


_BROKEN = re.compile("%(?![0-9A-Fa-f]{2})")


def is_encoded(text: str) -> bool:
    """Whether each percent sign begins the two digits of a byte."""
    return _BROKEN.search(text) is None


def _query(text: str) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """The parameters, and what comes more than once: of a parameter the first value counts, and what cannot be read does not.

    A semicolon separates nothing; what has one is not read, lest others see other parameters there.
    """
    options: dict[str, str] = {}
    repeated: list[tuple[str, str]] = []
    for pair in text.split("&") if text else ():
        if not pair or ";" in pair or not is_encoded(pair):
            continue
        name, _, value = pair.partition("=")
        name, value = unquote_plus(name), unquote_plus(value)
        if name in options:
            repeated.append((name, value))
        else:
            options[name] = value
    return options, tuple(repeated)


def _without_watch(options: Mapping[str, str]) -> Mapping[str, str]:
    return {name: value for name, value in options.items() if name != "watch"} if "watch" in options else options


def _verb(method: str, named: bool) -> Verb | None:
    match method, named:
        case "GET", True:
            return "get"
        case "GET", False:
            return "list"
        case "POST", _:
            return "create"
        case "PUT", True:
            return "update"
        case "PATCH", True:
            return "patch"
        case "DELETE", True:
            return "delete"
        case "DELETE", False:
            return "deletecollection"
    return None
