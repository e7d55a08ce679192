"""What the server answers on paths that are no resources: version, health, discovery, documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.api import Answer, Operation
from setpoint.cluster.server.encoding import encode

if TYPE_CHECKING:
    from setpoint.cluster.server.server import ApiServer

VERSION = {
    "major": "1",
    "minor": "37",
    "gitVersion": "v1.37.2+setpoint",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "setpoint: for development, tests and small single-node use",
    "platform": "python",
}
"""What `/version` says: the API is that of Kubernetes 1.37, the server is not Kubernetes'."""


def answer_path(server: ApiServer, operation: Operation) -> Answer:
    """The answer for an operation without a resource."""
    path = operation.path.partition("?")[0].rstrip("/") or "/"
    if path == "/version":
        return Answer(status=200, body=encode(VERSION))
    if path in ("/healthz", "/livez", "/readyz") or path.startswith(("/healthz/", "/livez/", "/readyz/")):
        return Answer(status=200, body=b"ok", content_type="text/plain; charset=utf-8")
    return no_such_path()


def no_such_path() -> Answer:
    """404 as plain text, which clients turn into "the server could not find the requested resource"."""
    return Answer(status=404, body=b"404 page not found\n", content_type="text/plain; charset=utf-8")
