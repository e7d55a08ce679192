"""A cloud that rents out servers."""

from typing import Any


class Cloud:
    def __init__(self) -> None:
        self.servers: dict[str, str] = {}

    async def ensure(self, owner: str) -> None:
        """Rents a server for an owner, unless it has one."""
        self.servers.setdefault(owner, "running")

    async def remove(self, owner: str) -> None:
        """That there is none is no error."""
        self.servers.pop(owner, None)

    def state(self) -> dict[str, Any]:
        return {"servers": sorted(self.servers.values())}
