"""Nothing that depends on a change leaves the server before the change is durable; and one that cannot be made durable has never been."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.talk import CONFIGMAPS, CRDS, NAMESPACES, WIDGET_CRD, WIDGETS, Refused, Talk, config_map, names, widget

from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.crd.custom import CLEANUP
from setpoint.cluster.server.encoding import decode, encode
from setpoint.cluster.server.storage import NotDurable, Record, SqliteStorage
from setpoint.cluster.server.storage.database import open_database
from setpoint.world import World, simulate


class Disk:
    """A writer's thread that waits while the disk is slow, and fails while it is full."""

    def __init__(self) -> None:
        self.quick = asyncio.Event()
        self.quick.set()
        self.full = False
        self.refused = 0

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        await self.quick.wait()
        if self.full:
            self.refused += 1
            raise NotDurable("the data folder /data cannot be written: disk is full; make room there and try again")
        return function(*args)

    async def close(self) -> None:
        """Nothing to end."""


def on_disk(folder: Path, main: Callable[[Talk, Disk], Awaitable[None]]) -> None:
    async def run(world: World) -> None:
        disk = Disk()
        database, contents = open_database(folder)
        storage = SqliteStorage(database, disk, contents)  # type: ignore[arg-type]
        t = Talk(world)
        t.server = ApiServer(world, storage=storage)
        await storage.settled(storage.revision)
        await main(t, disk)
        disk.full = False
        disk.quick.set()
        await storage.close()

    simulate(run)


async def ready(*tasks: asyncio.Task[Any]) -> list[bool]:
    """Which of the tasks are done once nothing moves any more."""
    await asyncio.sleep(1)
    return [task.done() for task in tasks]


