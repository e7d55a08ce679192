"""Whoever leases addresses."""

from itertools import count
from typing import Any


class Leases:
    """Leases another address each time, the lowest that nobody holds, until it is given back."""

    def __init__(self) -> None:
        self.leased: dict[str, str] = {}

    async def lease(self, holder: str) -> str:
        """Another address, for whoever holds it from now on."""
        address = next(address for number in count(1) if (address := f"198.51.100.{number}") not in self.leased)
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
