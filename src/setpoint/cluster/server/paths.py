"""What the server answers on paths that are no resources: version, health, discovery, documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.api import Answer, Operation
from setpoint.cluster.server.discovery import discover
from setpoint.cluster.server.health import health, is_health
from setpoint.cluster.server.version import version

if TYPE_CHECKING:
    from setpoint.cluster.server.server import ApiServer


def answer_path(server: ApiServer, operation: Operation) -> Answer:
    """The answer for an operation without a resource."""
    path = "/" + operation.path.partition("?")[0].strip("/")
    if is_health(path):
        return health(path, operation.options) or no_such_path()
    if path == "/version":
        return version()
    if path.startswith("/openapi/"):
        return server.documents.answer(operation, server.world.clock.now()) or no_such_path()
    return server.aggregated.answer(operation, path) or discover(server.kinds, path) or no_such_path()


def no_such_path() -> Answer:
    """404 as plain text, which clients turn into "the server could not find the requested resource"."""
    return Answer(status=404, body=b"404 page not found\n", content_type="text/plain; charset=utf-8")
