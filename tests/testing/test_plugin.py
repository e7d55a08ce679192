"""The pytest plugin: its fixtures, and what it says of a server that is not there."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from setpoint import ObjectMeta
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.testing import Server


def test_the_server_is_reached_with_its_kubeconfig(setpoint_server: Server, setpoint_namespace: str) -> None:
    async def note() -> ConfigMap | None:
        async with Server(setpoint_server.kubeconfig).connect() as client:
            await client.create(ConfigMap(metadata=ObjectMeta(name="note", namespace=setpoint_namespace), data={"a": "b"}))
            return await client.get(ConfigMap, "note", namespace=setpoint_namespace)

    found = asyncio.run(note())
    assert found is not None
    assert found.data == {"a": "b"}


def test_a_namespace_is_one_tests_own_and_goes_afterwards(setpoint_server: Server) -> None:
    async def phase(name: str) -> str | None:
        async with setpoint_server.connect() as client:
            namespace = await client.get(Namespace, name)
            return None if namespace is None or namespace.is_terminating else namespace.status.phase

    with setpoint_server.namespace() as one, setpoint_server.namespace() as other:
        assert one != other
        assert asyncio.run(phase(one)) == "Active"
    assert asyncio.run(phase(one)) is None


def pytest_in(folder: Path, test: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(test)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


def test_a_server_of_ones_own_is_used_instead(setpoint_server: Server, tmp_path: Path) -> None:
    test = f"def test_it(setpoint_server):\n    assert setpoint_server.url == {setpoint_server.url!r}\n"
    ran = pytest_in(tmp_path, test, f"--setpoint-kubeconfig={setpoint_server.kubeconfig}")
    assert ran.returncode == 0, ran.stdout


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    ran = pytest_in(tmp_path, "def test_it(setpoint_server):\n    pass\n", "--setpoint-kubeconfig=nowhere.yaml")
    assert ran.returncode != 0
    assert "nowhere.yaml" in ran.stdout


def test_nothing_heavy_is_imported_until_a_test_asks(tmp_path: Path) -> None:
    test = (
        "import sys\n\ndef test_it():\n    assert not {'aiohttp', 'uvicorn', 'setpoint.cluster', 'setpoint.testing'} & set(sys.modules)\n"
    )
    ran = pytest_in(tmp_path, test)
    assert ran.returncode == 0, ran.stdout
