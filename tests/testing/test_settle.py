"""The test cluster tells what goes wrong in it: what never settles, what fails where nobody looks, what ends a manager."""

import asyncio
from datetime import timedelta

import pytest

from setpoint import Context, Controller, ObjectMeta, Request
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
