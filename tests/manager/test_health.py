"""What the probes say: liveness is about the process, readiness about how fresh its caches are, and both about what users add."""

import asyncio

import pytest

from setpoint import Context, Controller, ObjectMeta, Request
from setpoint.api import StreamBroken
from setpoint.api.status import failure
from setpoint.client import Client, Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.manager import Manager, Options
from setpoint.manager.health import SILENT, TROUBLED, outcome
from setpoint.world import World, simulate

IDLE = 90.0


class Peer:
    """A server of which one kind can be struck: `silent` says nothing and ends nothing, `refusing` answers 429, `fickle` ends watches."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.how = ""
        self.healed = asyncio.Event()
        self.asked = 0

    def strike(self, how: str) -> None:
        self.how = how
        self.healed = asyncio.Event()

    def heal(self) -> None:
        self.how = ""
        self.healed.set()

    async def send(self, operation):
        if not (operation.resource and operation.resource.resource == "configmaps" and operation.verb in ("watch", "list")):
            return await self.inner.send(operation)
        self.asked += 1
        if self.how == "silent":
            await self.healed.wait()
        elif self.how == "refusing":
            answer = failure(429, "TooManyRequests", "storage is (re)initializing").status.answer()
            answer.headers["retry-after"] = "1"
            return answer
        outcome = await self.inner.send(operation)
        return Stream(self, outcome) if hasattr(outcome, "read") else outcome

    async def close(self) -> None:
        await self.inner.close()


class Stream:
    def __init__(self, peer: Peer, inner) -> None:
        self.peer, self.inner = peer, inner

    async def read(self):
        if self.peer.how == "fickle":
            raise StreamBroken("reset by peer")
        lines = await self.inner.read()
        if self.peer.how == "silent":
            await asyncio.Event().wait()  # what the peer has not acknowledged is gone, and nobody says so
        return lines

    async def close(self) -> None:
        await self.inner.close()


def struck(main, seed=0):
    """Runs `main(manager, peer, client, seen)` with a manager that watches ConfigMaps through a peer, and is ready."""

    async def body(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            peer = Peer(plane.transport())
            manager = Manager(Connection(peer, world), options=Options())
            controller = Controller(ConfigMap, name="seeing")
            seen: list[str] = []

            @controller.reconciler
            async def reconcile(ctx: Context, request: Request) -> None:
                seen.append(request.name)

            controller.watch(Secret, map=lambda secret: [])
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            while not manager.is_idle:
                await asyncio.sleep(0.1)
            assert await ready(manager) is None
            result = await main(manager, peer, Client(Connection(plane.transport(), world)), seen)
            assert await live(manager) is None
            manager.stop()
            await running
            return result

    return simulate(body, seed=seed)


async def ready(manager: Manager) -> str | None:
    return await outcome(manager.health.ready["caches"])


async def live(manager: Manager) -> str | None:
    return await outcome(manager.health.live["ping"])


async def seconds_until(manager: Manager, is_ready: bool, limit: float = 1000) -> tuple[float, str | None]:
    """How long it takes until it is (not) ready, and what is said then. Liveness holds all the while."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    while loop.time() - began < limit:
        assert await live(manager) is None
        said = await ready(manager)
        if (said is None) == is_ready:
            return loop.time() - began, said
        await asyncio.sleep(0.5)
    raise AssertionError(f"after {limit} s: {said}")


@pytest.mark.parametrize("seed", range(5))
def test_a_server_that_says_nothing_and_ends_nothing_is_noticed_and_listed_anew_once_it_answers(seed):
    """The symptom of opensandbox-group/OpenSandbox#1533: the cache stayed "synced" for six hours."""

    async def main(manager, peer, client, seen):
        peer.strike("silent")
        await asyncio.sleep(1)
        await client.create(ConfigMap(metadata=ObjectMeta(name="missed", namespace="default")))
        took, said = await seconds_until(manager, False)
        assert took <= SILENT + 1
        assert said.startswith("nothing was heard of configmaps for ")
        assert "secrets" not in said
        await asyncio.sleep(600)
        assert "for 6" in await ready(manager) or "for 7" in await ready(manager)
        assert seen == []
        peer.heal()
        await seconds_until(manager, True, 45)
        await asyncio.sleep(1)
        return seen

    assert struck(main, seed) == ["missed"]


