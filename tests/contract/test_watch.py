"""Watches: the state first or the changes since a version, bookmarks, going on, and versions that are forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from setpoint.api import Operation, Stream
from setpoint.api.watch import INITIAL_EVENTS_END, decode_frame
from setpoint.client import verbs
from setpoint.k8s.core.v1 import ConfigMap, Container, Pod, PodSpec, Secret
from setpoint.objects import decode, decode_meta, kind_of

from .kinds import Gadget, GadgetSpec
from .site import PATIENCE, Site, contract

SECRETS = kind_of(Secret)


class Events:
    """The frames of a stream, one at a time."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []

    async def next(self) -> tuple[str, bytes]:
        if not self._waiting:
            async with asyncio.timeout(PATIENCE):
                self._waiting = await self._stream.read() or []
            assert self._waiting, "the stream has ended"
        frame = decode_frame(self._waiting.pop(0))
        return frame.type, frame.object

    async def named(self) -> str:
        """The next event as `TYPE name`, bookmarks passed over."""
        type, body = await self.next()
        while type == "BOOKMARK":
            type, body = await self.next()
        return f"{type} {decode_meta(body).name}"


@asynccontextmanager
async def watching(site: Site, operation: Operation) -> AsyncIterator[Events]:
    stream = await site.connection.watch(operation)
    try:
        yield Events(stream)
    finally:
        await stream.close()


async def version(site: Site) -> str:
    return (await site.client.list_raw(SECRETS, site.namespace))[1]


@contract
async def test_changes_come_in_their_order(site: Site) -> None:
    start = await version(site)
    async with watching(site, verbs.watch(SECRETS, site.namespace, resource_version=start)) as events:
        a = await site.client.create(Secret(metadata=site.meta("a")))
        await site.client.patch(Secret, "a", {"metadata": {"labels": {"x": "y"}}})
        await site.client.patch(Secret, "a", {"metadata": {"labels": {"x": "y"}}})
        await site.client.delete(a)
        await site.client.create(Secret(metadata=site.meta("b")))
        assert [await events.named() for _ in range(4)] == ["ADDED a", "MODIFIED a", "DELETED a", "ADDED b"]


@contract
async def test_a_watch_goes_on_from_the_version_of_its_last_event(site: Site) -> None:
    start = await version(site)
    await site.client.create(Secret(metadata=site.meta("a")))
    second = await site.client.create(Secret(metadata=site.meta("b")))
    await site.client.create(Secret(metadata=site.meta("c")))
    async with watching(site, verbs.watch(SECRETS, site.namespace, resource_version=start)) as events:
        assert [await events.named() for _ in range(3)] == ["ADDED a", "ADDED b", "ADDED c"]
    last = second.metadata.resource_version or ""
    async with watching(site, verbs.watch(SECRETS, site.namespace, resource_version=last)) as events:
        await site.client.delete(Secret, "a")
        assert [await events.named() for _ in range(2)] == ["ADDED c", "DELETED a"]


@contract
async def test_a_watch_list_gives_the_state_then_a_bookmark_then_changes(site: Site) -> None:
    for name in ("a", "b"):
        await site.client.create(Secret(metadata=site.meta(name)))
    operation = verbs.watch(SECRETS, site.namespace, initial_events=True)
    async with watching(site, operation) as events:
        assert sorted([await events.named() for _ in range(2)]) == ["ADDED a", "ADDED b"]
        type, body = await events.next()
        bookmark = msgspec.json.decode(body)
        assert type == "BOOKMARK"
        assert bookmark["metadata"]["annotations"] == {INITIAL_EVENTS_END: "true"}
        assert (bookmark["apiVersion"], bookmark["kind"]) == ("v1", "Secret")
        made = await site.client.create(Secret(metadata=site.meta("c")))
        assert int(made.metadata.resource_version or 0) > int(bookmark["metadata"]["resourceVersion"])
        assert await events.named() == "ADDED c"


@contract
async def test_what_enters_or_leaves_a_selection_is_added_or_deleted(site: Site) -> None:
    start = await version(site)
    await site.client.create(Secret(metadata=site.meta("other")))
    await site.client.create(Secret(metadata=site.meta("a")))
    for value in ("yes", "yes", "no"):
        await site.client.patch(Secret, "a", {"metadata": {"labels": {"seen": value}, "annotations": {"count": value}}})
    await site.client.patch(Secret, "a", {"metadata": {"labels": {"seen": "yes"}}})
    left = await site.client.patch(Secret, "a", {"metadata": {"labels": {"seen": None}}})
    async with watching(site, verbs.watch(SECRETS, site.namespace, labels="seen=yes", resource_version=start)) as events:
        assert [await events.named() for _ in range(3)] == ["ADDED a", "DELETED a", "ADDED a"]
        type, body = await events.next()
        gone = decode(Secret, body).metadata
        assert (type, gone.labels, gone.resource_version) == ("DELETED", {"seen": "yes"}, left.metadata.resource_version)


@contract
async def test_a_watch_of_one_object_hears_of_that_one(site: Site) -> None:
    start = await version(site)
    for name in ("a", "b"):
        await site.client.create(Secret(metadata=site.meta(name)))
    async with watching(site, verbs.watch(SECRETS, site.namespace, fields="metadata.name=b", resource_version=start)) as events:
        assert await events.named() == "ADDED b"


@contract
async def test_a_version_that_is_forgotten_is_expired(site: Site) -> None:
    """A real server remembers of a kind what happened since it was first asked for it, so a custom one has no first version."""
    await site.client.create(Gadget(metadata=site.meta("a"), spec=GadgetSpec(size=1)))
    if site.server is not None:
        site.server.compact()
    async with watching(site, verbs.watch(kind_of(Gadget), site.namespace, resource_version="1")) as events:
        type, body = await events.next()
        status = msgspec.json.decode(body)
        assert (type, status["kind"], status["code"], status["reason"]) == ("ERROR", "Status", 410, "Expired")
        assert status["message"].startswith("too old resource version: 1 (")


@contract
async def test_a_watch_ends_by_itself_in_the_time_that_it_was_given(site: Site) -> None:
    stream = await site.connection.watch(verbs.watch(SECRETS, site.namespace, resource_version=await version(site), timeout_seconds=1))
    try:
        async with asyncio.timeout(PATIENCE):
            while (frames := await stream.read()) is not None:
                assert all(decode_frame(frame).type == "BOOKMARK" for frame in frames)
    finally:
        await stream.close()


@contract
async def test_a_pod_is_seen_to_be_marked_before_it_is_gone(site: Site) -> None:
    pod = await site.client.create(Pod(metadata=site.meta("p"), spec=PodSpec(containers=[Container(name="c", image="i")])))
    start = pod.metadata.resource_version or ""
    async with watching(site, verbs.watch(kind_of(Pod), site.namespace, resource_version=start)) as events:
        await site.client.delete(pod)
        assert [await events.named() for _ in range(2)] == ["MODIFIED p", "DELETED p"]


@contract
async def test_another_kind_is_not_heard_of(site: Site) -> None:
    start = await version(site)
    await site.client.create(ConfigMap(metadata=site.meta("m")))
    await site.client.create(Secret(metadata=site.meta("s")))
    async with watching(site, verbs.watch(SECRETS, site.namespace, resource_version=start)) as events:
        assert await events.named() == "ADDED s"
