"""What a server needs to start, and no more: imports are most of a start's time."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

HEAVY = ("yaml", "aiohttp", "cryptography", "uvicorn", "prometheus_client", "setpoint.client", "setpoint.controller", "setpoint.manager")
FIRST_ANSWER = """
import asyncio
from setpoint.api import GroupVersionResource, Operation
from setpoint.cluster.server import ApiServer
from setpoint.world import real_world

async def main():
    server = ApiServer(real_world())
    resource = GroupVersionResource("", "v1", "namespaces")
    assert (await server.handle(Operation(verb="get", resource=resource, name="default"))).ok

asyncio.run(main())
"""
PROGRAM = """
import setpoint.cli.program, setpoint.cli.serving, setpoint.cluster.hosted
"""


@cache
def imported(program: str) -> list[str]:
    """The modules that there are after it."""
    said = subprocess.run([sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"], check=True, capture_output=True, text=True)
    return said.stdout.split()


def test_the_first_answer_needs_neither_clients_nor_http() -> None:
    assert [name for name in imported(FIRST_ANSWER) if name in HEAVY] == []


def test_kinds_that_nobody_asks_for_are_not_made() -> None:
    folder = "setpoint.cluster.server.builtin.groups."
    assert sorted(name.removeprefix(folder) for name in imported(FIRST_ANSWER) if name.startswith(folder)) == [
        "core",
        "scheduling",
        "services",
    ]


def test_the_program_of_a_server_alone_imports_no_controllers() -> None:
    heavy = ("yaml", "aiohttp", "prometheus_client", "setpoint.manager.manager", "setpoint.controller")
    assert [name for name in imported(PROGRAM) if name in heavy] == []