def test_a_stream_that_is_silent_is_given_up_within_the_idle_limit():
    async def main(manager, peer, client, seen):
        peer.strike("silent")
        asked = peer.asked
        await asyncio.sleep(IDLE + 10)
        return peer.asked - asked

    assert struck(main) >= 1


@pytest.mark.parametrize("how", ["refusing", "fickle"])
def test_a_watch_that_is_refused_or_ended_again_and_again_is_tried_for_ever_and_health_degrades(how):
    """The symptom of nolar/kopf#1108: the watch got 429 with retryAfterSeconds, its task died, and the operator ran on, blind."""

    async def main(manager, peer, client, seen):
        peer.strike(how)
        (informer,) = (informer for informer in manager.cache.informers if informer.info.plural == "configmaps")
        if how == "refusing":
            informer._reflector._machine.restart("cut")  # now, and not only when this watch ends
        took, said = await seconds_until(manager, False)
        assert took <= SILENT + TROUBLED
        assert "nothing was heard of configmaps for " in said
        asked = peer.asked
        await asyncio.sleep(3600)
        assert await ready(manager) is not None
        tries = peer.asked - asked
        assert tries > 100
        await client.create(ConfigMap(metadata=ObjectMeta(name="missed", namespace="default")))
        peer.heal()
        await seconds_until(manager, True, 45)
        await asyncio.sleep(1)
        return seen

    assert struck(main) == ["missed"]


def test_a_healthy_manager_is_ready_at_every_moment():
    """Watches end and begin anew, and nothing may happen for hours."""

    async def main(manager, peer, client, seen):
        for _ in range(3600):
            assert await ready(manager) is None
            await asyncio.sleep(4.1)
        return peer.asked

    assert struck(main) > 20


def test_a_short_outage_makes_nobody_unready():
    async def main(manager, peer, client, seen):
        for _ in range(5):
            peer.strike("refusing")
            for _ in range(20):
                assert await ready(manager) is None
                await asyncio.sleep(1)
            peer.heal()
            for _ in range(60):
                assert await ready(manager) is None
                await asyncio.sleep(1)

    struck(main)


def test_a_manager_that_waits_for_a_kind_says_which_and_why():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            peer = Peer(plane.transport())
            peer.strike("refusing")
            manager = Manager(Connection(peer, world), options=Options())
            controller = Controller(ConfigMap, name="seeing")
            controller.reconciler(_nothing)
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            async with asyncio.timeout(60):
                while "storage" not in str(said := await ready(manager)):
                    await asyncio.sleep(0.1)
            manager.stop()
            await running
            return said

    said = simulate(main)
    assert said.startswith("caches are not complete yet for seeing; ")
    assert "waits for v1, Kind=ConfigMap: " in said
    assert "storage is (re)initializing" in said


async def _nothing(ctx: Context, request: Request) -> None:
    pass


# checks of one's own


def checked(check, *, seconds: float = 100) -> str | None:
    async def main(world: World):
        async with asyncio.timeout(seconds):
            return await outcome(check)

    return simulate(main)


def test_a_check_gives_none_or_a_sentence_and_may_be_async():
    async def slow():
        await asyncio.sleep(5)
        return "the pool is empty"

    assert checked(lambda: None) is None
    assert checked(lambda: "the disk is full") == "the disk is full"
    assert checked(slow) == "the pool is empty"


def test_a_check_that_raises_takes_too_long_or_gives_something_else_has_failed():
    def fails():
        raise KeyError("pool")

    async def hangs():
        await asyncio.Event().wait()

    assert checked(fails) == "KeyError: 'pool'"
    assert checked(hangs) == "it has not answered for 10 s"
    assert "this one gave True" in checked(lambda: True)


def test_checks_have_names_of_their_own():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world))
            manager.add_ready_check("pool", lambda: None)
            manager.add_health_check("pool", lambda: None)
            assert [*manager.health.ready] == ["caches", "pool"]
            assert [*manager.health.live] == ["ping", "pool"]
            for name, why in (("pool", "there is a check"), ("ping", "there is a check"), ("A b", "is no name of a check")):
                with pytest.raises(ValueError, match=why):
                    manager.add_health_check(name, lambda: None)
            with pytest.raises(TypeError, match="is no function"):
                manager.add_ready_check("other", "ok")  # type: ignore[arg-type]

    simulate(main)


def test_a_check_whose_own_call_timed_out_says_so():
    def refused():
        raise TimeoutError("the pool gave no connection")

    assert checked(refused) == "TimeoutError: the pool gave no connection"
