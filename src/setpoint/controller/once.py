"""`reconcile_once`: one run and nothing around it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from setpoint.cache import Cache
from setpoint.client import Client
from setpoint.objects import Request
from setpoint.world import World

from .cluster_events import EventRecorder
from .controller import Controller
from .memo import ApplyMemo
from .result import Result
from .runner import Runner
from .said import Said
from .thread_pool import ThreadPool
from .tools import RunState, Tools
from .view import View


async def reconcile_once(
    controller: Controller[Any], request: Request, *, world: World, client: Client, cache: Cache | None = None
) -> Result | None:
    """One run of a reconciler without queue, triggers or retries, for tests: gives its result, raises what it raises.

    Reads go to the server, or to `cache` if there is one.
    """

    def spawn(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(work, name=f"{controller.name}-beside")

    view, said = View(cache), Said(controller.name)
    tools = Tools(
        controller=controller.name,
        world=world,
        client=client.bound(field_manager=controller.name, base=view.get if cache is not None else None, stripped=view.stripped),
        view=view,
        memo=ApplyMemo(),
        said=said,
        events=EventRecorder(controller.name, client=client, world=world, said=said, spawn=spawn),
    )
    state = RunState(f"{controller.name} {request}")
    try:
        return await Runner(controller, tools, ThreadPool(world)).run(request, state)
    finally:
        await state.landed()
        await tools.events.flush()
        tools.memo.close()