def test_answers_and_events_wait_for_the_disk(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        watch = await t.watch(CONFIGMAPS, "default/")
        disk.quick.clear()
        writing = asyncio.create_task(t.create(CONFIGMAPS, config_map("a")))
        told = asyncio.create_task(watch.told())
        assert await ready(writing, told) == [False, False]
        reads = [
            asyncio.create_task(t.do("get", CONFIGMAPS, "default/a")),
            asyncio.create_task(t.do("list", CONFIGMAPS, "default/")),
            asyncio.create_task(t.do("get", CONFIGMAPS, "default/not-there")),
            asyncio.create_task(t.watch(CONFIGMAPS, "default/")),
        ]
        assert await ready(*reads) == [False] * 4
        disk.quick.set()
        assert await ready(writing, told, *reads) == [True] * 6
        assert told.result() == [("ADDED", "a")]
        assert await reads[3].result().told() == [("ADDED", "a")]
        with pytest.raises(Refused, match="404"):
            reads[2].result()

    on_disk(tmp_path, main)


def test_a_read_of_what_is_durable_does_not_wait(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        await t.create(CONFIGMAPS, config_map("a"))
        disk.quick.clear()
        reading = asyncio.create_task(t.do("get", CONFIGMAPS, "default/a"))
        assert await ready(reading) == [True]

    on_disk(tmp_path, main)


def test_a_watch_that_began_with_what_was_not_yet_durable_hears_of_it_once(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        version = str(t.server.storage.revision)
        disk.quick.clear()
        writing = asyncio.create_task(t.create(CONFIGMAPS, config_map("a")))
        await ready(writing)
        opening = [
            asyncio.create_task(t.watch(CONFIGMAPS, "default/")),
            asyncio.create_task(t.watch(CONFIGMAPS, "default/", resourceVersion=version)),
        ]
        await ready(*opening)
        disk.quick.set()
        await ready(*opening)
        await t.create(CONFIGMAPS, config_map("b"))
        for task in opening:
            assert await task.result().told() == [("ADDED", "a"), ("ADDED", "b")]

    on_disk(tmp_path, main)


def test_a_bookmark_never_names_what_is_not_durable(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        watch = await t.watch(CONFIGMAPS, "default/", allowWatchBookmarks="true", resourceVersion=str(t.server.storage.revision))
        version = str(t.server.storage.revision)
        disk.quick.clear()
        writing = asyncio.create_task(t.create(CONFIGMAPS, config_map("a")))
        await asyncio.sleep(61)
        (bookmark,) = await watch.read() or ()
        assert bookmark["object"]["metadata"]["resourceVersion"] == version
        disk.quick.set()
        await writing

    on_disk(tmp_path, main)


def test_a_full_disk_is_one_clear_error_for_all_who_wait_and_nothing_has_been(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        await t.create(CONFIGMAPS, config_map("kept", data={"a": "1"}))
        before = t.server.storage.revision
        watch = await t.watch(CONFIGMAPS, "default/", resourceVersion=str(before))
        disk.quick.clear()
        disk.full = True
        asked = [
            asyncio.create_task(t.create(CONFIGMAPS, config_map("a"))),
            asyncio.create_task(t.merge(CONFIGMAPS, "default/kept", {"data": {"a": "2"}})),
            asyncio.create_task(t.do("delete", CONFIGMAPS, "default/kept")),
            asyncio.create_task(t.do("list", CONFIGMAPS, "default/")),
            asyncio.create_task(t.watch(CONFIGMAPS, "default/")),
        ]
        assert await ready(*asked) == [False] * 5
        disk.quick.set()
        assert await ready(*asked) == [True] * 5
        for task in asked:
            with pytest.raises(Refused) as refused:
                task.result()
            assert (refused.value.code, refused.value.status["reason"]) == (500, "InternalError")
            assert refused.value.status["message"].endswith("/data cannot be written: disk is full; make room there and try again")
        assert len(t.server.hub) == 1
        assert t.server.storage.revision == before
        listed = await t.do("list", CONFIGMAPS, "default/")
        assert [(item["metadata"]["name"], item["data"]) for item in listed["items"]] == [("kept", {"a": "1"})]

        disk.full = False
        made = await t.create(CONFIGMAPS, config_map("b"))
        assert made["metadata"]["resourceVersion"] == str(before + 1)
        assert await watch.told() == [("ADDED", "b")]

    on_disk(tmp_path, main)


def test_a_definition_that_could_not_be_stored_serves_nothing(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        disk.full = True
        with pytest.raises(Refused, match="500"):
            await t.create(CRDS, WIDGET_CRD)
        assert t.server.kinds.find(WIDGETS) is None
        disk.full = False
        await t.create(CRDS, WIDGET_CRD)
        await t.create(WIDGETS, widget("w"))

    on_disk(tmp_path, main)


def test_a_kind_whose_deletion_could_not_be_stored_is_served_on_and_goes_later(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        await t.create(CRDS, WIDGET_CRD)
        await t.create(WIDGETS, widget("w"))
        watch = await t.watch(WIDGETS, "default/")
        assert await watch.told() == [("ADDED", "w")]
        disk.full = True
        with pytest.raises(Refused, match="500"):
            await t.do("delete", CRDS, "widgets.example.com")
        assert [item["metadata"]["name"] for item in (await t.do("list", WIDGETS, "default/"))["items"]] == ["w"]
        disk.full = False
        await t.do("delete", CRDS, "widgets.example.com")
        await asyncio.sleep(1)
        assert await watch.told() == [("DELETED", "w")]
        assert await watch.read() is None
        with pytest.raises(Refused, match="404"):
            await t.do("get", CRDS, "widgets.example.com")

    on_disk(tmp_path, main)


def test_what_the_server_does_of_its_own_accord_is_tried_again_and_not_without_end(tmp_path: Path) -> None:
    definition, kept = "apiextensions.k8s.io/customresourcedefinitions", "widgets.example.com"

    async def main(t: Talk, disk: Disk) -> None:
        await t.create(CRDS, WIDGET_CRD)
        await t.create(WIDGETS, widget("w"))
        storage = t.server.storage
        t.server.stop()
        # As if a crash had come right after the definition was marked.
        found = storage.get(definition, kept)
        assert found is not None
        crd = decode(found.value)
        revision = storage.revision + 1
        crd["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [CLEANUP], "resourceVersion": str(revision)}
        storage._listeners = ()  # type: ignore[attr-defined]  # the first server does not see it
        storage.put(Record(definition, kept, encode(crd), revision), expected=found.revision)
        await storage.settled(storage.revision)

        disk.full, disk.refused = True, 0
        t.server = ApiServer(t.world, storage=storage)
        await asyncio.sleep(11)
        assert 1 <= disk.refused <= 4
        assert [item["metadata"]["name"] for item in (await t.do("list", WIDGETS, "default/"))["items"]] == ["w"]
        disk.full = False
        await asyncio.sleep(11)
        assert storage.get(definition, kept) is None
        assert storage.list("example.com/widgets").records == []

    on_disk(tmp_path, main)


def test_a_client_that_does_not_wait_for_its_watch_leaves_none_behind(tmp_path: Path) -> None:
    async def main(t: Talk, disk: Disk) -> None:
        disk.quick.clear()
        writing = asyncio.create_task(t.create(CONFIGMAPS, config_map("a")))
        await ready(writing)
        opening = asyncio.create_task(t.watch(CONFIGMAPS, "default/"))
        await ready(opening)
        opening.cancel()
        await ready(opening)
        assert len(t.server.hub) == 0
        disk.quick.set()
        await writing

    on_disk(tmp_path, main)


def test_what_is_there_from_the_start_is_made_again_when_the_disk_was_full_then(tmp_path: Path) -> None:
    async def run(world: World) -> None:
        disk = Disk()
        disk.full = True
        database, contents = open_database(tmp_path)
        storage = SqliteStorage(database, disk, contents)  # type: ignore[arg-type]
        t = Talk(world)
        t.server = ApiServer(world, storage=storage)
        with pytest.raises(Refused, match=r"500 .*disk is full"):
            await t.do("list", NAMESPACES)
        assert names(await t.do("list", NAMESPACES)) == []
        await asyncio.sleep(60)
        assert disk.refused > 2
        disk.full = False
        await asyncio.sleep(10)
        await t.create(CONFIGMAPS, config_map("a"))
        assert names(await t.do("list", NAMESPACES)) == ["default", "kube-node-lease", "kube-public", "kube-system"]
        t.server.stop()
        await storage.close()

    simulate(run)
