"""A cloud that rents out load balancers."""

from typing import Any


class Cloud:
    """Load balancers by name. Both calls may be repeated."""

    def __init__(self) -> None:
        self.balancers: dict[str, str] = {}

    async def ensure(self, name: str) -> str:
        """The host name of the balancer, which is made if need be."""
        return self.balancers.setdefault(name, f"{name.replace('/', '-')}.lb.example.com")

    async def remove(self, name: str) -> None:
        """That there is none is no error."""
        self.balancers.pop(name, None)

    def state(self) -> dict[str, Any]:
        return {"balancers": self.balancers}
