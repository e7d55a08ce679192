"""One request to a Kubernetes API server, and its three possible outcomes.

A transport takes an `Operation`, not a URL: HTTP is one way to carry it, a call into the embedded server in the same process is another,
a wrapper that injects faults a third. What comes of it is one of three things, and the difference matters to whoever wrote:

- `Answer` (or `Stream`, for a watch): the server answered, be it with an error;
- `NotSent`: the request never left, so nothing can have happened;
- `Unknown`: it left and no answer came, so it may have happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol, TypeAlias

import msgspec

from setpoint.api.names import GroupVersionResource

Verb: TypeAlias = Literal["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]
"""The verbs of the Kubernetes API, as RBAC spells them."""

WRITES: tuple[Verb, ...] = ("create", "update", "patch", "delete", "deletecollection")

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the server.

    `resource` is None for what is not a resource (`/version`, discovery, `/openapi/v3/...`); then `path` says what is read.
    `options` are the query parameters, in the wire's spelling; `arguments` are those that may repeat, such as the words of a program to be
    run in a container. `body` with its `content_type` is what a write carries.
    `user_agent` says who asks; `run` names the reconciler's run that asks, for observers alone (it is never sent).
    `deadline` is the loop's time in seconds at which the caller stops waiting, or None.
    """

    verb: Verb
    resource: GroupVersionResource | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    path: str = ""
    options: Mapping[str, str] = {}
    arguments: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = ""
    accept: str = JSON
    headers: Mapping[str, str] = {}
    user_agent: str = ""
    run: str = ""
    deadline: float | None = None

    @property
    def is_write(self) -> bool:
        """Whether it may change something: a dry run does not."""
        return self.verb in WRITES and "dryRun" not in self.options

    def __str__(self) -> str:
        """`PATCH`-free and short: `patch deployments.apps default/web (status)`."""
        if self.resource is None:
            return f"{self.verb} {self.path}"
        where = (
            f"{self.namespace}/{self.name}"
            if self.namespace and self.name
            else self.name or (f"in {self.namespace}" if self.namespace else "")
        )
        what = f"{self.verb} {self.resource.group_resource}"
        return " ".join(part for part in (what, where, f"({self.subresource})" if self.subresource else "") if part)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The server's answer: an HTTP status code and a body. Header names are lower case; `warnings` are the texts of `Warning` headers."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the server did what was asked."""
        return self.status < 400


class NotSent(msgspec.Struct, frozen=True):
    """The request never reached the server; nothing happened. `reason` is a sentence for people."""

    reason: str


class Unknown(msgspec.Struct, frozen=True):
    """The request left, no answer came: it may or may not have happened. `reason` is a sentence for people."""

    reason: str


class Stream(Protocol):
    """A watch that the server accepted. Whoever got one closes it."""

    async def read(self) -> list[bytes] | None:
        """The next frames (one JSON document each, at least one), or None when the server has ended the stream.

        Raises `StreamBroken` if the connection was lost, which is not an end that the server meant.
        """
        ...

    async def close(self) -> None:
        """Ends the watch from our side; may be called more than once."""
        ...


class ServedStream(Stream, Protocol):
    """A watch on the server's side, which knows that it is over before whoever reads it does."""

    def when_ended(self, told: Callable[[], object], /) -> None:
        """Calls `told` once the stream has ended, and is left to be read out; at once, if it has. Who asks last is told."""
        ...


class StreamBroken(Exception):
    """A stream ended without the server having ended it: reset, time-out, garbage."""


class ConnectionDropped(Exception):
    """A server lets go of the connection instead of answering; whether anything has happened is unknown. Its text is for people."""


Outcome: TypeAlias = Answer | Stream | NotSent | Unknown


class Transport(Protocol):
    """How operations reach a server. Never raises for what the network or the server does: that is the outcome."""

    async def send(self, operation: Operation, /) -> Outcome:
        """Carries the operation to the server. A watch that is accepted gives a `Stream`; all else gives one of the other three."""
        ...

    async def close(self) -> None:
        """Lets go of connections; outcomes after that are `NotSent`."""
        ...


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who the server says is asking, after authentication."""

    user: str
    groups: tuple[str, ...] = ()
    uid: str = ""


ADMIN = Identity(user="admin", groups=("system:masters", "system:authenticated"))
