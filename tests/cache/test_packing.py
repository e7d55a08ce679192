"""Compressed, a cache gives what it gives uncompressed, takes less, and says how much."""

import asyncio
import json
import random
import sys

import pytest

from setpoint import Context, Controller, Request
from setpoint.cache import Cache, Change
from setpoint.cache.packing import SAMPLES, Packing
from setpoint.client import Connection
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects.scheme import Scheme
from setpoint.world import simulate

from .model import ModelServer, Told, Widget
from .plane import Plane, config_map, on_plane


def sample(number: int, chance: random.Random) -> bytes:
    values = {f"field{at}": f"{chance.getrandbits(24):06x}" for at in range(40)}
    return json.dumps(
        {"apiVersion": "v1", "kind": "X", "metadata": {"name": f"x-{number}", "labels": {"app": "x"}}, "spec": values}
    ).encode()


def test_what_is_packed_is_given_back_and_takes_less() -> None:
    packing, chance = Packing(), random.Random(1)
    objects = [sample(number, chance) for number in range(2 * SAMPLES)]
    packed = [packing.pack(data) for data in objects]
    assert [packing.unpack(data) for data in packed] == objects
    assert sum(map(len, packed[SAMPLES:])) < 0.5 * sum(map(len, objects[SAMPLES:]))


def test_a_change_is_unpacked_for_whoever_looks_at_it_and_for_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked: list[bytes] = []
    unpack = Packing.unpack
    monkeypatch.setattr(Packing, "unpack", lambda self, packed: unpacked.append(packed) or unpack(self, packed))

    async def main(world):
        server = ModelServer(page=10_000)
        for number in range(3):
            server.put(f"w-{number}")
        cache = Cache(Connection(server, world), Scheme())
        cache.configure(Widget, compress=True)
        informer, changes = cache.informer(Widget), list[Change]()
        informer.subscribe(changes.append)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(cache.run())
            await informer.synced()
            informer.subscribe(changes.append)
            assert len(changes) == 6
            assert not unpacked
            assert all(change.old is None and change.new == informer.get(change.key) for change in changes)
            assert unpacked
            running.cancel()

    simulate(main, seed=1)


def test_a_few_large_objects_do_without_a_dictionary() -> None:
    packing = Packing()
    large = [json.dumps({"n": number, "data": "y" * (3 << 20)}).encode() for number in range(4)]
    packed = [packing.pack(data) for data in large]
    assert [packing.unpack(data) for data in packed] == large
    assert len(packed[-1]) < 10_000


def test_without_zstd_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]  # None makes an import fail
    with pytest.raises(ImportError, match=r"setpoint\[zstd\]"):
        Packing()


def test_a_relist_of_what_is_known_is_no_change_also_of_what_was_not_packed_yet() -> None:
    async def main(world):
        server = ModelServer(page=10_000)
        for number in range(SAMPLES + 5):
            server.put(f"w-{number:04}")
        cache = Cache(Connection(server, world), Scheme())
        cache.configure(Widget, compress=True)
        informer, told, changes = cache.informer(Widget), Told(), list[Change]()
        informer.subscribe(told)
        running = asyncio.ensure_future(cache.run())
        await cache.synced()
        informer.subscribe(changes.append)
        changes.clear()
        server.forget()
        server.elsewhere()
        server.cut()
        server.forget()
        await asyncio.sleep(100)
        assert changes == []
        server.put("w-0001")
        await asyncio.sleep(1)
        assert [change.key.name for change in changes] == ["w-0001"]
        assert informer.list() == [server.state[key] for key in sorted(server.state)]
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    simulate(main)


def test_the_cache_says_what_it_holds_and_the_metrics_do() -> None:
    async def main(plane: Plane) -> None:
        controller = Controller(ConfigMap)

        @controller.reconciler
        async def nothing(ctx: Context, request: Request) -> None: ...

        plane.manager.add(controller)
        for name in "ab":
            await plane.other.create(config_map(name, data={"k": "v" * 1000}))
        await plane.start()
        informer = plane.manager.controllers[0].informers[0]

        def metric(name: str) -> float | None:
            return plane.manager.metrics.registry.get_sample_value(name, {"kind": "configmaps"})

        def check() -> None:
            assert metric("setpoint_cache_objects") == informer.objects == len(informer.list())
            assert metric("setpoint_cache_bytes") == informer.size == sum(map(len, informer.list()))

        check()
        assert informer.size > 2000
        await plane.other.delete(ConfigMap, Request("default", "a"))
        found = await plane.other.get(ConfigMap, Request("default", "b"))
        assert found is not None
        found.data = {}
        await plane.other.update(found)
        await asyncio.sleep(1)
        check()
        assert informer.size < 2000

    on_plane(main)


def test_what_is_learnt_from_is_little_since_learning_blocks_the_event_loop() -> None:
    packing = Packing()
    large = [b'{"text":"%s"}' % (b"%d," % number * 5_000) for number in range(40)]
    kept = [packing.pack(data) for data in large]
    assert sum(len(data) for data in kept if data.startswith(b"{")) < 600_000
    assert [packing.unpack(data) for data in kept] == large
