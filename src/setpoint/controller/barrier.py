"""After a write whose outcome is unknown: wait until the cache has seen what came of it.

The next run would otherwise read a state from before the write, and write again: a second object under a generated name, say. So the server
is read live, after the failure, and the key waits until the cache's base has reached that version. (A request that is still on its way when
the server is read may land later; that is the residue of every client.)
"""

from __future__ import annotations

import asyncio

from setpoint.api import ApiError
from setpoint.cache import Change, Informer
from setpoint.client.errors import Forbidden, NotServed
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
            if informer not in tools.view.informers(write.info):
                return None  # its namespace, or its kind, is not looked at any more, so that to read there may be forbidden
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
    try:
        live = await tools.client.get_raw(write.info, write.key)
    except Forbidden:
        await _reach_newest(tools, write, informer)  # a cache needs no more than the right to list
        return
    known = informer.base(write.key)
    if live is None:
        if known is not None:
            await _gone(informer, {write.key: decode_head(known).uid})
    elif known is not None or informer.selection.selects(write.key, live):
        await informer.reached(_number(decode_head(live).resource_version))


async def _reach_newest(tools: Tools, write: Written, informer: Informer) -> None:
    """It is not known which object it was, or it may not be read alone: the newest of all that are there now must be seen, and what is
    not there any more must be seen to be gone."""
    selection, namespace = informer.selection, write.key.namespace
    if selection.namespace not in ("", namespace):
        return  # it does not look there
    known = {key: decode_head(data).uid for key in informer.keys_as_they_came() if (data := informer.base(key)) is not None}
    items, _ = await tools.client.list_raw(write.info, namespace, labels=selection.labels, fields=selection.field_selector)
    heads = [decode_head(item) for item in items]
    live = {head.key: head.uid for head in heads}
    await informer.reached(max((_number(head.resource_version) for head in heads), default=0))
    await _gone(informer, {key: uid for key, uid in known.items() if namespace in ("", key.namespace) and live.get(key) != uid})


async def _gone(informer: Informer, uids: dict[Request, str]) -> None:
    """Returns when the base holds none of these objects any more."""
    left = {key: uid for key, uid in uids.items() if (data := informer.base(key)) is not None and decode_head(data).uid == uid}
    if not left:
        return
    gone = asyncio.get_running_loop().create_future()

    def hear(change: Change) -> None:
        if change.key in left and (change.new is None or decode_head(change.new).uid != left[change.key]):
            del left[change.key]
            if not left and not gone.done():
                gone.set_result(None)

    unsubscribe = informer.subscribe(hear)
    try:
        await gone
    finally:
        unsubscribe()


def _number(version: str) -> int:
    return int(version) if version.isdigit() else 0
