"""Following a kind from outside a controller: what there is, then what becomes of it, for as long as somebody listens.

There is no event to be missed: what is given is a key and the object as it is now, None where it is gone. After a cut the server is asked
what it has, and only what differs from what was given before is given. A controller has the cache for this, which keeps what is read here
and thrown away.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from setpoint.api import ApiError, Operation, Status, Stream, StreamBroken
from setpoint.api.status import error_of
from setpoint.api.watch import decode_frame
from setpoint.client import verbs
from setpoint.client.errors import Expired, TooManyRequests, Unreachable
from setpoint.client.verbs import Labels
from setpoint.objects import DecodeError, Head, KindInfo, Object, Request, decode_head
from setpoint.world import World

K = TypeVar("K", bound=Object)

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
_log = logging.getLogger("setpoint.client")
_status = msgspec.json.Decoder(Status, strict=False).decode
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
    client: Asked, world: World, info: KindInfo, namespace: str, *, labels: Labels, fields: str, patient: bool = False
) -> AsyncGenerator[dict[Request, bytes | None], None]:
    """First all that there is, even if that is nothing; then each time what has changed. Close it to end it.

    Raises `ApiError` where the first list fails, and later where a failure will not pass by itself; where `patient`, only the latter.
    """
    known: dict[Request, str] = {}
    version, first, wait = "", True, FIRST_WAIT
    followed = False  # whether the version has led anywhere since it was listed
    while True:
        try:
            if not version:
                items, version = await client.list_raw(info, namespace, labels=labels, fields=fields)
                followed = False
                changed = _differing(items, known)
                if changed or first:
                    yield changed
                first = False
            operation = verbs.watch(info, namespace, labels=labels, fields=fields, resource_version=version, timeout_seconds=_for(world))
            stream = await client.stream(operation)
            try:
                while (lines := await _next(stream)) is not None:
                    changed, version, error = _taken(lines, known, version)
                    if changed:
                        yield changed
                    if error is not None:
                        raise error
                    followed, wait = True, FIRST_WAIT
            finally:
                await stream.close()
            raise StreamBroken("the server has ended the watch, as it does from time to time")
        except StreamBroken:
            await asyncio.sleep(world.chance.uniform(0, FIRST_WAIT))
        except ApiError as error:
            if isinstance(error, Expired):
                version = ""
                if followed:
                    continue
            elif not passes(error):
                raise
            if first and not patient:
                raise
            await asyncio.sleep(world.chance.uniform(wait / 2, wait))
            wait = min(2 * wait, LONGEST_WAIT)


def passes(error: ApiError) -> bool:
    """Whether a failure goes away by itself; all else is told to whoever listens."""
    return isinstance(error, Unreachable | TooManyRequests) or (error.code >= 500 and error.code != 501)


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
    there = {head.key: (head, item) for item in items if (head := _head(item)) is not None}
    now = {key: f"{head.uid} {head.resource_version}" for key, (head, _) in there.items()}
    changed: dict[Request, bytes | None] = {key: None for key in known if key not in now}
    changed.update({key: item for key, (_, item) in there.items() if known.get(key) != now[key]})
    known.clear()
    known.update(now)
    return changed


def _taken(
    lines: list[bytes], known: dict[Request, str], version: str
) -> tuple[dict[Request, bytes | None], str, ApiError | StreamBroken | None]:
    """What frames of a watch say has changed, the version that they reach, and the error that the watch ends with.

    Where a frame cannot be read, what it would have said is not known, so the version is forgotten.
    """
    changed: dict[Request, bytes | None] = {}
    for line in lines:
        try:
            frame = decode_frame(line)
            if frame.type == "ERROR":
                return changed, version, error_of(_status(frame.object))
        except msgspec.DecodeError as error:
            return changed, "", StreamBroken(f"this is no watch frame ({error}): {line[:80]!r}")
        data = bytes(frame.object)
        if (head := _head(data)) is None:
            continue
        version = head.resource_version
        if frame.type == "BOOKMARK":
            continue
        if frame.type == "DELETED":
            known.pop(head.key, None)
        else:
            known[head.key] = f"{head.uid} {head.resource_version}"
        changed[head.key] = None if frame.type == "DELETED" else data
    return changed, version, None


def _head(data: bytes) -> Head | None:
    """None for an object of which not even the key can be read: it is left out, and the others go on."""
    try:
        return decode_head(data)
    except DecodeError as error:
        _log.error("left out of a watch: %s", error)
        return None


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
        async with asyncio.timeout(timeout) as limit, aclosing(changes):
            async for changed in changes:
                if seen and key not in changed:
                    continue
                now, seen = changed.get(key), True
                if holds(now):
                    return now
    except TimeoutError:
        if not limit.expired():  # it is that of `holds`
            raise
        left = "there is none" if now is None else f"it is at version {decode_head(now).resource_version}"
        how = left if seen else "the server has not said"
        raise TimeoutError(f"{info.kind} {key} was not as it was waited for within {timeout:g} s: {how}") from None
    raise AssertionError("a watch never ends by itself")
