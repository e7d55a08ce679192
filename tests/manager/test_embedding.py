"""A manager within somebody else's asyncio program, and within a test: what ends it is seen at once, and nothing is lost."""

import asyncio
import gc
import logging
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.manager import Manager, Options, Phase
from setpoint.world import PortInUse, World, real_world, simulate


def embedded(main, **options):
    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            return await main(Manager(Connection(plane.transport(), world), options=Options(**options)))

    return simulate(body)


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


def recorder(runs: list[str], name: str = "recorder", kind=ConfigMap) -> Controller:
    controller = Controller(kind, name=name)

    @controller.reconciler
    async def record(ctx: Context, request: Request) -> None:
        await asyncio.sleep(1)
        runs.append(f"{name} {request.name}")

    return controller


async def until(condition) -> None:
    async with asyncio.timeout(600):
        while not condition():
            await asyncio.sleep(0.01)


async def raised(manager: Manager, block) -> BaseException:
    """What comes out of a block while the manager runs; the program can go on after it, and nothing is left that would cancel it."""
    error: BaseException | None = None
    try:
        async with manager.running():
            await asyncio.sleep(0.5)
            await block()
    except Exception as caught:
        error = caught
    assert error is not None
    assert asyncio.current_task().cancelling() == 0
    await asyncio.sleep(1)
    return error


def break_a_part() -> None:
    (cache,) = (task for task in asyncio.all_tasks() if task.get_name() == "the cache")
    cache.cancel()


def test_it_runs_while_the_block_does_and_its_runs_may_end():
    async def main(manager):
        runs: list[str] = []
        manager.add(recorder(runs))
        async with manager.running() as same:
            assert same is manager
            await manager.client.create(config_map("a"))
            await until(lambda: any(runtime.active for runtime in manager.controllers))
        assert manager.phase is Phase.ENDED
        return runs

    assert embedded(main) == ["recorder a"]


def test_what_ends_the_manager_cancels_the_block_and_is_raised_in_its_place():
    async def main(manager):
        reached: list[str] = []

        async def block() -> None:
            break_a_part()
            try:
                await asyncio.Event().wait()
            finally:
                reached.append("cleaned up")

        return await raised(manager, block), reached

    error, reached = embedded(main)
    assert isinstance(error, RuntimeError)
    assert "the cache has ended, though nothing told it to" in str(error)
    assert reached == ["cleaned up"]


def test_a_manager_that_cannot_even_start_says_so_in_place_of_the_block():
    async def main():
        world = real_world()
        async with ControlPlane(world, controllers=False) as plane:
            first = Manager(Connection(plane.transport(), world), options=Options(health=("127.0.0.1", 0)))
            async with first.running():
                while not first.addresses:
                    await asyncio.sleep(0)
                port = int(first.addresses[0].rpartition(":")[2])
                second = Manager(Connection(plane.transport(), world), options=Options(health=("127.0.0.1", port)))
                with pytest.raises(PortInUse):
                    async with second.running():
                        await asyncio.Event().wait()

    asyncio.run(main())


def test_what_the_block_raises_goes_on_after_the_manager_has_ended():
    async def main(manager):
        async def block() -> None:
            raise KeyError("mine")

        return await raised(manager, block), manager.phase

    error, phase = embedded(main)
    assert isinstance(error, KeyError)
    assert phase is Phase.ENDED


def test_a_block_that_ends_just_as_the_manager_fails_still_tells_of_it():
    async def main(manager):
        async def block() -> None:
            break_a_part()
            while manager.phase is not Phase.ENDED:
                await asyncio.sleep(0)

        return await raised(manager, block)

    assert "the cache has ended" in str(embedded(main))


def test_where_both_fail_both_are_told():
    async def main(manager):
        async def block() -> None:
            break_a_part()
            try:
                await asyncio.Event().wait()
            finally:
                raise KeyError("mine")

        return await raised(manager, block)

    error = embedded(main)
    assert "the cache has ended" in str(error)
    assert isinstance(error.__context__, KeyError) or isinstance(error.__cause__, KeyError)


def test_cancelling_the_block_ends_the_manager_and_the_cancellation_goes_on():
    async def main(manager):
        async def block() -> None:
            async with manager.running():
                await asyncio.Event().wait()

        task = asyncio.create_task(block())
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), manager.phase

    assert embedded(main) == (True, Phase.ENDED)


