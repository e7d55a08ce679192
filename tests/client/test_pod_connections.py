"""Programs in containers and ports of pods, by websocket: against a small kubelet, and a server in the same process that has none."""

import asyncio
import gc
import json

import pytest
from aiohttp import web

from setpoint.api import StreamBroken
from setpoint.client import Client, Config, Connection, HttpTransport, InProcessTransport, RequestSent, errors, http, websocket
from setpoint.cluster.server import ApiServer
from setpoint.world import World, real_world, simulate

from .kubelet import SUCCESS, Kubelet, Shell, exited


def on(kubelet: Kubelet, act):
    """Runs `act(client)` against a kubelet; nothing may be left running or open."""

    async def main():
        async with kubelet:
            connection = Connection(HttpTransport(Config(server=kubelet.url), real_world()), real_world())
            try:
                async with asyncio.timeout(30):
                    return await act(Client(connection, namespace="default"))
            finally:
                await connection.close()
                assert connection._transport._sockets == {}

    result = asyncio.run(main())
    gc.collect()
    return result


async def says(shell: Shell):
    await shell.say(1, b"out")
    await shell.say(2, b"err")
    await shell.say(1, b"put\n")
    return SUCCESS


def test_a_programs_outputs_come_apart_and_its_end_is_told():
    kubelet = Kubelet(says)

    async def act(client: Client):
        async with client.exec("web", ["sh", "-c", "echo 'a b' && x=1"], container="app") as process:
            code = await process.wait()
            return code, await process.stdout.read_all(), await process.stderr.read(), await process.stderr.read()

    assert on(kubelet, act) == (0, b"output\n", b"err", b"")
    (request,) = kubelet.requests
    assert request.path == "/api/v1/namespaces/default/pods/web/exec"
    assert request.query.getall("command") == ["sh", "-c", "echo 'a b' && x=1"]
    assert {name: request.query.get(name) for name in ("container", "stdin", "stdout", "stderr", "tty")} == {
        "container": "app",
        "stdin": None,
        "stdout": "true",
        "stderr": "true",
        "tty": None,
    }


def test_the_exit_code_of_a_program_that_fails_is_no_error():
    async def fails(shell: Shell):
        await shell.say(2, b"no such thing")
        return exited(7)

    async def act(client: Client):
        async with client.exec("web", ["false"]) as process:
            return await process.communicate()

    assert on(Kubelet(fails), act) == (7, b"", b"no such thing")


def test_a_program_that_cannot_be_run_is_an_error_that_says_why():
    async def cannot(shell: Shell):
        return {"status": "Failure", "reason": "InternalError", "code": 500, "message": 'exec: "nope": executable file not found in $PATH'}

    async def act(client: Client):
        async with client.exec("web", ["nope"]) as process:
            with pytest.raises(errors.InternalError, match=r'create pods default/web \(exec\): exec: "nope": executable file not found'):
                await process.wait()

    on(Kubelet(cannot), act)


async def echo(shell: Shell):
    total = 0
    while (data := await shell.input()) is not None:
        total += len(data)
        await shell.say(1, data.upper())
    await shell.say(2, str(total).encode())
    return SUCCESS


def test_input_is_sent_and_ended_and_large_input_goes_in_pieces():
    async def act(client: Client):
        async with client.exec("web", ["cat"], stdin=True) as process:
            return await process.communicate("x" * 100_000)

    assert on(Kubelet(echo), act) == (0, b"X" * 100_000, b"100000")


def test_both_outputs_are_read_at_once_while_input_is_sent():
    async def act(client: Client):
        async with client.exec("web", ["cat"], stdin=True) as process:
            out = asyncio.create_task(process.stdout.read_all())
            err = asyncio.create_task(process.stderr.read_all())
            for word in ("a", "b"):
                await process.write(word)
            await process.close_stdin()
            return await out, await err, await process.wait()

    assert on(Kubelet(echo), act) == (b"AB", b"2", 0)


def test_an_older_server_is_spoken_to_in_its_own_protocol_and_cannot_end_the_input():
    async def act(client: Client):
        async with client.exec("web", ["cat"], stdin=True) as process:
            await process.write(b"a")
            answer = await process.stdout.read()
            with pytest.raises(RuntimeError, match="cannot be ended here: the server speaks v4"):
                await process.close_stdin()
            return answer

    kubelet = Kubelet(echo, protocols=("v4.channel.k8s.io",))
    assert on(kubelet, act) == b"A"
    assert kubelet.requests[0].headers["Sec-WebSocket-Protocol"] == "v5.channel.k8s.io,v4.channel.k8s.io"


