"""The two servers that are compared, each fresh, with its controllers, for as long as its context is open."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .runner import REPOSITORY

START = 60.0
"""Seconds within which a server must be there."""


def has_real_plane() -> bool:
    """Whether this machine can start the real control plane."""
    assets = Path(os.environ.get("KUBEBUILDER_ASSETS") or "/nowhere")
    return all((assets / program).exists() for program in ("etcd", "kube-apiserver", "kube-controller-manager"))


@contextmanager
def embedded(folder: Path) -> Iterator[Path]:
    """`setpoint server` as a program of its own; yields its kubeconfig."""
    kubeconfig = folder / "embedded.kubeconfig"
    command = [sys.executable, "-m", "setpoint", "server", "--port", "0", "--write-kubeconfig", str(kubeconfig)]
    with (folder / "embedded.log").open("w+") as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server:
        assert server.stdout is not None
        guard = threading.Timer(START, server.kill)
        guard.start()
        try:
            ready = any(line.startswith("ready ") for line in server.stdout)
            guard.cancel()
            if not ready:
                raise AssertionError(f"setpoint server is not ready: {(folder / 'embedded.log').read_text()}")
            yield kubeconfig
        finally:
            guard.cancel()
            server.terminate()
            server.wait(START)
    assert server.returncode == 0, f"setpoint server ended with {server.returncode}: {(folder / 'embedded.log').read_text()}"


@contextmanager
def real(folder: Path) -> Iterator[Path]:
    """The real kube-apiserver with the default controllers; yields its kubeconfig."""
    program = str(REPOSITORY / "tools/envtest/control-plane")
    place = ["--dir", str(folder / "real")]
    subprocess.run([program, "start", *place, "--controllers", "default"], check=True, capture_output=True, text=True, timeout=3 * START)
    try:
        yield folder / "real" / "kubeconfig"
    finally:
        subprocess.run([program, "stop", *place], check=True, timeout=START)