def test_a_second_cancellation_does_not_wait_for_the_grace():
    async def main(manager):
        controller = Controller(ConfigMap, name="stuck")

        @controller.reconciler
        async def stuck(ctx: Context, request: Request) -> None:
            await asyncio.Event().wait()

        manager.add(controller)

        async def block() -> None:
            async with manager.running():
                await manager.client.create(config_map("a"))
                await asyncio.Event().wait()

        task, loop = asyncio.create_task(block()), asyncio.get_running_loop()
        await asyncio.sleep(1)
        began = loop.time()
        task.cancel()
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), loop.time() - began

    cancelled, took = embedded(main, grace=30.0)
    assert cancelled
    assert took < 2


def test_a_manager_in_a_task_that_nobody_awaits_says_at_once_why_it_ended(caplog):
    async def main(manager):
        running = asyncio.create_task(manager.run())
        await asyncio.sleep(1)
        break_a_part()
        with caplog.at_level(logging.ERROR, logger="setpoint.manager"):
            await asyncio.sleep(1)
        said = caplog.text
        assert running.done()
        with pytest.raises(RuntimeError, match="the cache has ended"):
            await running
        return said

    assert "the cache has ended, though nothing told it to" in embedded(main)


def test_several_controllers_and_apps_share_one_manager():
    async def main(manager):
        runs: list[str] = []
        order: list[str] = []

        @asynccontextmanager
        async def app(manager: Manager):
            order.append("opened")
            manager.add(recorder(runs, "of-the-app", Secret))
            yield
            order.append("closed")

        manager.add(recorder(runs, "one"), recorder(runs, "two"))
        async with app(manager), manager.running():
            await manager.client.create(config_map("a"))
            await manager.client.create(Secret(metadata=ObjectMeta(name="s", namespace="default")))
            await until(lambda: len(runs) == 3)
        return sorted(runs), order

    assert embedded(main) == (["of-the-app s", "one a", "two a"], ["opened", "closed"])


def test_nothing_is_left_that_could_warn_later():
    async def main(manager):
        async def block() -> None:
            break_a_part()
            await asyncio.Event().wait()

        return await raised(manager, block)

    embedded(main)
    gc.collect()  # under -W error, an exception that nobody has seen would fail this test


FAILING = """
from setpoint import Controller, ObjectMeta
from setpoint.k8s.core.v1 import ConfigMap

controller = Controller(ConfigMap)

@controller.reconciler
async def reconcile(ctx, request):
    config_map = await ctx.get(ConfigMap, request)
    config_map.data["a"].no_such_attribute

def test_it(setpoint_cluster):
    setpoint_cluster.start(controller)
    one = setpoint_cluster.create(ConfigMap(metadata=ObjectMeta(name="one", namespace="default"), data={"a": "b"}))
    setpoint_cluster.settle()
    assert setpoint_cluster.refresh(one).data == {"a": "c"}
"""


def test_a_failing_test_shows_where_the_reconciler_failed(tmp_path: Path):
    (tmp_path / "test_failing.py").write_text(FAILING)
    words = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "test_failing.py"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stdout
    assert "AttributeError: 'str' object has no attribute 'no_such_attribute'" in ended.stdout
    assert 'config_map.data["a"].no_such_attribute' in ended.stdout
    assert "NotSettled: these runs have failed" in ended.stdout


def test_a_manager_that_somebody_cancels_leaves_no_block_that_goes_on_without_it():
    async def main(manager: Manager):
        async def block():
            (life,) = (task for task in asyncio.all_tasks() if task.get_name() == "manager")
            life.cancel()
            await asyncio.sleep(100)

        assert "was cancelled by somebody else" in str(await raised(manager, block))

    embedded(main)


def test_the_end_of_a_program_is_no_failure_of_its_manager():
    async def main(manager: Manager):
        async def program():
            async with manager.running():
                await asyncio.sleep(100)

        before = asyncio.all_tasks()
        running = asyncio.create_task(program())
        await asyncio.sleep(1)
        for task in asyncio.all_tasks() - before:
            task.cancel()
        await asyncio.wait([running])
        assert running.cancelled()

    embedded(main)


def test_a_second_attempt_to_run_a_manager_does_not_end_the_first():
    async def main(manager: Manager):
        async with manager.running():
            await asyncio.sleep(1)
            with pytest.raises(RuntimeError, match="a manager runs once"):
                async with manager.running():
                    await asyncio.sleep(1)
            await asyncio.sleep(1)
            assert manager.phase is Phase.RUNNING

    embedded(main)
