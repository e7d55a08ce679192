"""SIGINT and SIGTERM end the programs well; a second one ends them at once."""

from __future__ import annotations

import shutil
import signal
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from .programs import ROOT, Api, Program, setpoint

EXAMPLE = ROOT / "examples" / "webapp"
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)

STUCK = """
import asyncio, time
from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap

asynchronous = Controller(ConfigMap, name="asynchronous")
blocking = Controller(ConfigMap, name="blocking")
threaded = Controller(ConfigMap, name="threaded")

@asynchronous.reconciler
async def wait(ctx, request):
    print("stuck", flush=True)
    await asyncio.Event().wait()

@blocking.reconciler
async def block(ctx, request):
    print("stuck", flush=True)
    time.sleep(3600)

@threaded.reconciler
def sleep(ctx, request):
    print("stuck", flush=True)
    time.sleep(3600)
"""
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}


def assert_nothing_left(program: Program, kubeconfig: Path) -> None:
    assert not program.group_lives()
    address = urlsplit(yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"])
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port))
    assert not [line for line in program.err if "Traceback" in line or "never awaited" in line or "Warning" in line]


@BOTH
def test_run_ends_well(tmp_path: Path, number: signal.Signals) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    arguments = ("run", "--embedded", EXAMPLE / "webapp.py", "--apply", EXAMPLE / "shop.yaml", "--write-kubeconfig", kubeconfig)
    with setpoint(*arguments, cwd=tmp_path) as program:
        program.line("(status)", of="err")  # in the middle of its work
        program.signal(number)
        assert program.end() == 0, program.err
        assert_nothing_left(program, kubeconfig)


@BOTH
def test_server_ends_well_though_it_is_watched(tmp_path: Path, number: signal.Signals) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    with setpoint("server", "--write-kubeconfig", kubeconfig, cwd=tmp_path) as program:
        program.line("ready ")
        with Api(kubeconfig).watching("/api/v1/namespaces"):
            program.signal(number)
            assert program.end() == 0, program.err
        assert_nothing_left(program, kubeconfig)


def test_a_signal_while_it_starts_ends_it_well(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    with setpoint("run", "--embedded", EXAMPLE / "webapp.py", "--write-kubeconfig", kubeconfig, cwd=tmp_path) as program:
        program.line("ready ")  # and no manager yet
        program.signal(signal.SIGINT)
        assert program.end() == 0, program.err
        assert_nothing_left(program, kubeconfig)


@pytest.mark.parametrize("how", ["asynchronous", "blocking", "threaded"])
def test_a_second_signal_ends_at_once_what_a_stuck_reconciler_holds(tmp_path: Path, how: str) -> None:
    module, manifest, kubeconfig = tmp_path / "stuck.py", tmp_path / "one.yaml", tmp_path / "kubeconfig"
    module.write_text(STUCK)
    manifest.write_text(yaml.safe_dump(CONFIG_MAP))
    with setpoint("run", "--embedded", f"{module}:{how}", "--apply", manifest, "--write-kubeconfig", kubeconfig, cwd=tmp_path) as program:
        program.line("stuck")
        program.signal(signal.SIGTERM)
        program.line("stopping", of="err")
        program.signal(signal.SIGINT)  # another one, so that it is no echo of the first, however soon it comes
        assert program.end(seconds=20) == 130  # less than the grace of 30 s
        assert "setpoint: ended by a second signal, without grace" in program.err
        assert_nothing_left(program, kubeconfig)


@pytest.mark.skipif(shutil.which("timeout") is None, reason="there is no program `timeout`")
def test_one_signal_that_arrives_twice_ends_it_well(tmp_path: Path) -> None:
    """`timeout` signals the program, and then the group that it is in."""
    kubeconfig = tmp_path / "kubeconfig"
    words = ("1000", sys.executable, "-m", "setpoint", "run", "--embedded", EXAMPLE / "webapp.py", "--write-kubeconfig", kubeconfig)
    with Program(*words, cwd=tmp_path, executable="timeout") as program:
        program.line("running webapp", of="err")
        program.signal(signal.SIGTERM)
        assert program.end() == 0, program.err
        assert not [line for line in program.err if "second signal, without" in line]
