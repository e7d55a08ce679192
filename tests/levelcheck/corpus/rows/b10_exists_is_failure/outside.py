"""ZooKeeper: nodes by path, each below one that is there."""

from typing import Any


class ZooKeeper:
    def __init__(self) -> None:
        self.nodes: dict[str, str] = {"": ""}

    async def read(self, path: str) -> str | None:
        """The data of a node, None if there is none."""
        return self.nodes.get(path)

    async def create(self, path: str, data: str) -> str:
        """ "ok", "exists", or "no parent"."""
        if path.rpartition("/")[0] not in self.nodes:
            return "no parent"
        if path in self.nodes:
            return "exists"
        self.nodes[path] = data
        return "ok"

    async def write(self, path: str, data: str) -> None:
        """Sets the data of a node that is there."""
        if path in self.nodes:
            self.nodes[path] = data

    async def delete(self, path: str) -> None:
        """That there is none is no error."""
        self.nodes.pop(path, None)

    def state(self) -> dict[str, Any]:
        return {"nodes": self.nodes}
