"""A load balancer."""

from typing import Any


class Balancer:
    """Sends traffic to all servers but those from which it was taken."""

    def __init__(self) -> None:
        self.drained: dict[str, None] = {}

    async def drain(self, server: str) -> None:
        """The server gets no traffic from now on."""
        self.drained[server] = None

    async def restore(self, server: str) -> None:
        """The server gets traffic from now on."""
        self.drained.pop(server, None)

    def state(self) -> dict[str, Any]:
        """The servers without traffic."""
        return {"drained": sorted(self.drained)}
