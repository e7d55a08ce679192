"""The test cluster tells what goes wrong in it: what never settles, what fails where nobody looks, what ends a manager."""

import asyncio
from datetime import timedelta

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, TerminalError
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.testing import Cluster
from setpoint.testing.cluster import NotSettled


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def writer(name: str) -> Controller[ConfigMap]:
    controller = Controller(ConfigMap, name=name)

    @controller.reconciler
    async def write(ctx: Context, request: Request) -> None:
        if request.name == "contested":
            await ctx.apply(config_map("contested", owner=name))

    return controller


def test_two_controllers_that_fight_are_noticed_in_no_time_and_named():
    with Cluster() as cluster:
        cluster.start(writer("one"), writer("two"))
        cluster.create(config_map("contested"))
        with pytest.raises(NotSettled, match="patch configmaps default/contested by one") as error:
            cluster.settle()
        assert "by two" in str(error.value)
        assert len(cluster.writes) < 2000


def test_many_writes_over_a_long_time_are_no_fight():
    with Cluster() as cluster:
        counted = cluster.create(config_map("counted"))
        for number in range(1100):  # more than a minute may hold
            counted.data["n"] = str(number)
            cluster.update(counted)
            cluster.advance(timedelta(seconds=1))
        cluster.settle()


def test_an_exception_in_a_task_that_nobody_awaits_is_raised_as_itself():
    controller = Controller(ConfigMap, name="careless")

    @controller.reconciler
    async def careless(ctx: Context, request: Request) -> None:
        async def fail() -> None:
            await asyncio.sleep(3)
            raise ZeroDivisionError("beside the run")

        asyncio.create_task(fail())  # noqa: RUF006  # the mistake that this is about

    def test() -> None:
        with Cluster() as cluster:
            cluster.start(controller)
            cluster.create(config_map("a"))
            cluster.settle()

    with pytest.raises(ZeroDivisionError, match="beside the run"):
        test()


def test_what_ends_a_manager_is_raised_once_and_the_others_are_ended():
    with Cluster() as cluster:
        cluster.start(writer("one"))
        cluster.start(writer("two"))
        cluster.settle()

        async def end_a_worker() -> None:
            for task in asyncio.all_tasks():
                if task.get_name() == "one-worker-0":
                    task.cancel()

        cluster._run(end_a_worker())
        with pytest.raises(RuntimeError, match="controller 'one' has ended"):
            cluster.settle()
        cluster.settle()


def failing_while(is_broken: list[bool]) -> Controller[ConfigMap]:
    controller = Controller(ConfigMap, name="fragile")

    @controller.reconciler
    async def fragile(ctx: Context, request: Request) -> None:
        if is_broken and request.name == "a":
            raise ValueError("no such colour")

    return controller


def test_a_reconciler_that_keeps_failing_is_no_end_state():
    broken = [True]
    with Cluster() as cluster:
        cluster.start(failing_while(broken))
        cluster.create(config_map("a"))
        with pytest.raises(NotSettled, match=r"fragile default/a: ValueError: no such colour.*failing=True"):
            cluster.settle()
        cluster.settle(failing=True)
        broken.clear()
        cluster.advance(timedelta(minutes=20))
        cluster.settle()


def test_a_failure_that_is_not_tried_again_and_one_of_a_stopped_controller_are_end_states():
    controller = Controller(ConfigMap, name="done-for")

    @controller.reconciler
    async def give_up(ctx: Context, request: Request) -> None:
        raise TerminalError("cannot be helped")

    with Cluster() as cluster:
        cluster.start(controller)
        cluster.create(config_map("a"))
        cluster.settle()
        cluster.stop()
        cluster.start(failing_while([True]))
        cluster.settle(failing=True)
        cluster.stop()
        cluster.settle()


async def reconcile(ctx: Context, request: Request) -> None:
    """No app."""


@pytest.mark.parametrize("mistake", [reconcile, ConfigMap, lambda manager: None, "app"])
def test_what_is_neither_a_controller_nor_an_app_is_refused(mistake):
    with Cluster() as cluster, pytest.raises(TypeError, match="start takes controllers, and apps"):
        cluster.start(mistake)
