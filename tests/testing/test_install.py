"""Installing kinds waits until the server serves them, for everybody who asks."""

from setpoint import ObjectMeta, Resource, Struct, kind
from setpoint.api.status import failure
from setpoint.client import Client, Connection
from setpoint.client.install import install
from setpoint.cluster import ControlPlane
from setpoint.world import World, simulate


class NoteSpec(Struct):
    text: str = ""


class NoteStatus(Struct):
    seen: str = ""


@kind(group="late.example.com", version="v1")
class Note(Resource[NoteSpec, NoteStatus]):
    """A kind that is established before discovery lists it, as on a real server."""


class Late:
    """Discovery that lags behind the first so many times."""

    def __init__(self, inner, times: int) -> None:
        self.inner = inner
        self.times = times

    async def send(self, operation):
        if operation.path == "/apis/late.example.com/v1" and self.times:
            self.times -= 1
            return failure(404, "NotFound", "the server could not find the requested resource").status.answer()
        return await self.inner.send(operation)

    async def close(self) -> None:
        await self.inner.close()


def test_a_kind_is_installed_once_discovery_lists_it():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            way = Late(plane.transport(), times=3)
            client = Client(Connection(way, world))
            assert await install(client, [Note]) == ["notes.late.example.com"]
            assert way.times == 0
            manifest = {"apiVersion": "late.example.com/v1", "kind": "Note", "metadata": {"name": "n", "namespace": "default"}, "spec": {}}
            return (await client.apply(manifest)).name, await client.get(Note, "default/n")

    name, found = simulate(main)
    assert name == "n"
    assert found.metadata.name == ObjectMeta(name="n").name
