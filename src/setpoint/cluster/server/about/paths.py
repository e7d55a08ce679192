"""What the server answers on paths that are no resources: version, health, discovery, documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.api import Answer, ApiError, Operation, StatusDetails
from setpoint.api.operation import JSON
from setpoint.api.status import failure
from setpoint.cluster.server.about.discovery import discover
from setpoint.cluster.server.about.health import health, is_health
from setpoint.cluster.server.about.version import version
from setpoint.cluster.server.accept import OFFERED, check_route
from setpoint.cluster.server.encoding import encode

if TYPE_CHECKING:
    from setpoint.cluster.server.server import ApiServer

_INDEX = ("/", "/index.html")
_HEALTH = ("/healthz", "/healthz/ping", "/livez", "/livez/ping", "/readyz", "/readyz/ping", "/readyz/shutdown")


def answer_path(server: ApiServer, operation: Operation) -> Answer:
    """The answer for an operation without a resource. Raises `NotAcceptable` and `NotFound`."""
    path = operation.path.partition("?")[0]
    if is_health(path):
        return health(path, operation) or no_such_path()
    if path in _INDEX:
        return _index(server)
    path = "/" + path.strip("/")
    if path == "/version":
        check_route(operation.accept, (JSON,))
        return version()
    if path.startswith("/openapi/"):
        return server.documents.answer(operation, server.world.clock.now()) or no_such_path()
    found = server.aggregated.answer(operation, path) or discover(server.kinds, path)
    if found is not None:
        check_route(operation.accept, OFFERED)
        return found
    match path.split("/"):
        case ["", "api", *_]:
            return server.refuse_group("")
        case ["", "apis", group, _, *_]:
            return server.refuse_group(group)
    return no_such_path()


def only_read(path: str) -> bool:
    """Whether a path takes no method but GET. The real server's other paths, health for one, take any, and answer them as that."""
    match path.strip("/").split("/"):
        case ["version"] | ["api", *_] | ["apis", _, _, *_]:
            return True
    return False


def not_allowed() -> ApiError:
    """405 for a method that means nothing."""
    return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", StatusDetails())


def no_such_path() -> Answer:
    """404 as plain text, which clients turn into "the server could not find the requested resource"."""
    headers = {"x-content-type-options": "nosniff"}
    return Answer(status=404, body=b"404 page not found\n", content_type="text/plain; charset=utf-8", headers=headers)


def _index(server: ApiServer) -> Answer:
    """All paths that are read, for people."""
    found = {"/api": None, "/apis": None, **dict.fromkeys(_HEALTH), "/openapi/v2": None, "/openapi/v3": None, "/version": None}
    for kind in server.kinds:
        if kind.group:
            found |= {f"/apis/{kind.group}": None, f"/apis/{kind.group}/{kind.version}": None}
        found[f"/openapi/v3/{'apis' if kind.group else 'api'}/{kind.api_version}"] = None
    found["/api/v1"] = None
    return Answer(status=200, body=encode({"paths": sorted(found)}))
