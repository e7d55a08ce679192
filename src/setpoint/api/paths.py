"""Operations as HTTP requests and back, after the conventions of the Kubernetes API.

https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlencode

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
    """The path is one, but the method means nothing there."""


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

    Raises `NotAPath` or `MethodNotAllowed`. A GET of a collection with `watch` is a watch; so are the deprecated `/watch/` paths and a GET
    of one object with `watch`, which becomes a watch of the collection with a field selector.
    """
    headers = headers or {}
    options = dict(parse_qsl(query, keep_blank_values=True))
    asked = Operation(
        verb="get",
        path="/" + path.strip("/"),
        options=options,
        body=body,
        content_type=headers.get("content-type", ""),
        accept=headers.get("accept", "") or JSON,
        headers=headers,
        user_agent=headers.get("user-agent", ""),
    )
    parts = [unquote(part) for part in path.strip("/").split("/")]
    match parts:
        case ["api", version, *rest] if rest:
            group = ""
        case ["apis", group, version, *rest] if rest:
            pass
        case _:
            if method not in ("GET", "HEAD"):
                raise MethodNotAllowed(f"{method} {path}")
            return asked

    watching = rest[0] == "watch" and len(rest) > 1
    if watching:
        rest = rest[1:]
    namespace = name = subresource = ""
    match rest:
        case ["namespaces", namespace, plural, *tail] if plural not in _NAMESPACE_SUBRESOURCES:
            pass
        case [plural, *tail]:
            namespace = ""
    if tail:
        name, *more = tail
        subresource = "/".join(more)
    if not plural or (tail and not name):
        raise NotAPath(path)

    flag = options.pop("watch", None)
    watching = watching or (method == "GET" and flag is not None and flag.lower() not in ("0", "false"))
    if watching and method == "GET" and not subresource:
        if name:
            options["fieldSelector"] = f"metadata.name={name}"
        verb: Verb = "watch"
        name = ""
    else:
        verb = _verb(method, bool(name), path)
    resource = GroupVersionResource(group, version, plural)
    return msgspec.structs.replace(
        asked, verb=verb, resource=resource, namespace=namespace, name=name, subresource=subresource, path="", options=options
    )


def _verb(method: str, named: bool, path: str) -> Verb:
    match method, named:
        case (("GET" | "HEAD"), True):
            return "get"
        case (("GET" | "HEAD"), False):
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
    raise MethodNotAllowed(f"{method} {path}")
