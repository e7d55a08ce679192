"""Metrics carry controller-runtime's names, labels and buckets, are there at zero, and count what happened."""

import asyncio
import gzip
import urllib.request
from urllib.request import Request as Request_

import pytest

from setpoint import Context, Controller, ObjectMeta, Request, Result, TerminalError
from setpoint.api import Answer, Operation
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager, Options
from setpoint.manager.metrics import Metrics
from setpoint.manager.metrics import metrics as metrics_module
from setpoint.manager.metrics.exposition import exposition
from setpoint.world import PortInUse, World, real_world, simulate

from .scrapes import full, samples


def scrape(manager: Manager) -> dict[str, float]:
    return samples(exposition(manager.metrics.registry).decode())


def test_series_are_there_at_zero_under_their_names():
    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world))
            controller = Controller(ConfigMap, concurrency=3)
            controller.reconciler(_nothing)
            manager.add(controller)
            return scrape(manager)

    series = simulate(main)
    for result in ("success", "error", "requeue", "requeue_after"):
        assert series[f'controller_runtime_reconcile_total{{controller="configmap",result="{result}"}}'] == 0
    for name in ("reconcile_errors_total", "terminal_reconcile_errors_total", "reconcile_panics_total", "reconcile_timeouts_total"):
        assert series[f'controller_runtime_{name}{{controller="configmap"}}'] == 0
    assert series['controller_runtime_max_concurrent_reconciles{controller="configmap"}'] == 3
    assert series['controller_runtime_active_workers{controller="configmap"}'] == 0
    assert series['workqueue_depth{controller="configmap",name="configmap",priority="0"}'] == 0
    for name in ("workqueue_adds_total", "workqueue_retries_total"):
        assert series[f'{name}{{controller="configmap",name="configmap"}}'] == 0
    assert not [name for name in series if "_created" in name]


async def _nothing(ctx: Context, request: Request) -> None:
    return None


def test_runs_are_counted_by_how_they_ended():
    ends = {"ok": None, "later": Result(requeue_after=1000), "fail": RuntimeError("no"), "terminal": TerminalError("never")}
    failed: dict[str, None] = {}
    controller = Controller(ConfigMap, name="mixed")

    @controller.reconciler
    async def mixed(ctx: Context, request: Request) -> Result | None:
        end = ends[request.name]
        if isinstance(end, Exception) and request.name not in failed:
            failed[request.name] = None
            raise end
        return end if isinstance(end, Result) else None

    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(host="server:6443"))
            for name in ends:
                await manager.client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(100)
            series = scrape(manager)
            manager.stop()
            await running
            return series

    series = simulate(main)
    total = {
        result: series[f'controller_runtime_reconcile_total{{controller="mixed",result="{result}"}}']
        for result in ("success", "error", "requeue_after")
    }
    assert total == {"success": 2, "error": 2, "requeue_after": 1}
    assert series['controller_runtime_terminal_reconcile_errors_total{controller="mixed"}'] == 1
    assert series['controller_runtime_reconcile_time_seconds_count{controller="mixed"}'] == 5
    assert series['workqueue_adds_total{controller="mixed",name="mixed"}'] == 5
    assert series['workqueue_retries_total{controller="mixed",name="mixed"}'] == 2
    assert series['workqueue_depth{controller="mixed",name="mixed",priority="0"}'] == 0
    assert series['rest_client_requests_total{code="200",host="server:6443",method="GET"}'] >= 1


def test_each_thing_that_happens_is_counted_where_its_name_says():
    found = samples(full())
    busy = {
        "controller_runtime_reconcile_panics_total": 1,
        "controller_runtime_reconcile_timeouts_total": 1,
        "controller_runtime_terminal_reconcile_errors_total": 1,
        "controller_runtime_reconcile_errors_total": 5,
        "setpoint_reconcile_conflicts_total": 1,
        "setpoint_applies_skipped_total": 1,
    }
    assert {name: found[f'{name}{{controller="busy"}}'] for name in busy} == busy
    call = 'call="busy.<locals>.outside",controller="busy"'
    assert found[f"setpoint_effect_duration_seconds_count{{{call}}}"] == 2
    assert found[f"setpoint_effect_errors_total{{{call}}}"] == 1
    assert found['setpoint_mapper_errors_total{controller="busy",kind="Secret"}'] == 1
    assert found['rest_client_request_retries_total{code="429",host="server:6443",verb="GET"}'] == 1
    assert found['rest_client_request_size_bytes_sum{host="server:6443",verb="POST"}'] > 100
    assert found['rest_client_response_size_bytes_sum{host="server:6443",verb="GET"}'] > 100
    assert 0 < found['setpoint_cache_age_seconds{kind="configmaps"}'] <= 60
    reads = sum(value for name, value in found.items() if name.startswith("rest_client_requests_total") and 'method="GET"' in name)
    watches = 2
    assert found['rest_client_request_duration_seconds_count{host="server:6443",verb="GET"}'] == reads - watches


def test_every_delayed_add_is_a_retry_and_only_what_is_ready_is_an_add():
    found = samples(full())
    # Nine objects, and each of the five that failed once more; the sixth delay is that of requeue_after, which is not over.
    assert found['workqueue_adds_total{controller="busy",name="busy"}'] == 14
    assert found['workqueue_retries_total{controller="busy",name="busy"}'] == 6


