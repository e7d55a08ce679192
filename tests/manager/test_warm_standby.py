"""A standby is warm: its caches and queues are full, it runs nothing, and the leadership finds it ready."""

import asyncio

from setpoint.controller import QueueAdded, RunStarted
from setpoint.world import PROCESS

from .test_leadership import config_map, replicas, until


def test_a_standby_fills_its_queue_and_runs_nothing_and_starts_without_a_new_list_when_it_leads() -> None:
    async def main(client, a, b) -> None:
        standby = b.manager.controllers[0]
        lists = []
        send = b.way.inner.send

        async def counted(operation):
            if operation.verb in ("list", "watch") and operation.resource.resource == "configmaps":
                lists.append(operation)
            return await send(operation)

        b.way.inner.send = counted
        heard = []
        b.manager.world.observer.subscribe(lambda event: heard.append(event) if PROCESS.get() == "b" else None)
        await client.create(config_map("two"))
        await until(lambda: "two" in a.ended)
        await asyncio.sleep(1)
        assert standby.has_synced
        assert not standby.has_started
        waiting = len(standby.queue)
        assert waiting >= 4, "both objects, and what was made of them"
        assert any(isinstance(event, QueueAdded) for event in heard)
        assert not any(isinstance(event, RunStarted) for event in heard)
        await a.stop()
        await until(lambda: b.manager.is_leader)
        await until(lambda: len(b.ended) == 2, 2)
        assert standby.has_started
        assert lists == []
        await b.stop()

    replicas(main)


def test_a_standby_that_is_stopped_has_run_nothing() -> None:
    async def main(client, a, b) -> None:
        assert len(b.manager.controllers[0].queue) > 0
        await b.stop()
        await a.stop()
        assert b.runs == []

    replicas(main)
