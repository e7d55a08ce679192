"""The client for plain code: the same verbs, blocking; nothing is left behind."""

import asyncio
import gc
import inspect
import os
import signal
import threading
import time
from contextlib import asynccontextmanager, closing

import pytest
from aiohttp import web

import setpoint
from setpoint.client import Client, Config, SyncClient, errors
from setpoint.client.pod_verbs import PodVerbs
from setpoint.client.sync import Blocking, Closed
from setpoint.cluster import ControlPlane
from setpoint.cluster.server.http.serving import serve
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import ObjectMeta
from setpoint.world import real_world
from setpoint.world.loop_thread import LoopThread

from .kubelet import SUCCESS, Kubelet
from .servers import Script


@pytest.fixture(scope="module")
def config():
    """An embedded server on a port, in a thread of its own."""

    @asynccontextmanager
    async def served():
        world = real_world()
        async with ControlPlane(world, controllers=False, workloads=False) as plane, serve(plane.server, world) as address:
            yield Config(server=address.url, ca_data=address.ca_pem, token=address.token, namespace="default")

    with LoopThread("server") as thread, thread.hold(served) as found:
        yield found


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def comes_to(count, number: int) -> bool:
    """Whether a count comes to a number: the server is in this process, too, and closes its ends in its own time."""
    waiting = threading.Event()
    for _ in range(2000):
        if count() == number:
            return True
        waiting.wait(0.005)
    return False


def named(name: str, **content) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), **content)


def test_both_clients_have_the_same_verbs_with_the_same_parameters():
    plain = {name for name, value in vars(SyncClient).items() if not name.startswith("_") and callable(value)}
    of_bytes = {"call", "prepare_create", "prepare_apply", "change_raw", "info_of", "kind_info", "find_kind"}
    other = {name for cls in (Client, PodVerbs) for name in vars(cls) if not name.startswith("_")} - of_bytes
    assert plain == other
    for name in sorted(plain - {"bound"}):
        mine = inspect.signature(getattr(SyncClient, name)).parameters
        theirs = inspect.signature(getattr(Client, name)).parameters
        assert list(mine) == list(theirs), name
        assert [p.kind for p in mine.values()] == [p.kind for p in theirs.values()], name
        assert [str(p.default) for p in mine.values() if name != "wait"] == [str(p.default) for p in theirs.values() if name != "wait"], (
            name
        )


def test_a_script_reads_and_writes(config):
    with setpoint.connect(config=config) as client:
        assert isinstance(client, SyncClient)
        made = client.create(named("script", data={"a": "1"}))
        made.data["b"] = "2"
        client.update(made)
        client.edit(ConfigMap, "script", lambda obj: obj.data.update(c="3"))
        assert [(obj.name, obj.data) for obj in client.list(ConfigMap, fields="metadata.name=script")] == [
            ("script", {"a": "1", "b": "2", "c": "3"})
        ]
        client.delete(ConfigMap, "script")
        client.wait_gone(ConfigMap, "script", timeout=10)
        assert client.get(ConfigMap, "script") is None
        with pytest.raises(errors.NotFound):
            client.edit(ConfigMap, "script", lambda obj: None)


def test_a_watch_is_an_iterator(config):
    with setpoint.connect(config=config) as client:
        client.apply(named("w1"))
        with closing(client.watch(ConfigMap, fields="metadata.name=w1")) as seen:
            first = next(seen)
            client.delete(ConfigMap, "w1")
            assert (first.key.name, first.obj is None) == ("w1", False)
            assert next(seen) == (first.key, None)


def test_nothing_is_left_when_the_block_ends_though_a_watch_was_not_closed(config):
    with setpoint.connect(config=config) as client:
        client.list(ConfigMap)
    threads, files = threading.active_count(), open_files()
    for _ in range(3):
        with setpoint.connect(config=config) as client:
            client.apply(named("left"))
            seen = client.watch(ConfigMap)
            next(seen)
        seen.close()
    gc.collect()
    assert comes_to(threading.active_count, threads)
    assert comes_to(open_files, files)
    with pytest.raises(RuntimeError, match="this client is closed"):
        client.get(ConfigMap, "left")


def test_it_works_where_an_event_loop_runs_as_in_a_notebook(config):
    async def cell():
        with setpoint.connect(config=config) as client:
            return client.get(ConfigMap, "no-such-thing")

    assert asyncio.run(cell()) is None


def test_over_the_cells_of_a_notebook_it_is_opened_and_closed(config):
    connection = setpoint.connect(config=config)
    client = connection.open()
    with pytest.raises(RuntimeError, match="open already"):
        connection.open()
    assert client.get(ConfigMap, "no-such-thing") is None
    connection.close()
    connection.close()
    again = connection.open()
    assert again.get(ConfigMap, "no-such-thing") is None
    connection.close()


def test_what_is_asked_before_it_is_opened_says_how_to_open_it():
    connection = setpoint.connect(config=Config(server="http://127.0.0.1:9"))
    with pytest.raises(AttributeError, match=r"no client yet: `with setpoint.connect\(\) as client`"):
        connection.get
    with pytest.raises(AttributeError, match=r"no attribute 'gt'$"):
        connection.gt


def test_in_asynchronous_code_the_same_gives_the_asynchronous_client(config):
    async def main():
        async with setpoint.connect(config=config, namespace="kube-system") as client:
            assert isinstance(client, Client)
            assert client.namespace == "kube-system"
            await client.list(ConfigMap)
            return len(asyncio.all_tasks())

    assert asyncio.run(main()) <= 2