def test_a_terminal_is_resized_and_has_one_output():
    shells = []

    async def program(shell: Shell):
        shells.append(shell)
        await shell.input()
        await shell.say(1, b"$ ")
        return SUCCESS

    async def act(client: Client):
        async with client.attach("web", stdin=True, tty=True) as process:
            await process.resize(80, 24)
            await process.write("\n")
            return await process.wait(), await process.stdout.read(), await process.stderr.read()

    assert on(Kubelet(program), act) == (0, b"$ ", b"")
    assert shells[0].sizes == [{"Width": 80, "Height": 24}]
    assert shells[0].query.get("tty") == "true"
    assert "stderr" not in shells[0].query


def test_a_status_is_the_last_word_also_where_the_server_takes_no_leave():
    async def act(client: Client):
        async with client.exec("web", ["true"]) as process:
            return await process.communicate()

    kubelet = Kubelet(says)
    kubelet.leaves = False
    assert on(kubelet, act) == (0, b"output\n", b"err")


@pytest.mark.parametrize("leaves", [True, False])
def test_a_program_of_which_nothing_more_is_heard_is_not_taken_for_done(leaves):
    async def vanishes(shell: Shell):
        await shell.say(1, b"half")

    async def act(client: Client):
        async with client.exec("web", ["sleep"]) as process:
            assert await process.stdout.read() == b"half"
            with pytest.raises(StreamBroken):
                await process.wait()

    kubelet = Kubelet(vanishes)
    kubelet.leaves = leaves
    on(kubelet, act)


def test_a_block_that_is_left_ends_the_connection_while_the_program_runs():
    left = []

    async def waits(shell: Shell):
        await shell.say(1, b"ready")
        left.append(await shell.input())
        return SUCCESS

    async def act(client: Client):
        async with client.exec("web", ["sleep"], stdin=True) as process:
            assert await process.stdout.read() == b"ready"
        with pytest.raises(ValueError, match="on purpose"):
            async with client.exec("web", ["sleep"], stdin=True):
                raise ValueError("on purpose")

    on(Kubelet(waits), act)
    assert left == [None, None]


def test_a_refusal_is_the_error_that_the_server_says():
    kubelet = Kubelet()
    status = {
        "kind": "Status",
        "status": "Failure",
        "reason": "BadRequest",
        "code": 400,
        "message": "pod web does not have a host assigned",
    }
    kubelet.refusal = web.Response(status=400, text=json.dumps(status), content_type="application/json")

    async def act(client: Client):
        with pytest.raises(errors.BadRequest, match="does not have a host assigned"):
            async with client.exec("web", ["true"]):
                pass

    on(kubelet, act)


def test_a_server_that_is_not_there_is_unreachable_and_nothing_was_run():
    async def main():
        connection = Connection(HttpTransport(Config(server="http://127.0.0.1:9"), real_world()), real_world())
        try:
            with pytest.raises(errors.Unreachable, match="refuses connections"):
                async with Client(connection, namespace="default").exec("web", ["true"]):
                    pass
        finally:
            await connection.close()

    asyncio.run(main())


def test_a_program_is_held_back_by_the_fence_and_by_a_trial():
    kubelet = Kubelet(says)

    async def act(client: Client):
        with pytest.raises(ValueError, match="cannot be tried only"):
            async with client.bound(dry_run=True).exec("web", ["true"]):
                pass
        client.connection.fence = lambda: "not leading"
        with pytest.raises(errors.NotLeading):
            async with client.exec("web", ["true"]):
                pass

    on(kubelet, act)
    assert kubelet.requests == []


def test_one_text_is_no_program():
    async def act(client: Client):
        with pytest.raises(TypeError, match="list of words"):
            async with client.exec("web", "echo hello"):
                pass

    on(Kubelet(), act)


def test_a_port_carries_what_is_written_both_ways():
    kubelet = Kubelet()

    async def act(client: Client):
        async with client.port_forward("web", 8080) as stream:
            await stream.write(b"hello")
            first = await stream.read()
            await stream.write(b"y" * 70_000)
            got = b""
            while len(got) < 70_000:
                got += await stream.read()
            await stream.write(b"quit")
            return first, len(got), [part async for part in stream], await stream.read()

    assert on(kubelet, act) == (b"HELLO", 70_000, [b"QUIT"], b"")
    (request,) = kubelet.requests
    assert request.query_string == "ports=8080"
    assert request.headers["Sec-WebSocket-Protocol"] == "v4.channel.k8s.io"