def test_a_request_that_waits_for_its_turn_is_told_of():
    class Slow:
        async def send(self, operation):
            await asyncio.sleep(3)
            return Answer(status=200, body=b"{}")

        async def close(self):
            return None

    async def main(world: World):
        connection = Connection(Slow(), world, max_in_flight=1)
        metrics = Metrics(world.clock, "h", request_metrics=True)
        world.observer.subscribe(metrics.hear)
        read = Operation(verb="get", path="/version")
        await asyncio.gather(connection.call(read), connection.call(read))
        return samples(exposition(metrics.registry).decode())

    found = simulate(main)
    assert found['rest_client_rate_limiter_duration_seconds_sum{host="h",verb="GET"}'] == 3
    assert found['rest_client_request_duration_seconds_sum{host="h",verb="GET"}'] == 6


@pytest.mark.parametrize("most", [1, 7, 10_000])
def test_what_is_counted_when_somebody_looks_is_what_is_counted_at_once(monkeypatch, most):
    monkeypatch.setattr(metrics_module, "MOST_UNCOUNTED", most)
    results = iter([None, RuntimeError("no"), Result(requeue_after=1), None])

    async def reconcile(ctx: Context, request: Request) -> Result | None:
        await asyncio.sleep(2)
        match next(results, None):
            case Exception() as error:
                raise error
            case result:
                return result

    async def main(world: World):
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(host="h"))
            manager.add(Controller(ConfigMap, reconciler=reconcile))
            at_once = Metrics(world.clock, "h")
            at_once.include_controller("configmap", 1)
            manager.world.observer.subscribe(at_once.hear)
            running = asyncio.create_task(manager.run())
            await asyncio.sleep(1)
            for name in ("a", "b"):
                await manager.client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
                await asyncio.sleep(3)
            looked = scrape(manager), samples(exposition(at_once.registry).decode())
            manager.stop()
            await running
            return looked

    looked, counted = simulate(main)
    assert counted['controller_runtime_reconcile_total{controller="configmap",result="error"}'] == 1
    assert {name: looked[name] for name in counted} == counted


def test_the_cache_ages_while_the_server_is_silent():
    async def main(world: World):
        clock_at: dict[str, float | None] = {"pods": None, "secrets": 100.0}
        metrics = Metrics(world.clock, "h")
        metrics.include_caches(lambda: [*clock_at.items(), ("secrets", 40.0)])
        await asyncio.sleep(200)
        return samples(exposition(metrics.registry).decode()), world.clock.monotonic()

    found, now = simulate(main)
    assert found['setpoint_cache_age_seconds{kind="pods"}'] == 200
    assert found['setpoint_cache_age_seconds{kind="secrets"}'] == now - 40


def get(url: str | Request_) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            body = response.read()
            packed = response.headers.get("Content-Encoding") == "gzip"
            assert packed == (isinstance(url, Request_) and url.has_header("Accept-encoding"))
            return response.status, (gzip.decompress(body) if packed else body).decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_health_and_metrics_are_served_on_ports_of_their_own():
    async def main():
        world = real_world()
        loop = asyncio.get_running_loop()
        async with ControlPlane(world, controllers=False) as plane:
            local = ("127.0.0.1", 0)
            manager = Manager(Connection(plane.transport(), world), options=Options(metrics=local, health=local, process_metrics=True))
            controller = Controller(ConfigMap)
            started = asyncio.Event()

            @controller.reconciler
            async def reconcile(ctx: Context, request: Request) -> None:
                started.set()

            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            await started.wait()
            metrics, health = manager.addresses

            def ask(url):
                return loop.run_in_executor(None, get, url)

            assert await ask(f"{health}/healthz") == (200, "ok")
            assert await ask(f"{health}/readyz") == (200, "ok")
            code, text = await ask(f"{health}/readyz?verbose")
            assert code == 200
            assert "[+]caches ok" in text
            assert (await ask(f"{health}/readyz/caches"))[0] == 200
            assert (await ask(f"{health}/readyz/nonsense"))[0] == 404
            code, text = await ask(f"{metrics}/metrics")
            assert code == 200
            assert "controller_runtime_reconcile_total" in text
            assert "process_cpu_seconds_total" in text
            code, text = await ask(Request_(f"{metrics}/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"}))
            assert text.endswith("# EOF\n")
            code, text = await ask(Request_(f"{metrics}/metrics", headers={"Accept-Encoding": "gzip"}))
            assert "controller_runtime_reconcile_total" in text

            port = int(metrics.rpartition(":")[2])
            second = Manager(Connection(plane.transport(), world), options=Options(metrics=("127.0.0.1", port)))
            with pytest.raises(PortInUse, match="is in use"):
                await second.run()
            manager.stop()
            await running

    asyncio.run(main())


def test_a_manager_whose_caches_are_not_complete_is_alive_and_not_ready():
    async def main():
        world = real_world()
        loop = asyncio.get_running_loop()
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(health=("127.0.0.1", 0)))
            plane.server.stop()
            controller = Controller(ConfigMap)
            controller.reconciler(_nothing)
            manager.add(controller)
            running = asyncio.create_task(manager.run())
            while not manager.addresses:
                await asyncio.sleep(0)
            (health,) = manager.addresses
            code, text = await loop.run_in_executor(None, get, f"{health}/readyz")
            assert code == 500
            assert "configmap" in text
            assert (await loop.run_in_executor(None, get, f"{health}/healthz"))[0] == 200
            manager.stop()
            await running

    asyncio.run(main())
