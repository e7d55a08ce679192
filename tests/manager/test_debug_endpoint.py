"""The debug endpoint takes the first default port that is free, does without where none is, and refuses a chosen one that is taken."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from setpoint import Context, Controller, Request
from setpoint.client import Connection
from setpoint.cluster import ControlPlane
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.manager import Manager, Options
from setpoint.manager.flight import debug_endpoint
from setpoint.world import PortInUse, real_world


def free_ports(count: int) -> list[int]:
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in listening]
    for one in listening:
        one.close()
    return ports


async def reconcile(ctx: Context, request: Request) -> None:
    return None


def served(address: tuple[str, int] | None, then: Callable[[str], Any]) -> Any:
    """Runs a manager with an endpoint, and gives what a function says (in a thread, as it may block) of its address."""

    async def main() -> Any:
        world = real_world()
        async with ControlPlane(world, controllers=False) as plane:
            manager = Manager(Connection(plane.transport(), world), options=Options(debug=address))
            manager.add(Controller(ConfigMap, reconciler=reconcile))
            running = asyncio.create_task(manager.run())
            while not manager.has_started and not running.done():
                await asyncio.sleep(0)
            try:
                return None if running.done() else await asyncio.to_thread(then, manager.debug_address)
            finally:
                manager.stop()
                await running

    return asyncio.run(main())


def who(address: str) -> Any:
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{address}/debug", timeout=30) as answer:
        return json.load(answer)


def test_the_first_default_port_that_is_free_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, free = free_ports(2)
    monkeypatch.setattr(debug_endpoint, "DEFAULT_PORTS", [taken, free])
    with socket.create_server(("127.0.0.1", taken)):
        told = served(debug_endpoint.DEFAULT, lambda address: (address, who(address)))
    assert told == (
        f"http://127.0.0.1:{free}",
        {"program": "setpoint", "server": "", "controllers": [{"name": "configmap", "watches": ["ConfigMap"]}]},
    )


def test_where_all_default_ports_are_taken_the_manager_runs_without(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (taken,) = free_ports(1)
    monkeypatch.setattr(debug_endpoint, "DEFAULT_PORTS", [taken])
    caplog.set_level(logging.WARNING, "setpoint.manager")
    with socket.create_server(("127.0.0.1", taken)):
        assert served(debug_endpoint.DEFAULT, lambda address: address) == ""
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("nothing tells why keys run: the ports ")


def test_a_chosen_port_that_is_taken_is_refused() -> None:
    (taken,) = free_ports(1)
    with socket.create_server(("127.0.0.1", taken)), pytest.raises(PortInUse):
        served(("127.0.0.1", taken), who)


def test_without_an_address_nothing_is_served() -> None:
    assert served(None, lambda address: address) == ""


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost", 200),
        ("LOCALHOST:8082", 200),
        ("[::1]", 200),
        ("[::1]:8082", 200),
        ("rebound.example.com", 421),
        ("127.0.0.1.example.com:8082", 421),
        ("example.com:127.0.0.1", 421),
    ],
)
def test_on_loopback_only_those_are_answered_who_ask_for_loopback(host: str, code: int) -> None:
    def ask(address: str) -> int:
        request = urllib.request.Request(f"{address}/debug", headers={"Host": host})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    assert served(("127.0.0.1", 0), ask) == code
