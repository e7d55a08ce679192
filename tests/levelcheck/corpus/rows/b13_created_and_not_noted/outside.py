"""A cloud that rents out databases, and says itself what each is called."""

from typing import Any


class Cloud:
    def __init__(self) -> None:
        self.databases: dict[str, str] = {}
        self.made = 0

    async def create(self, tag: str) -> str:
        """Makes a database each time that it is called, and gives its identifier."""
        self.made += 1
        self.databases[f"db-{self.made}"] = tag
        return f"db-{self.made}"

    async def find(self, tag: str) -> list[str]:
        """The identifiers of the databases with a tag."""
        return [identifier for identifier, its in self.databases.items() if its == tag]

    async def delete(self, identifier: str) -> None:
        """That there is none is no error."""
        self.databases.pop(identifier, None)

    def state(self) -> dict[str, Any]:
        return {"databases": self.databases}
