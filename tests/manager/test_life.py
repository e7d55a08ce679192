"""A manager's life: caches, then controllers, a graceful end; names, late controllers, what it says about those that wait or hang."""

import asyncio
import logging
from datetime import timedelta

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Resource, Struct, SyncContext, kind
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager, Options, Phase
from setpoint.testing import Cluster
from setpoint.world import World, real_world, simulate


class NoteSpec(Struct):
    text: str


class NoteStatus(Struct):
    seen: str = ""


@kind(group="test.example.com", version="v1")
class Note(Resource[NoteSpec, NoteStatus]):
    """A text."""


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def recorder(runs: list[str], name: str = "recorder") -> Controller[ConfigMap]:
    controller = Controller(ConfigMap, name=name)

    @controller.reconciler
    async def record(ctx: Context, request: Request) -> None:
        runs.append(f"{name} {request.name}")

    return controller


def managed(main, **options):
    """Runs `main(manager, plane)` beside a manager on an embedded API server in simulated time."""

    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(**options))
            return await main(manager, plane)

    return simulate(body)


async def until(condition) -> None:
    async with asyncio.timeout(3600):
        while not condition():
            await asyncio.sleep(0.1)


def test_controllers_start_after_their_caches_and_see_every_object():
    async def main(manager, plane):
        runs = []
        for name in "ab":
            await manager.client.create(config_map(name))
        manager.add(recorder(runs))
        running = asyncio.create_task(manager.run())
        await until(lambda: manager.is_idle and runs)
        assert all(informer.has_synced for runtime in manager.controllers for informer in runtime.informers)
        manager.stop()
        await running
        return runs, manager.phase

    assert managed(main) == (["recorder a", "recorder b"], Phase.ENDED)


def test_two_controllers_of_one_name_are_refused_with_the_remedy():
    async def main(manager, plane):
        manager.add(recorder([]))
        with pytest.raises(ValueError, match=r"two controllers are named 'recorder'.*name=") as refusal:
            manager.add(recorder([]))
        return str(refusal.value)

    assert "Controller(ConfigMap, name=...)" in managed(main)


def test_what_belongs_to_an_event_loop_says_so_where_there_is_none():
    made: list[Manager] = []

    async def make(manager: Manager, plane: ControlPlane) -> None:
        made.append(manager)

    managed(make, namespaces=("a",))
    with pytest.raises(RuntimeError, match=r"Manager\.add is for the event loop"):
        made[0].add(recorder([]))
    with pytest.raises(RuntimeError, match=r"Manager\.set_namespaces is for the event loop"):
        made[0].set_namespaces(["b"])


def test_a_controller_without_reconciler_is_refused_when_it_is_added():
    async def main(manager, plane):
        with pytest.raises(TypeError, match="has no reconciler"):
            manager.add(Controller(ConfigMap))
        with pytest.raises(TypeError, match="takes controllers"):
            manager.add(ConfigMap)

    managed(main)


def test_a_controller_that_is_added_while_it_runs_starts_at_once():
    async def main(manager, plane):
        runs = []
        await manager.client.create(config_map("a"))
        running = asyncio.create_task(manager.run())
        await asyncio.sleep(1)
        manager.add(recorder(runs))
        await until(lambda: runs)
        manager.stop()
        await running
        with pytest.raises(RuntimeError, match="too late"):
            manager.add(recorder(runs, "later"))
        return runs

    assert managed(main) == ["recorder a"]


def test_a_manager_runs_once():
    async def main(manager, plane):
        manager.stop()
        await manager.run()
        with pytest.raises(RuntimeError, match="runs once"):
            await manager.run()

    managed(main)


def test_runs_may_end_within_the_grace_and_nothing_new_is_taken_up():
    async def main(manager, plane):
        order = []
        slow = Controller(ConfigMap, name="slow")

        @slow.reconciler
        async def work(ctx: Context, request: Request) -> None:
            order.append(f"begin {request.name}")
            await asyncio.sleep(10)
            order.append(f"end {request.name}")

        await manager.client.create(config_map("a"))
        await manager.client.create(config_map("b"))
        manager.add(slow)
        running = asyncio.create_task(manager.run())
        await until(lambda: order)
        manager.stop()
        await running
        return order

    assert managed(main, grace=30) == ["begin a", "end a"]


def test_what_does_not_end_within_the_grace_is_cancelled_and_named(caplog):
    async def main(manager, plane):
        order = []
        stuck = Controller(ConfigMap, name="stuck")

        @stuck.reconciler
        async def work(ctx: Context, request: Request) -> None:
            try:
                await asyncio.sleep(1e6)
            finally:
                order.append("cancelled")

        await manager.client.create(config_map("a"))
        manager.add(stuck)
        running = asyncio.create_task(manager.run())
        await until(lambda: manager.controllers[0].active)
        began = asyncio.get_running_loop().time()
        manager.stop()
        await running
        return order, asyncio.get_running_loop().time() - began

    with caplog.at_level(logging.WARNING, "setpoint"):
        order, took = managed(main, grace=5)
    assert order == ["cancelled"]
    assert 5 <= took < 6
    assert "stuck" in caplog.text


