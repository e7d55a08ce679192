"""Both ways at once: what a request that is upgraded to a websocket gives, for programs in containers and their ports.

https://kubernetes.io/docs/reference/using-api/api-concepts/ knows these as the `exec`, `attach` and `portforward` subresources of pods.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, runtime_checkable

from setpoint.api.operation import Answer, NotSent, Operation, Unknown


class Duplex(Protocol):
    """A connection that carries whole messages both ways. Whoever got one closes it."""

    @property
    def protocol(self) -> str:
        """The one of the offered protocols that the server took; empty where it named none."""
        ...

    async def send(self, message: bytes, /) -> None:
        """Sends one message, and waits while the other side takes none. Raises `StreamBroken`."""
        ...

    async def receive(self) -> bytes | None:
        """The next message; None once the server has taken its leave. Raises `StreamBroken` if the connection was lost."""
        ...

    async def close(self) -> None:
        """Ends the connection; may be called more than once."""
        ...


Connected: TypeAlias = Answer | Duplex | NotSent | Unknown


@runtime_checkable
class Connects(Protocol):
    """A transport that can do so."""

    async def connect(self, operation: Operation, protocols: tuple[str, ...], /) -> Connected:
        """Asks the server to speak one of these protocols; a refusal is its `Answer`. Never raises for what network or server do."""
        ...
