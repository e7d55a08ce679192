"""A cloud that rents out machines."""

from typing import Any


class Cloud:
    def __init__(self) -> None:
        self.machines: dict[str, str] = {}

    async def ensure(self, owner: str, size: str) -> None:
        """Rents a machine for an owner, unless it has one."""
        self.machines.setdefault(owner, size)

    async def remove(self, owner: str) -> None:
        """That there is none is no error."""
        self.machines.pop(owner, None)

    def state(self) -> dict[str, Any]:
        return {"machines": sorted(self.machines.values())}
