"""A certificate authority."""

from typing import Any


class Authority:
    """Issues one certificate for a domain, and revokes it by its number."""

    def __init__(self) -> None:
        self.valid: dict[str, int] = {}
        self.issued = 0

    async def ensure(self, domain: str) -> int:
        """The number of the certificate of the domain, issued if there is none."""
        if domain not in self.valid:
            self.issued += 1
            self.valid[domain] = self.issued
        return self.valid[domain]

    async def find(self, domain: str) -> int | None:
        """The number of the certificate of the domain, if there is one."""
        return self.valid.get(domain)

    async def revoke(self, number: int) -> None:
        """There is no certificate of that number from now on."""
        self.valid = {domain: valid for domain, valid in self.valid.items() if valid != number}

    def state(self) -> dict[str, Any]:
        """The domains with a certificate."""
        return {"valid": sorted(self.valid)}
