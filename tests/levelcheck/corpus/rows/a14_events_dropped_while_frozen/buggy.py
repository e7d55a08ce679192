"""Drops what it hears while another operator's record is alive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.levelcheck.corpus import raw

from setpoint import Context, Controller, Manager, Request
from setpoint.k8s.core.v1 import ConfigMap

from .kinds import Memo, config_for
from .outside import Board


@asynccontextmanager
async def app(manager: Manager, board: Board) -> AsyncIterator[None]:
    controller = Controller(Memo, owns=[ConfigMap], predicate=raw.UNHEARD, resync=None)
    me, loop = board.join(), asyncio.get_running_loop()

    def is_frozen() -> bool:
        return board.is_another_alive(me, loop.time())

    async def keep_alive() -> None:
        while True:
            board.renew(me, loop.time() + 10)
            await asyncio.sleep(4)

    async def follow() -> None:
        async for event in raw.events(manager.client, Memo):
            if not is_frozen():
                manager.trigger(controller, event.key)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        memo = await ctx.get(Memo, request, live=True)
        if memo is not None and not memo.is_terminating:
            await ctx.apply(config_for(memo), owner=memo)

    manager.add(controller)
    try:
        async with raw.beside(keep_alive()), raw.beside(follow()):
            yield
    finally:
        board.leave(me)
