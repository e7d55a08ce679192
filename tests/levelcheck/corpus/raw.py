"""Watching as a plain client library does it: events by type, resumed after a cut, listed anew where the server has forgotten.

This is what controllers are built on that are not built on a cache. Libraries and frameworks differ in what they make of a gap, so there
is a switch for each of the mistakes that rows of the corpus describe; without one, nothing is kept back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from setpoint import ApiError, Client, Controller, Expired, Manager, Object, Predicate, Request, predicates
from setpoint.api import Status, StreamBroken
from setpoint.api.status import error_of
from setpoint.api.watch import decode_frame
from setpoint.client import verbs
from setpoint.objects import kind_of

UNHEARD: Predicate[Any] = predicates.matching(lambda obj: False)
"""For a controller that is triggered by `feed` alone: its own watch asks for no run, not even at the start."""

Type: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]
Gap: TypeAlias = Literal["told", "tombstones", "deletions-lost", "lost"]
"""What is told of what a new list shows to have happened unseen: everything; of deletions the key alone; no deletions; nothing."""
PAUSE = 1.0


class Event(NamedTuple):
    """What a client library gives. `object` is JSON; None in a tombstone, which knows no more of what was deleted than its key."""

    type: Type
    key: Request
    object: dict[str, Any] | None


async def events(
    client: Client,
    kind: type[Object],
    *,
    labels: str = "",
    initial: Literal["told", "lost"] = "told",
    gap: Gap = "told",
    resume: Literal["seen", "listed"] = "seen",
    synced: asyncio.Event | None = None,
) -> AsyncGenerator[Event, None]:
    """The events of a kind, for as long as somebody listens; what is there at first is ADDED, unless `initial` is "lost".

    `synced` is set when what is there at first has been told. A cut watch goes on from the version `seen` last, or from that of the last
    item `listed`, which tells old events again.
    """
    info = kind_of(kind)
    known: dict[Request, dict[str, Any]] = {}
    version, first = "", True
    while True:
        try:
            if not version:
                raw, version = await client.list_raw(info, labels=labels)
                items = [msgspec.json.decode(item) for item in raw]
                changes = _differences(known, items)
                if resume == "listed" and items:
                    version = items[-1]["metadata"]["resourceVersion"]
                for event in changes if first and initial == "told" else [] if first else _told(changes, gap):
                    yield event
                first = False
                if synced is not None:
                    synced.set()
            stream = await client.stream(verbs.watch(info, labels=labels, resource_version=version))
            try:
                while (lines := await stream.read()) is not None:
                    for line in lines:
                        frame = decode_frame(line)
                        if frame.type == "ERROR":
                            raise error_of(msgspec.json.decode(frame.object, type=Status, strict=False))
                        item = msgspec.json.decode(frame.object)
                        if resume == "seen":
                            version = item["metadata"]["resourceVersion"]
                        if frame.type == "BOOKMARK":
                            continue
                        key = _key(item)
                        if frame.type == "DELETED":
                            known.pop(key, None)
                            yield Event("DELETED", key, item)
                        else:
                            known[key] = item
                            yield Event("ADDED" if frame.type == "ADDED" else "MODIFIED", key, item)
            finally:
                await stream.close()
        except Expired:
            version = ""
            continue
        except (ApiError, StreamBroken):
            pass  # it passes by itself, and the watch goes on from where it was
        await asyncio.sleep(PAUSE)


async def feed(
    manager: Manager,
    controller: Controller[Any],
    kind: type[Object],
    *,
    initial: Literal["told", "lost"] = "told",
    gap: Gap = "told",
) -> None:
    """Has a controller run for each event of its kind, instead of for what the cache hears (see `UNHEARD`)."""
    async with aclosing(events(manager.client, kind, initial=initial, gap=gap)) as heard:
        async for event in heard:
            manager.trigger(controller, event.key, event.type)


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Does `work` as long as the block lasts. If it fails, so does the block, as a process ends whose main loop has raised."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work, name="raw watch")
        try:
            yield
        finally:
            task.cancel()


def _differences(known: dict[Request, dict[str, Any]], items: list[dict[str, Any]]) -> list[Event]:
    """What has changed since, as a new list shows it; `known` is brought up to that."""
    now = {_key(item): item for item in items}
    found = [Event("DELETED", key, item) for key, item in known.items() if key not in now]
    for key, item in now.items():
        if key not in known:
            found.append(Event("ADDED", key, item))
        elif item["metadata"]["resourceVersion"] != known[key]["metadata"]["resourceVersion"]:
            found.append(Event("MODIFIED", key, item))
    known.clear()
    known.update(now)
    return found


def _told(changes: list[Event], gap: Gap) -> list[Event]:
    match gap:
        case "told":
            return changes
        case "tombstones":
            return [event._replace(object=None) if event.type == "DELETED" else event for event in changes]
        case "deletions-lost":
            return [event for event in changes if event.type != "DELETED"]
        case "lost":
            return []


def _key(item: dict[str, Any]) -> Request:
    metadata = item["metadata"]
    return Request(metadata.get("namespace", ""), metadata["name"])
