"""Following a kind, waiting for an object, editing one: whatever happens to the connection, what is given is what is there."""

import asyncio
from contextlib import aclosing

import pytest

from setpoint.api import Answer, Operation, Outcome, StreamBroken, Unknown
from setpoint.api.watch import encode_frame
from setpoint.client import Client, Connection, InProcessTransport, errors
from setpoint.client.watching import Seen
from setpoint.cluster.server import ApiServer
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import ObjectMeta, Request
from setpoint.world import World, simulate

from .servers import no


def named(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


class Cut:
    """A stream that the test may break."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.broken = asyncio.Event()

    async def read(self) -> list[bytes] | None:
        reading = asyncio.ensure_future(self.inner.read())
        breaking = asyncio.ensure_future(self.broken.wait())
        try:
            await asyncio.wait([reading, breaking], return_when=asyncio.FIRST_COMPLETED)
            if self.broken.is_set():
                raise StreamBroken("cut")
            return reading.result()
        finally:
            reading.cancel()
            breaking.cancel()

    async def close(self) -> None:
        await self.inner.close()


class Line:
    """The way to the server, with mischief."""

    def __init__(self, world: World) -> None:
        self.inner = InProcessTransport(ApiServer(world).handle)
        self.sent: list[Operation] = []
        self.instead: list[tuple[str, Outcome]] = []
        self.streams: list[Cut] = []

    async def send(self, operation: Operation, /) -> Outcome:
        self.sent.append(operation)
        if self.instead and self.instead[0][0] == operation.verb:
            return self.instead.pop(0)[1]
        outcome = await self.inner.send(operation)
        if operation.verb == "watch":
            outcome = Cut(outcome)
            self.streams.append(outcome)
        return outcome

    async def close(self) -> None:
        await self.inner.close()

    @property
    def verbs(self) -> list[str]:
        return [operation.verb for operation in self.sent]


def on(act):
    async def main(world: World):
        line = Line(world)
        client = Client(Connection(line, world, timeout=5.0), namespace="default")
        return await act(client, line)

    return simulate(main)


def short(seen: Seen[ConfigMap]) -> tuple[str, dict[str, str] | None]:
    return seen.key.name, None if seen.obj is None else seen.obj.data


def test_a_watch_gives_what_there_is_and_then_what_becomes_of_it():
    async def act(client: Client, line: Line):
        await client.create(named("a", k="1"))
        async with aclosing(client.watch(ConfigMap, namespace="default", fields="metadata.name=a")) as seen:
            assert short(await anext(seen)) == ("a", {"k": "1"})
            await client.patch(ConfigMap, "a", {"data": {"k": "2"}})
            assert short(await anext(seen)) == ("a", {"k": "2"})
            await client.delete(ConfigMap, "a")
            assert short(await anext(seen)) == ("a", None)
            assert line.verbs.count("list") == line.verbs.count("watch") == 1

    on(act)


@pytest.mark.parametrize("forgets", [False, True])
def test_after_a_cut_only_what_differs_is_given_also_where_the_server_has_forgotten_the_version(forgets):
    async def act(client: Client, line: Line):
        for name in ("same", "changes", "goes"):
            await client.create(named(name))
        seen = client.watch(ConfigMap, namespace="default", fields="metadata.name!=kube-root-ca.crt")
        first = [short(await anext(seen)) for _ in range(3)]
        assert [name for name, _ in first] == ["changes", "goes", "same"]
        following = asyncio.ensure_future(anext(seen))
        await asyncio.sleep(1)
        if forgets:
            line.instead = [("watch", no(410, "Expired", "too old resource version: 5 (9)"))]
        line.streams[-1].broken.set()
        await client.patch(ConfigMap, "changes", {"data": {"k": "2"}})
        await client.delete(ConfigMap, "goes")
        await client.create(named("new"))
        more = [short(await following), short(await anext(seen)), short(await anext(seen))]
        await seen.aclose()
        assert sorted(more) == [("changes", {"k": "2"}), ("goes", None), ("new", {})]
        assert line.verbs.count("list") == (2 if forgets else 1)

    on(act)


def test_failures_that_pass_are_waited_out_and_others_are_told():
    async def act(client: Client, line: Line):
        await client.create(named("a"))
        async with aclosing(client.watch(ConfigMap, namespace="default", fields="metadata.name=a")) as seen:
            await anext(seen)
            following = asyncio.ensure_future(anext(seen))
            await asyncio.sleep(1)
            line.instead = [("watch", Unknown("reset"))] * 8 + [("watch", no(503, "ServiceUnavailable", "starting"))]
            line.streams[-1].broken.set()
            await client.patch(ConfigMap, "a", {"data": {"k": "2"}})
            assert short(await following) == ("a", {"k": "2"})
            following = asyncio.ensure_future(anext(seen))
            await asyncio.sleep(1)
            line.instead = [("watch", no(403, "Forbidden", "not any more"))]
            line.streams[-1].broken.set()
            with pytest.raises(errors.Forbidden):
                await following

    on(act)


def test_a_first_list_that_fails_is_told_at_once():
    async def act(client: Client, line: Line):
        line.instead = [("list", Unknown("reset")), ("list", Unknown("reset"))]
        with pytest.raises(errors.Unreachable):
            await anext(client.watch(ConfigMap))

    on(act)


def test_a_silent_watch_is_given_up():
    async def act(client: Client, line: Line):
        await client.create(named("a"))

        class Silent:
            async def read(self):
                await asyncio.get_running_loop().create_future()

            async def close(self):
                self.closed = True

        silent = Silent()
        line.instead = [("watch", silent)]
        async with aclosing(client.watch(ConfigMap, namespace="default", fields="metadata.name=a")) as seen:
            await anext(seen)
            following = asyncio.ensure_future(anext(seen))
            await asyncio.sleep(10)
            await client.patch(ConfigMap, "a", {"data": {"k": "2"}})
            assert short(await following) == ("a", {"k": "2"})
            assert 90 <= asyncio.get_running_loop().time() < 95
            assert silent.closed

    on(act)


def test_wait_gives_the_object_as_soon_as_it_is_as_wanted():
    async def act(client: Client, line: Line):
        async def later():
            await asyncio.sleep(3)
            await client.create(named("a"))
            await asyncio.sleep(3)
            await client.patch(ConfigMap, "a", {"data": {"k": "2"}})
            await asyncio.sleep(3)
            await client.delete(ConfigMap, "a")

        work = asyncio.ensure_future(later())
        loop = asyncio.get_running_loop()
        assert (await client.wait(ConfigMap, "a")).data == {}
        made = loop.time()
        found = await client.wait(ConfigMap, "a", lambda obj: obj.data.get("k") == "2")
        changed = loop.time()
        await client.wait_gone(ConfigMap, "a")
        gone = loop.time()
        await client.wait_gone(ConfigMap, "a")
        assert found.data == {"k": "2"}
        assert [round(moment) for moment in (made, changed, gone, loop.time())] == [3, 6, 9, 9]
        assert line.verbs.count("list") == 4
        await work

    on(act)


def test_wait_that_is_in_vain_says_how_it_was_left():
    async def act(client: Client, line: Line):
        with pytest.raises(TimeoutError, match=r"ConfigMap default/a was not as it was waited for within 5 s: there is none"):
            await client.wait(ConfigMap, "a", timeout=5)
        made = await client.create(named("a"))
        with pytest.raises(TimeoutError, match=f"it is at version {made.metadata.resource_version}"):
            await client.wait(ConfigMap, "a", lambda obj: False, timeout=5)
        with pytest.raises(TimeoutError, match="it is at version"):
            await client.wait_gone(ConfigMap, "a", timeout=5)
        assert asyncio.get_running_loop().time() == pytest.approx(15, abs=0.1)

    on(act)


def test_an_edit_is_done_anew_while_others_write():
    async def act(client: Client, line: Line):
        await client.create(named("a", n="0"))
        calls: list[str] = []

        def change(obj: ConfigMap) -> None:
            calls.append(obj.data["n"])
            obj.data["n"] = str(int(obj.data["n"]) + 1)

        await asyncio.gather(*[client.edit(ConfigMap, "a", change) for _ in range(5)])
        found = await client.get(ConfigMap, "a")
        assert found is not None
        assert found.data == {"n": "5"}
        assert len(calls) >= 5
        with pytest.raises(errors.NotFound, match='configmaps "b" not found'):
            await client.edit(ConfigMap, "b", change)
        line.instead = [("patch", no(409, "Conflict", "the object has been modified"))] * 10
        with pytest.raises(errors.Conflict):
            await client.edit(ConfigMap, Request("default", "a"), change)
        assert line.instead == []

    on(act)


def test_wait_waits_out_a_server_that_is_not_there_yet_and_a_watch_one_that_a_proxy_speaks_for():
    async def act(client: Client, line: Line):
        await client.create(named("a"))
        line.instead = [("list", Unknown("reset"))] * 4 + [("list", no(503, "ServiceUnavailable", "starting"))]
        line.instead += [("list", no(502, "", "Bad Gateway")), ("list", Answer(status=200, body=b"<html>"))]
        assert (await client.wait(ConfigMap, "a")).name == "a"
        line.instead = [("list", no(403, "Forbidden", "no"))]
        with pytest.raises(errors.Forbidden):
            await client.wait(ConfigMap, "a")

    on(act)


def test_a_server_that_forgets_every_version_at_once_is_not_asked_without_end():
    async def act(client: Client, line: Line):
        line.instead = [("watch", no(410, "Expired", "too old resource version"))] * 1
        original = line.send

        async def send(operation):
            if operation.verb == "watch":
                line.instead = [("watch", no(410, "Expired", "too old resource version"))]
            return await original(operation)

        line.send = send
        with pytest.raises(TimeoutError):
            await client.wait(ConfigMap, "a", timeout=60)
        assert line.verbs.count("list") < 12

    on(act)


def test_a_frame_that_cannot_be_read_costs_neither_what_came_before_nor_what_comes_after(caplog):
    class Frames:
        def __init__(self, *lines: bytes) -> None:
            self.lines = list(lines)

        async def read(self):
            if self.lines:
                lines, self.lines = self.lines, []
                return lines
            return await asyncio.get_running_loop().create_future()

        async def close(self): ...

    async def act(client: Client, line: Line):
        for name in ("a", "b"):
            await client.create(named(name))
        raw = {name: await client.get_raw(client.info_of(ConfigMap), Request("default", name)) for name in ("a", "b")}
        headless = encode_frame("MODIFIED", b'{"kind":"ConfigMap"}')
        for broken in (b'{"type":', b'{"type":"ERROR","object":[]}', b"{}"):
            seen = client.watch(ConfigMap, namespace="default", fields="metadata.name!=kube-root-ca.crt")
            line.instead = [("watch", Frames(headless, encode_frame("DELETED", raw["a"]), broken))]
            async with aclosing(seen):
                given = [short(await anext(seen)) for _ in range(4)]
            assert given == [("a", {}), ("b", {}), ("a", None), ("a", {})]

    on(act)
    assert "left out of a watch" in caplog.text


def test_what_a_function_raises_is_not_taken_for_the_end_of_the_waiting_and_a_coroutine_not_for_true():
    async def act(client: Client, line: Line):
        await client.create(named("a"))

        def raises(obj: ConfigMap) -> bool:
            raise TimeoutError("mine")

        async def later(obj: ConfigMap) -> bool:
            return False

        with pytest.raises(TimeoutError, match=r"^mine$"):
            await client.wait(ConfigMap, "a", raises)
        with pytest.raises(TypeError, match="until is called as a plain function"):
            await client.wait(ConfigMap, "a", later)
        with pytest.raises(TypeError, match="change is called as a plain function"):
            await client.edit(ConfigMap, "a", later)

    on(act)


def test_a_log_that_is_not_followed_and_falls_silent_is_given_up():
    class Stalled:
        async def read(self):
            return await asyncio.get_running_loop().create_future()

        async def close(self):
            self.closed = True

    async def act(client: Client, line: Line):
        stalled = Stalled()
        line.instead = [("get", stalled)]
        with pytest.raises(StreamBroken, match="nothing was heard for 5 seconds"):
            await anext(client.logs("web"))
        assert stalled.closed
        line.instead = [("get", Stalled())]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600), aclosing(client.logs("web", follow=True)) as lines:
                await anext(lines)

    on(act)
