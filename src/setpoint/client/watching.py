"""Following a kind from outside a controller: what there is, then what becomes of it, for as long as somebody listens.

There is no event to be missed: what is given is a key and the object as it is now, None where it is gone. After a cut the server is asked
what it has, and only what differs from what was given before is given. A controller has the cache for this, which keeps what is read here
and thrown away.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from setpoint.api import ApiError, Operation, Status, Stream, StreamBroken
from setpoint.api.status import error_of
from setpoint.api.watch import decode_frame
from setpoint.client import verbs
from setpoint.client.errors import Expired, InternalError, ServiceUnavailable, Timeout, TooManyRequests, Unreachable
from setpoint.client.verbs import Labels
from setpoint.objects import KindInfo, Object, Request, decode_head
from setpoint.world import World

K = TypeVar("K", bound=Object)

PASSING = (Unreachable, TooManyRequests, InternalError, ServiceUnavailable, Timeout)
"""What goes away by itself; all else is told to whoever listens."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
IDLE_LIMIT = 90.0
"""Seconds without a word after which a watch is given up: servers send a bookmark about every minute."""


class Seen(NamedTuple, Generic[K]):
    """An object as it is now: None where there is none any more."""

    key: Request
    obj: K | None


class Asked(Protocol):
    """What is needed of a client."""

    async def list_raw(
        self, info: KindInfo, namespace: str = "", *, labels: Labels = None, fields: str = "", limit: int = 500
    ) -> tuple[list[bytes], str]: ...

    async def stream(self, operation: Operation) -> Stream: ...


async def levels(
    client: Asked, world: World, info: KindInfo, namespace: str, *, labels: Labels, fields: str
) -> AsyncGenerator[dict[Request, bytes | None], None]:
    """First all that there is, even if that is nothing; then each time what has changed. Close it to end it.

    Raises `ApiError` where the first list fails, and later where a failure will not pass by itself.
    """
    known: dict[Request, str] = {}
    version, first, wait = "", True, FIRST_WAIT
    while True:
        try:
            if not version:
                items, version = await client.list_raw(info, namespace, labels=labels, fields=fields)
                changed = _differing(items, known)
                if changed or first:
                    yield changed
                first = False
            operation = verbs.watch(info, namespace, labels=labels, fields=fields, resource_version=version, timeout_seconds=_for(world))
            stream = await client.stream(operation)
            try:
                while (lines := await _next(stream)) is not None:
                    wait = FIRST_WAIT
                    changed, version, error = _taken(lines, known, version)
                    if changed:
                        yield changed
                    if error is not None:
                        raise error
            finally:
                await stream.close()
            raise StreamBroken("the server has ended the watch, as it does from time to time")
        except Expired:
            version = ""
        except StreamBroken:
            await asyncio.sleep(world.chance.uniform(0, FIRST_WAIT))
        except PASSING:
            if first:
                raise
            await asyncio.sleep(world.chance.uniform(wait / 2, wait))
            wait = min(2 * wait, LONGEST_WAIT)


def _for(world: World) -> int:
    """Seconds after which the server ends a watch, so that watches spread over the servers there are."""
    return round(world.chance.uniform(300.0, 600.0))


async def _next(stream: Stream) -> list[bytes] | None:
    try:
        async with asyncio.timeout(IDLE_LIMIT):
            return await stream.read()
    except TimeoutError:
        raise StreamBroken(f"nothing was heard for {IDLE_LIMIT:g} seconds") from None


def _differing(items: list[bytes], known: dict[Request, str]) -> dict[Request, bytes | None]:
    """What differs from what is known, which is brought up to it."""
    heads = [decode_head(item) for item in items]
    now = {head.key: f"{head.uid} {head.resource_version}" for head in heads}
    changed: dict[Request, bytes | None] = {key: None for key in known if key not in now}
    changed.update({head.key: item for head, item in zip(heads, items, strict=True) if known.get(head.key) != now[head.key]})
    known.clear()
    known.update(now)
    return changed


def _taken(lines: list[bytes], known: dict[Request, str], version: str) -> tuple[dict[Request, bytes | None], str, ApiError | None]:
    """What frames of a watch say has changed, the version that they reach, and the error that the server ends it with."""
    changed: dict[Request, bytes | None] = {}
    for line in lines:
        frame = decode_frame(line)
        data = bytes(frame.object)
        if frame.type == "ERROR":
            return changed, version, error_of(msgspec.json.decode(data, type=Status))
        head = decode_head(data)
        version = head.resource_version
        if frame.type == "BOOKMARK":
            continue
        if frame.type == "DELETED":
            known.pop(head.key, None)
        else:
            known[head.key] = f"{head.uid} {head.resource_version}"
        changed[head.key] = None if frame.type == "DELETED" else data
    return changed, version, None


async def wait_until(
    changes: AsyncGenerator[dict[Request, bytes | None], None],
    key: Request,
    holds: Callable[[bytes | None], bool],
    info: KindInfo,
    timeout: float,
) -> bytes | None:
    """The object, None where there is none, as soon as `holds` says so of it. Raises `TimeoutError`, which says how it was left."""
    now: bytes | None = None
    seen = False
    try:
        async with asyncio.timeout(timeout), aclosing(changes):
            async for changed in changes:
                if seen and key not in changed:
                    continue
                now, seen = changed.get(key), True
                if holds(now):
                    return now
    except TimeoutError:
        left = "there is none" if now is None else f"it is at version {decode_head(now).resource_version}"
        how = left if seen else "the server has not said"
        raise TimeoutError(f"{info.kind} {key} was not as it was waited for within {timeout:g} s: {how}") from None
    raise AssertionError("a watch never ends by itself")
