"""A disk in a cloud for each Disk. In which zone is chosen once, from how full they are, and recorded before anything is made there.

So a run that comes after a crash does not choose again, and the clean-up knows where to look.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus.guards.outside import Storage

from setpoint import Context, Controller, Manager, Request, Resource, Struct, kind

FINALIZER = "guards.example.com/disk"


class DiskSpec(Struct):
    size: int


class DiskStatus(Struct):
    zone: str = ""
    size: int = 0


@kind(group="guards.example.com", version="v1")
class Disk(Resource[DiskSpec, DiskStatus]):
    """A disk in the cloud."""


def disks(storage: Storage) -> Controller[Disk]:
    controller = Controller(Disk)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        disk = await ctx.get(Disk, request)
        if disk is None:
            return
        if disk.is_terminating:
            if disk.status.zone:
                await ctx.effect(storage.remove, disk.status.zone, str(disk.key))
            await ctx.remove_finalizer(disk, FINALIZER)
            return
        await ctx.add_finalizer(disk, FINALIZER)
        if not disk.status.zone:
            disk.status.zone = await ctx.effect(storage.roomiest)
            await ctx.update_status(disk)
        await ctx.effect(storage.ensure, disk.status.zone, str(disk.key), disk.spec.size)
        disk.status.size = disk.spec.size
        await ctx.update_status(disk)

    return controller


@asynccontextmanager
async def app(manager: Manager, storage: Storage) -> AsyncIterator[None]:
    manager.add(disks(storage))
    yield
