"""A server in the same process answers as one over the network would."""

import asyncio

import pytest

from setpoint.api import ADMIN, Answer, GroupVersionResource, NotSent, Operation
from setpoint.api.status import not_found
from setpoint.client import Connection, InProcessTransport, errors
from setpoint.world import PROCESS, World, simulate

PODS = GroupVersionResource("", "v1", "pods")
READ = Operation(verb="get", resource=PODS, namespace="default", name="x")


def test_the_server_sees_the_operation_and_who_asks():
    seen = []

    async def handle(operation, identity):
        seen.append((operation.name, identity))
        return Answer(status=200)

    async def main(world: World):
        await Connection(InProcessTransport(handle), world).call(READ)

    simulate(main)
    assert seen == [("x", ADMIN)]


def test_an_error_in_the_server_is_an_answer(caplog):
    async def refuse(operation, identity):
        raise not_found(PODS, "x")

    async def fail(operation, identity):
        raise ZeroDivisionError("oops")

    async def main(world: World):
        with pytest.raises(errors.NotFound):
            await Connection(InProcessTransport(refuse), world).call(READ)
        with pytest.raises(errors.InternalError, match="ZeroDivisionError: oops"):
            await Connection(InProcessTransport(fail), world).call(READ)

    simulate(main)
    assert "embedded server failed" in caplog.text


def test_latency_is_simulated_time():
    async def handle(operation, identity):
        return Answer(status=200)

    async def main(world: World):
        await Connection(InProcessTransport(handle, latency=lambda operation: 0.25), world).call(READ)
        return asyncio.get_running_loop().time()

    assert simulate(main) == 0.25


def test_what_was_asked_for_happens_though_the_client_stops_waiting():
    done = []

    async def handle(operation, identity):
        assert PROCESS.get() == "server"
        await asyncio.sleep(5)
        done.append(operation.name)
        return Answer(status=200)

    async def main(world: World):
        PROCESS.set("client")
        task = asyncio.create_task(Connection(InProcessTransport(handle, process="server"), world).call(READ))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(10)

    simulate(main)
    assert done == ["x"]


def test_a_closed_transport_sends_nothing():
    async def handle(operation, identity):
        raise AssertionError

    async def main(world: World):
        transport = InProcessTransport(handle)
        await transport.close()
        return await transport.send(READ)

    assert isinstance(simulate(main), NotSent)
