"""A board on which operators say that they are there."""

from typing import Any


class Board:
    """Until when each of them is to be believed. Nothing that is on it is a result, so its state is always the same."""

    def __init__(self) -> None:
        self.joined = 0
        self.until: dict[str, float] = {}

    def join(self) -> str:
        """A name that nobody had before."""
        self.joined += 1
        return f"operator-{self.joined}"

    def renew(self, name: str, until: float) -> None:
        self.until[name] = until

    def leave(self, name: str) -> None:
        self.until.pop(name, None)

    def is_another_alive(self, name: str, now: float) -> bool:
        return any(until > now for other, until in self.until.items() if other != name)

    def state(self) -> dict[str, Any]:
        return {}
