"""A server whose disk is full says so, loses nothing, and goes on once there is room."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .programs import Api, Json, setpoint

PATH = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "setpoint-test", str(place)]
    if sys.platform != "linux" or os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def config_map(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": "x" * 50_000}}


def test_a_full_disk_is_one_clear_answer_and_there_is_life_after_it(tmp_path: Path, disk: Path) -> None:
    data, kubeconfig = disk / "data", tmp_path / "kubeconfig"
    arguments = ("server", "--no-controllers", "--data", data, "--write-kubeconfig", kubeconfig)
    made: dict[str, Json] = {}
    (disk / "other").write_bytes(bytes(500_000))
    with setpoint(*arguments, cwd=tmp_path) as server:
        server.line("ready ")
        api = Api(kubeconfig)
        for number in range(100):
            status, answer = api.request("POST", PATH, config_map(f"c{number}"))
            if status != 201:
                break
            made[answer["metadata"]["name"]] = answer
        assert (status, answer["reason"]) == (500, "InternalError")
        where = f"Internal error occurred: the data folder {data} cannot be written: database or disk is full"
        assert answer["message"] == f"{where}; make room there and try again"
        assert {item["metadata"]["name"] for item in api.items(PATH)} == set(made)
        assert made
        (disk / "other").unlink()
        made["after"] = api.ask("POST", PATH, config_map("after"))
        assert int(made["after"]["metadata"]["resourceVersion"]) == max(int(obj["metadata"]["resourceVersion"]) for obj in made.values())
        server.process.kill()
        server.end()
    with setpoint(*arguments, cwd=tmp_path) as server:
        server.line("ready ")
        found = {item["metadata"]["name"]: item["metadata"] for item in Api(kubeconfig).items(PATH)}
        assert found == {name: obj["metadata"] for name, obj in made.items()}
        server.process.terminate()
        assert server.end() == 0, server.err


def test_a_server_that_finds_its_disk_full_does_not_start_and_says_why(tmp_path: Path, disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        (disk / "other").write_bytes(bytes(3_000_000))
    with setpoint("server", "--data", disk, "--write-kubeconfig", tmp_path / "kubeconfig", cwd=tmp_path) as server:
        assert server.end() == 1
    assert server.err == [
        f"setpoint: the data folder {disk} cannot be written: No space left on device; make room there and try again (--data)"
    ]
