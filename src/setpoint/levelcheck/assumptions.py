"""What a check takes for granted about the cluster and the framework, and what a user declares about a controller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

import msgspec


class Assumptions(msgspec.Struct, frozen=True, kw_only=True):
    """What may happen beside what Setpoint rules out. The report prints what differs from the defaults.

    `lists="old"`: a list may come from a server that lags behind, as where clients list at resourceVersion 0 and there are several API
    servers (https://github.com/kubernetes/kubernetes/issues/59848). Setpoint's own cache asks for consistent lists.
    `own_writes="late"`: a read from the cache may miss this process's own writes, as in caches of other frameworks.
    `sync="partial"`: runs may begin before every cache is complete.
    """

    lists: Literal["consistent", "old"] = "consistent"
    own_writes: Literal["visible", "late"] = "visible"
    sync: Literal["complete", "partial"] = "complete"

    @property
    def declared(self) -> tuple[str, ...]:
        """What differs from the defaults, a sentence each."""
        said = {
            "lists may come from an old cache of the server": self.lists == "old",
            "own writes may be missing from cached reads": self.own_writes == "late",
            "runs may begin before the caches are complete": self.sync == "partial",
        }
        return tuple(sentence for sentence, holds in said.items() if holds)


class State(Protocol):
    """The objects on the server at one revision, and the outside, for invariants to look at."""

    @property
    def outside(self) -> Mapping[str, Any]:
        """The fakes, by their names."""
        ...

    def list(self, resource: str, namespace: str | None = None) -> list[dict[str, Any]]:
        """The objects of a resource as JSON, by namespace and name: `state.list("pods")`, `state.list("webapps.apps.example.com")`."""
        ...


Invariant: TypeAlias = Callable[[State], str | None]
"""Says in a sentence what does not hold, or None. It is asked after every revision, and must hold throughout the run without faults."""

Role: TypeAlias = Callable[[dict[str, Any]], str | None]
"""The role of an object (as JSON) among its owner's children, or None: of each role there should be one live object at a time."""


class Waiver(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that is meant to be so, with the `reason`. One that never applies is told of, too.

    `oracle` is "O12", say; `resource` ("persistentvolumeclaims"), `name` and `field` (".spec.replicas", or a beginning of the path)
    narrow it down; what is empty fits all.
    """

    reason: str
    oracle: str
    resource: str = ""
    name: str = ""
    field: str = ""


class Periodic(msgspec.Struct, frozen=True, kw_only=True):
    """A field that changes for ever by intention, such as a rotated key: stability, idempotence and end states leave it out."""

    resource: str
    field: str
    reason: str
