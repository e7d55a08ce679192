"""A cloud that rents out addresses."""

from typing import Any


class Cloud:
    def __init__(self) -> None:
        self.addresses: list[str] = []

    async def ensure(self, name: str) -> None:
        """Rents an address, unless it has been."""
        if name not in self.addresses:
            self.addresses.append(name)

    async def remove(self, name: str) -> None:
        """That there is none is no error."""
        if name in self.addresses:
            self.addresses.remove(name)

    def state(self) -> dict[str, Any]:
        return {"addresses": sorted(self.addresses)}