def test_a_kind_that_is_not_served_is_waited_for_and_named(caplog):
    notes: list[str] = []
    controller = Controller(Note)

    @controller.reconciler
    async def see(ctx: Context, request: Request) -> None:
        notes.append(request.name)

    async def main(manager, plane):
        from setpoint.client.install import install

        manager.add(controller)
        running = asyncio.create_task(manager.run())
        await asyncio.sleep(25)
        assert not manager.has_started
        problems = manager.problems
        await install(manager.client, [Note])
        await manager.client.create(Note(metadata=ObjectMeta(name="n", namespace="default"), spec=NoteSpec(text="x")))
        await until(lambda: notes)
        manager.stop()
        await running
        return problems

    with caplog.at_level(logging.WARNING, "setpoint"):
        problems = managed(main)
    assert len(problems) == 1
    assert "test.example.com/v1, Kind=Note" in problems[0]
    assert "Kind=Note" in caplog.text
    assert notes == ["n"]


def test_a_run_that_does_not_end_is_named_once(caplog):
    hanging = Controller(ConfigMap, name="hanging")

    @hanging.reconciler
    async def hang(ctx: Context, request: Request) -> None:
        await asyncio.sleep(1e9)

    async def main(manager, plane):
        await manager.client.create(config_map("a"))
        manager.add(hanging)
        running = asyncio.create_task(manager.run())
        await asyncio.sleep(300)
        manager.stop()
        await running

    with caplog.at_level(logging.WARNING, "setpoint"):
        managed(main, patience=60, grace=1)
    told = [record.getMessage() for record in caplog.records if "has not ended" in record.getMessage()]
    assert len(told) == 1
    assert "hanging default/a" in told[0]
    assert "deadline" in told[0]


def test_a_reconciler_that_blocks_the_loop_is_named_with_its_place(caplog):
    blocking = Controller(ConfigMap, name="blocking")
    told = asyncio.Event()

    async def main() -> None:
        world = real_world()
        import threading

        noticed = threading.Event()

        class Noticing(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if "blocked" in record.getMessage():
                    noticed.set()

        @blocking.reconciler
        async def block(ctx: Context, request: Request) -> None:
            assert noticed.wait(30)
            told.set()

        handler = Noticing()
        logging.getLogger("setpoint.manager").addHandler(handler)
        try:
            async with ControlPlane(world, controllers=False) as plane:
                manager = Manager(Connection(plane.transport(), world), options=Options(blocked=0.05))
                await manager.client.create(config_map("a"))
                manager.add(blocking)
                running = asyncio.create_task(manager.run())
                await told.wait()
                manager.stop()
                await running
        finally:
            logging.getLogger("setpoint.manager").removeHandler(handler)

    with caplog.at_level(logging.WARNING, "setpoint"):
        asyncio.run(main())
    message = next(record.getMessage() for record in caplog.records if "blocked" in record.getMessage())
    assert "in block" in message
    assert "plain def" in message


@pytest.mark.parametrize("part", ["recorder-worker-0", "the cache", "reflector-configmaps"])
def test_a_part_that_ends_by_itself_ends_the_manager_with_an_error_that_names_it(part):
    async def main(manager, plane):
        runs = []
        manager.add(recorder(runs))
        running = asyncio.create_task(manager.run())
        await manager.client.create(config_map("a"))
        await until(lambda: runs)
        for task in asyncio.all_tasks():
            if task.get_name() == part:
                task.cancel()
        await running

    with pytest.raises(RuntimeError, match=r"(controller 'recorder'|the cache) has ended, though nothing told it to"):
        managed(main)


def test_one_controller_runs_in_two_managers_at_once():
    runs: list[str] = []
    shared = recorder(runs)

    async def main(world: World):
        async with ControlPlane(world, controllers=False) as one, ControlPlane(world, controllers=False) as other:
            managers = [Manager(Connection(plane.transport(), world)) for plane in (one, other)]
            for number, manager in enumerate(managers):
                await manager.client.create(config_map(f"in-{number}"))
                manager.add(shared)
            running = [asyncio.create_task(manager.run()) for manager in managers]
            await until(lambda: len(runs) == 2)
            for manager in managers:
                manager.stop()
            await asyncio.gather(*running)

    simulate(main)
    assert sorted(runs) == ["recorder in-0", "recorder in-1"]


def test_plain_def_reconcilers_work_in_the_same_way():
    copier = Controller(Note)

    @copier.reconciler
    def copy(ctx: SyncContext, request: Request) -> None:
        note = ctx.get(Note, request)
        if note is not None:
            note.status.seen = note.spec.text
            ctx.update_status(note)

    with Cluster() as cluster:
        cluster.start(copier)
        note = cluster.create(Note(metadata=ObjectMeta(name="n", namespace="default"), spec=NoteSpec(text="x")))
        cluster.settle(timedelta(seconds=1))
        assert cluster.refresh(note).status.seen == "x"
