"""Watching objects."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.server.talk import CONFIGMAPS, WIDGETS, Refused, Talk, config_map, talk, widget

from setpoint.api import Answer, Operation
from setpoint.cluster.server import watch as watching

END = "k8s.io/initial-events-end"


def test_without_a_version_the_present_comes_first() -> None:
    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("b"))
        await t.create(CONFIGMAPS, config_map("a"))
        for version in ({}, {"resourceVersion": "0"}):
            watch = await t.watch(CONFIGMAPS, **version)
            assert await watch.told() == [("ADDED", "a"), ("ADDED", "b")]
        await t.do("delete", CONFIGMAPS, "default/a")
        assert await watch.told() == [("DELETED", "a")]

    talk(main)


def test_from_a_version_everything_after_it_is_replayed() -> None:
    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("a"))
        start = t.revision
        await t.merge(CONFIGMAPS, "default/a", {"data": {"x": "1"}})
        await t.do("delete", CONFIGMAPS, "default/a")
        await t.create(CONFIGMAPS, config_map("a"))
        watch = await t.watch(CONFIGMAPS, resourceVersion=str(start))
        events = await watch.read()
        assert events is not None
        assert [event["type"] for event in events] == ["MODIFIED", "DELETED", "ADDED"]
        assert [event["object"]["metadata"]["resourceVersion"] for event in events] == [str(start + n) for n in (1, 2, 3)]
        assert events[1]["object"]["data"] == {"x": "1"}

    talk(main)


def test_from_a_version_that_is_yet_to_come_only_what_follows_it_is_told() -> None:
    async def main(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, resourceVersion=str(t.revision + 1))
        await t.create(CONFIGMAPS, config_map("a"))
        await t.create(CONFIGMAPS, config_map("b"))
        assert await watch.told() == [("ADDED", "b")]

    talk(main)


def test_a_version_that_is_forgotten_is_an_error_event() -> None:
    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("a"))
        t.server.compact()
        watch = await t.watch(CONFIGMAPS, resourceVersion="1")
        events = await watch.read()
        assert events is not None
        assert (events[0]["type"], events[0]["object"]["code"], events[0]["object"]["reason"]) == ("ERROR", 410, "Expired")
        assert events[0]["object"]["message"] == f"too old resource version: 1 ({t.revision})"
        assert await watch.read() is None

    talk(main)


def test_a_watch_list_ends_its_beginning_with_a_bookmark() -> None:
    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("a"))
        options = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        events = await (await t.watch(CONFIGMAPS, allowWatchBookmarks="true", **options)).read()
        assert events is not None
        assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]
        assert events[1]["object"]["metadata"] == {"resourceVersion": str(t.revision), "annotations": {END: "true"}}
        assert events[1]["object"]["kind"] == "ConfigMap"
        with pytest.raises(Refused, match="sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"):
            await t.watch(CONFIGMAPS, sendInitialEvents="true")
        ahead = await (await t.watch(CONFIGMAPS, resourceVersion="999", **options)).read()
        assert ahead is not None
        assert (ahead[0]["type"], ahead[0]["object"]["code"]) == ("ERROR", 504)

    talk(main)


def test_types_are_relative_to_the_selector() -> None:
    async def main(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, labelSelector="on=yes")
        await t.create(CONFIGMAPS, config_map("a", data={"v": "0"}))
        await t.merge(CONFIGMAPS, "default/a", {"metadata": {"labels": {"on": "yes"}}, "data": {"v": "1"}})
        await t.merge(CONFIGMAPS, "default/a", {"data": {"v": "2"}})
        await t.merge(CONFIGMAPS, "default/a", {"metadata": {"labels": {"on": "no"}}, "data": {"v": "3"}})
        left_at = t.revision
        await t.do("delete", CONFIGMAPS, "default/a")
        events = await watch.read()
        assert events is not None
        assert [(event["type"], event["object"]["data"]["v"]) for event in events] == [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "2")]
        assert events[2]["object"]["metadata"]["resourceVersion"] == str(left_at)

    talk(main)


def test_bookmarks_come_every_minute_and_before_the_end() -> None:
    async def main(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, allowWatchBookmarks="true", resourceVersion=str(t.revision), timeoutSeconds="100")
        loop = asyncio.get_running_loop()
        times: list[float] = []
        while (events := await watch.read()) is not None:
            assert [event["type"] for event in events] == ["BOOKMARK"]
            assert events[0]["object"]["metadata"]["resourceVersion"] == str(t.revision)
            times.append(loop.time())
        assert times == [60.0, 98.0]
        assert loop.time() == 100.0

    talk(main)


def test_a_watch_without_a_timeout_ends_within_the_hour() -> None:
    async def main(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, resourceVersion=str(t.revision))
        assert await watch.read() is None
        assert 1800 <= asyncio.get_running_loop().time() <= 3600

    talk(main)


def test_all_watchers_see_one_order() -> None:
    async def main(t: Talk) -> None:
        watches = [await t.watch(CONFIGMAPS) for _ in range(3)]
        await asyncio.gather(*(t.create(CONFIGMAPS, config_map(f"c{number}")) for number in range(20)))
        told = [await watch.told() for watch in watches]
        assert told[0] == told[1] == told[2]
        assert len(told[0]) == 20

    talk(main)


def test_a_watcher_that_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "QUEUE_LIMIT", 3)

    async def main(t: Talk) -> None:
        for number in range(5):
            await t.create(CONFIGMAPS, config_map(f"c{number}"))
        slow, quick = await t.watch(CONFIGMAPS), await t.watch(CONFIGMAPS)
        assert len(await quick.told()) == 5
        for number in range(4):
            await t.merge(CONFIGMAPS, "default/c0", {"data": {"n": str(number)}})
            assert await quick.told() == [("MODIFIED", "c0")]
        assert await slow.read() is None
        assert len(t.server.hub) == 1

    talk(main)


def test_a_watcher_for_whom_too_many_bytes_wait_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "BYTES_LIMIT", 10_000)

    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, {**config_map("large"), "data": {"text": "x" * 20_000}})
        slow, quick = await t.watch(CONFIGMAPS), await t.watch(CONFIGMAPS)
        assert len(await quick.told()) == 1  # of the start, which is free
        for number in range(4):
            await t.create(CONFIGMAPS, {**config_map(f"c{number}"), "data": {"text": "x" * 4_000}})
            assert await quick.told() == [("ADDED", f"c{number}")]
            assert len(t.server.hub) == (2 if number < 2 else 1)
        assert await slow.read() is None

    talk(main)


def test_however_much_a_watcher_has_missed_it_gets_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "QUEUE_LIMIT", 3)
    monkeypatch.setattr(watching, "BYTES_LIMIT", 1_000)

    async def main(t: Talk) -> None:
        since = t.revision
        for number in range(6):
            await t.create(CONFIGMAPS, {**config_map(f"c{number}"), "data": {"text": "x" * 400}})
        watch = await t.watch(CONFIGMAPS, resourceVersion=str(since))
        assert await watch.told() == [("ADDED", f"c{number}") for number in range(6)]
        await t.create(CONFIGMAPS, config_map("later"))
        assert await watch.told() == [("ADDED", "later")]

    talk(main)


def test_stopping_ends_every_watch_and_refuses_what_follows() -> None:
    async def main(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, resourceVersion=str(t.revision))
        reading = asyncio.ensure_future(watch.read())
        await asyncio.sleep(1)
        t.server.stop()
        assert await reading is None
        with pytest.raises(Refused, match="503"):
            await t.do("list", CONFIGMAPS)

    talk(main)


def test_closing_lets_go() -> None:
    async def main(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, allowWatchBookmarks="true")
        await watch.stream.close()
        await watch.stream.close()
        assert len(t.server.hub) == 0
        assert await watch.read() is None

    talk(main)


def test_tables_head_their_columns_once() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        watch = await t.watch(WIDGETS, accept="application/json;as=Table;v=v1;g=meta.k8s.io", allowWatchBookmarks="true")
        await t.create(WIDGETS, widget("w"))
        await t.merge(WIDGETS, "default/w", {"spec": {"image": "b"}})
        events: list[Any] = await watch.read() or []
        assert [event["type"] for event in events] == ["BOOKMARK", "ADDED", "MODIFIED"]
        assert [bool(event["object"]["columnDefinitions"]) for event in events] == [True, False, False]
        assert events[2]["object"]["rows"][0]["cells"] == ["w", "b"]

    talk(main)


def test_a_watch_cannot_be_continued() -> None:
    async def main(t: Talk) -> None:
        with pytest.raises(Refused, match=r"422 .*resourceVersionMatch is forbidden when continue is provided"):
            await t.watch(CONFIGMAPS, "default/", **{"continue": "x"})

    talk(main)


def test_who_asks_when_a_watch_has_ended_is_told_once_and_at_once_if_it_is_over() -> None:
    async def main(t: Talk) -> None:
        told: list[str] = []
        stream = await t.server.handle(Operation(verb="watch", resource=CONFIGMAPS, namespace="default"))
        assert not isinstance(stream, Answer)
        stream.when_ended(lambda: told.append("while it was open"))
        assert told == []
        await stream.close()
        await stream.close()
        assert told == ["while it was open"]
        stream.when_ended(lambda: told.append("afterwards"))
        assert told == ["while it was open", "afterwards"]

    talk(main)


def test_a_watch_of_lists_of_metadata_ends_where_the_first_event_would_be() -> None:
    async def main(t: Talk) -> None:
        accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
        await t.establish()
        for resource, thing in ((CONFIGMAPS, config_map("a")), (WIDGETS, widget("a"))):
            waiting = await t.watch(resource, accept=accept)
            task = asyncio.ensure_future(waiting.read())
            await asyncio.sleep(1)
            assert not task.done()
            await t.create(resource, thing)
            assert await task is None
            for options in ({}, {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}):
                assert await (await t.watch(resource, accept=accept, **options)).read() is None

    talk(main)