def test_acting_as_somebody_else_and_a_configuration_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="as_groups needs as_user"):
        setpoint.connect(config=Config(server="http://127.0.0.1:9"), as_groups=["a"]).open()
    with pytest.raises(setpoint.client.ConfigError), setpoint.connect(str(tmp_path / "none")):
        pass
    before = threading.active_count()
    with setpoint.connect(config=Config(server="http://127.0.0.1:9"), as_user="jane", as_groups=["dev"]) as client:
        found = client._client.connection._transport.config
        assert (found.impersonate_user, found.impersonate_groups) == ("jane", ("dev",))
    assert threading.active_count() == before


def test_ctrl_c_ends_what_is_waited_for_and_the_block_is_left_cleanly(config):
    before = threading.active_count()
    ended = []

    def interrupted() -> None:
        with setpoint.connect(config=config) as client:
            streams = client._client.connection._transport._streams

            def interrupt() -> None:
                while not streams:
                    time.sleep(0.005)
                os.kill(os.getpid(), signal.SIGINT)

            waiter = threading.Thread(target=interrupt)
            waiter.start()
            try:
                client.wait(ConfigMap, "never", timeout=60)
            finally:
                waiter.join()
                deadline = time.monotonic() + 10
                while streams and time.monotonic() < deadline:
                    time.sleep(0.005)
                ended.append(dict(streams))

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ended == [{}]
    assert threading.active_count() == before


def test_a_program_in_a_container_is_run_by_plain_code():
    async def says(shell):
        data = await shell.input()
        await shell.say(1, (data or b"").upper())
        await shell.input()
        return SUCCESS

    kubelet = Kubelet(says)
    with LoopThread("kubelet") as thread, thread.hold(lambda: kubelet), setpoint.connect(config=Config(server=kubelet.url)) as client:
        with client.exec("web", ["cat"], stdin=True) as process:
            process.write("abc")
            assert process.stdout.read() == b"ABC"
            process.close_stdin()
            assert process.wait() == 0
            assert [*process.stderr] == []
        with client.port_forward("web", 80) as stream:
            stream.write(b"quit")
            assert [*stream] == [b"QUIT"]


def test_a_plain_client_is_of_any_transport():
    """What blocks is a door of its own: the verbs do not care."""

    def wait(make):
        async def there():
            return await make()

        return asyncio.run(there())

    from setpoint.client import Connection

    script = Script()
    client = SyncClient(Client(Connection(script, real_world()), namespace="default"), wait)
    with pytest.raises(AssertionError, match="not expected"):
        client.get(ConfigMap, "a")


def test_a_call_from_where_the_client_itself_works_is_refused_and_not_waited_for_for_ever(config):
    with setpoint.connect(config=config) as client:
        client.apply(named("inner"))
        with pytest.raises(Blocking, match="it could only wait for itself"):
            client.edit(ConfigMap, "inner", lambda obj: client.get(ConfigMap, "inner"))
        with pytest.raises(Blocking):
            client.wait(ConfigMap, "inner", lambda obj: client.list(ConfigMap), timeout=10)

        def made():
            for name in ("a1", "a2"):
                assert client.get(ConfigMap, name) is None
                yield named(name)

        assert [obj.name for obj in client.apply_all(made())] == ["a1", "a2"]
        for name in ("a1", "a2", "inner"):
            client.delete(ConfigMap, name)


@asynccontextmanager
async def nothing_ever():
    """A server without objects, of which nothing is ever heard in a watch."""

    async def answered(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})
        response = web.StreamResponse()
        await response.prepare(request)
        await asyncio.sleep(60)
        return response

    app = web.Application()
    app.router.add_get("/{path:.*}", answered)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield Config(server=f"http://127.0.0.1:{runner.addresses[0][1]}", namespace="default")
    await runner.cleanup()


def test_whoever_waits_in_another_thread_while_the_client_is_closed_is_told_so():
    with LoopThread("server") as thread, thread.hold(nothing_ever) as config:
        closes_amid_calls(config)


def closes_amid_calls(config: Config) -> None:
    """Close comes before, amid and after the calls of several threads: none waits for ever, none hears anything else."""
    heard: list[BaseException] = []

    def asks(client: SyncClient, waits: bool) -> None:
        try:
            while True:
                if waits:
                    client.wait(ConfigMap, "never", timeout=30)
                else:
                    client.list(ConfigMap)
        except BaseException as error:
            heard.append(error)

    for _ in range(5):
        connection = setpoint.connect(config=config)
        client = connection.open()
        threads = [threading.Thread(target=asks, args=(client, number % 2 == 0)) for number in range(6)]
        for thread in threads:
            thread.start()
        while not client._client.connection._transport._streams:
            time.sleep(0.002)
        connection.close()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()
    assert [error for error in heard if not isinstance(error, Closed | errors.Unreachable)] == []
    assert any(isinstance(error, Closed) for error in heard)


def test_a_client_that_was_closed_stays_closed_when_another_is_opened(config):
    connection = setpoint.connect(config=config)
    first = connection.open()
    connection.close()
    with connection as second:
        assert second.get(ConfigMap, "none") is None
        with pytest.raises(Closed):
            first.get(ConfigMap, "none")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_is_forked_off_is_told_that_the_client_is_not_its_own_and_leaves_it_alone(config):
    with setpoint.connect(config=config) as client:
        child = os.fork()
        if not child:
            code = 1
            try:
                with pytest.raises(Closed, match="forked"):
                    client.get(ConfigMap, "none")
                client._wait.func.__self__.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client.get(ConfigMap, "none") is None
