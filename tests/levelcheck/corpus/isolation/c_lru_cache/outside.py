"""Whoever leases addresses."""

from typing import Any


class Leases:
    """Leases another address each time, for good."""

    def __init__(self) -> None:
        self.leased: dict[str, str] = {}
        self.last = 0

    async def lease(self, holder: str) -> str:
        """Another address, for whoever holds it from now on."""
        self.last += 1
        address = f"198.51.100.{self.last}"
        self.leased[address] = holder
        return address

    async def held_by(self, holder: str) -> list[str]:
        """The addresses that somebody holds."""
        return [address for address, holds in sorted(self.leased.items()) if holds == holder]

    async def give_back(self, holder: str) -> None:
        """Nobody of that name holds an address from now on."""
        self.leased = {address: holds for address, holds in self.leased.items() if holds != holder}

    def state(self) -> dict[str, Any]:
        """Who holds how many."""
        return {"holders": sorted(self.leased.values())}
