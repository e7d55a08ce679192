"""After a write whose outcome is unknown: wait until the cache has seen what came of it.

The next run would otherwise read a state from before the write, and write again: a second object under a generated name, say. So the server
is read live, after the failure, and the key waits until the cache's base has reached that version. (A request that is still on its way when
the server is read may land later; that is the residue of every client.)
"""

from __future__ import annotations

import asyncio

from setpoint.api import ApiError
from setpoint.cache import Change, Informer
from setpoint.client.errors import NotServed
from setpoint.objects import Request, decode_head

from .backoff import Backoff
from .said import log
from .tools import Tools, Written

PATIENCE = 60.0
"""Seconds after which the server is asked once more: what the cache waits for may have been overtaken by now."""


async def reach(tools: Tools, written: list[Written]) -> None:
    """Returns when the base of each kind in `written` has reached what the server says now. Asks again, for ever, while it says nothing."""
    for write in dict.fromkeys(written):
        for informer in tools.view.informers(write.info):
            await _reach(tools, write, informer)


async def _reach(tools: Tools, write: Written, informer: Informer) -> None:
    backoff = Backoff(tools.world.chance, cap=30.0)
    while True:
        try:
            async with asyncio.timeout(PATIENCE):
                return await (_reach_object(tools, write, informer) if write.key.name else _reach_newest(tools, write, informer))
        except TimeoutError:
            continue
        except NotServed:
            return None  # the whole kind is gone, and the write with it
        except ApiError as error:
            seconds = backoff.next(write.key)
            log.info(
                "what came of a write to %s %s is not known yet; asking again in %.3g s: %s",
                write.info.kind,
                write.key,
                seconds,
                error,
                extra={"controller": tools.controller},
            )
            await asyncio.sleep(seconds)


async def _reach_object(tools: Tools, write: Written, informer: Informer) -> None:
    """The object's own version, or its absence: its event brings the base there, the collection's version perhaps only a bookmark."""
    live = await tools.client.get_raw(write.info, write.key)
    known = informer.base(write.key)
    if live is None:
        if known is not None:
            await _gone(informer, write.key, decode_head(known).uid)
    elif known is not None or informer.selection.selects(write.key, live):
        await informer.reached(_number(decode_head(live).resource_version))


async def _reach_newest(tools: Tools, write: Written, informer: Informer) -> None:
    """The server was to make up the name: whatever it has now, the newest of them is what must be seen."""
    selection = informer.selection
    if selection.namespace not in ("", write.key.namespace):
        return  # it does not look there
    items, _ = await tools.client.list_raw(write.info, write.key.namespace, labels=selection.labels, fields=selection.field_selector)
    await informer.reached(max((_number(decode_head(item).resource_version) for item in items), default=0))


async def _gone(informer: Informer, key: Request, uid: str) -> None:
    gone = asyncio.get_running_loop().create_future()

    def hear(change: Change) -> None:
        if change.key == key and not gone.done() and (change.new is None or decode_head(change.new).uid != uid):
            gone.set_result(None)

    unsubscribe = informer.subscribe(hear)
    try:
        await gone
    finally:
        unsubscribe()


def _number(version: str) -> int:
    return int(version) if version.isdigit() else 0