def test_a_port_at_which_nobody_listens_is_told():
    kubelet = Kubelet()
    kubelet.port_error = b"failed to connect to localhost:81 inside namespace: connection refused\n"

    async def act(client: Client):
        async with client.port_forward("web", 81) as stream:
            with pytest.raises(StreamBroken, match=r"the port cannot be reached: failed to connect .* connection refused$"):
                await stream.read()

    on(kubelet, act)


def test_a_server_in_the_same_process_says_what_is_missing():
    async def main(world: World):
        sent = []
        world.observer.subscribe(lambda event: sent.append(event) if isinstance(event, RequestSent) else None)
        client = Client(Connection(InProcessTransport(ApiServer(world).handle), world), namespace="default")
        with pytest.raises(errors.ApiError) as refused:
            async with client.exec("web", ["true"]):
                pass
        with pytest.raises(errors.ApiError) as no_port:
            async with client.port_forward("web", 80):
                pass
        return str(refused.value), str(no_port.value)

    refused, no_port = simulate(main)
    assert "create pods default/web (exec)" in refused
    assert "exec into pods, in which nothing runs, is not supported by the embedded server" in refused
    assert "port-forward to pods, in which nothing runs, is not supported by the embedded server" in no_port


def test_more_input_than_anybody_keeps_does_not_stop_at_output_that_nobody_reads():
    """Each side fills what lies between them: who only writes before it reads would wait for ever."""

    async def act(client: Client):
        async with client.exec("web", ["cat"], stdin=True) as process:
            return await process.communicate(b"x" * 30_000_000)

    code, out, err = on(Kubelet(echo), act)
    assert (code, len(out), err) == (0, 30_000_000, b"30000000")


def test_a_program_may_end_without_reading_its_input():
    async def head(shell: Shell):
        await shell.say(1, b"first")
        return SUCCESS

    async def act(client: Client):
        async with client.exec("web", ["head"], stdin=True) as process:
            return await process.communicate(b"x" * 30_000_000)

    kubelet = Kubelet(head)
    assert on(kubelet, act) == (0, b"first", b"")


@pytest.mark.parametrize("port", [False, True])
def test_a_block_ends_in_time_where_the_other_side_takes_nothing(port, monkeypatch):
    monkeypatch.setattr(websocket, "TIME_TO_CLOSE", 0.2)
    never = asyncio.Event

    async def deaf(shell: Shell):
        await asyncio.wait_for(never().wait(), 20)

    class Deaf(Kubelet):
        async def _forward(self, request: web.Request) -> web.StreamResponse:
            return await deaf(Shell(await self._accepted(request), request))

    async def act(client: Client):
        made = client.port_forward("web", 80) if port else client.exec("web", ["sleep"], stdin=True)
        async with asyncio.timeout(5), made as other:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(other.write(b"x" * 30_000_000), 0.3)

    on(Deaf(deaf), act)


@pytest.mark.parametrize("status", [b"{", b"[]", b'{"details":{"causes":null}}', b"\xff", b'{"code":"x"}'])
def test_a_status_that_cannot_be_read_is_a_broken_connection_and_not_an_end(status):
    async def program(shell: Shell):
        await shell.say(1, b"half")
        await shell.say(3, status)

    async def act(client: Client):
        async with client.exec("web", ["true"]) as process:
            for _ in range(2):
                with pytest.raises(StreamBroken):
                    await process.wait()
            assert await process.stdout.read() == b"half"
            for output in (process.stdout, process.stderr):
                with pytest.raises(StreamBroken):
                    await output.read()

    on(Kubelet(program), act)


def test_a_connection_whose_output_nobody_reads_for_a_while_is_not_taken_for_dead(monkeypatch):
    monkeypatch.setattr(http, "HEARTBEAT", 0.1)
    missed = asyncio.Queue()
    judged = websocket.Upgraded._pong_not_received
    monkeypatch.setattr(websocket.Upgraded, "_pong_not_received", lambda self: (missed.put_nowait(None), judged(self)))

    async def talks(shell: Shell):
        for _ in range(300):
            await shell.say(1, b"x" * 32_000)
        return SUCCESS

    async def act(client: Client):
        async with client.exec("web", ["yes"]) as process:
            for _ in range(2):
                await missed.get()
            return len(await process.stdout.read_all())

    assert on(Kubelet(talks), act) == 300 * 32_000
