"""The planes of the contract: each test runs on all of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .kinds import KINDS
from .planes import EMBEDDED, HTTPS, REAL, embedded, https, numbers, real
from .site import Plane

CONTROL_PLANE = Path(__file__).parents[2] / "tools" / "envtest" / "control-plane"
ON_ALL = [EMBEDDED, HTTPS, pytest.param(REAL, marks=pytest.mark.envtest)]


@pytest.fixture(scope="session")
def namespaces() -> Iterator[int]:
    """Numbers for the namespaces on the servers that tests share."""
    return numbers()


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a real kube-apiserver without controllers: nobody but the test writes."""
    if not (Path(os.environ.get("KUBEBUILDER_ASSETS") or "/nowhere") / "kube-apiserver").exists():
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver; tools/envtest/build makes one, where Go is")
    place = ["--dir", str(tmp_path_factory.mktemp("api-server"))]
    started = subprocess.run([CONTROL_PLANE, "start", *place], capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    yield Path(started.stdout.strip())
    subprocess.run([CONTROL_PLANE, "stop", *place], check=True)


@pytest.fixture(params=ON_ALL)
def plane(request: pytest.FixtureRequest) -> Plane:
    """A server without controllers."""
    if request.param == REAL:
        return real(request.getfixturevalue("api_server"), KINDS, request.getfixturevalue("namespaces"))
    return embedded(KINDS) if request.param == EMBEDDED else https(KINDS)


@pytest.fixture(params=ON_ALL)
def whole_plane(request: pytest.FixtureRequest) -> Plane:
    """A server with controllers that collect garbage and empty namespaces."""
    if request.param == REAL:
        return real(request.getfixturevalue("control_plane"), KINDS, request.getfixturevalue("namespaces"))
    return embedded(KINDS, controllers=True) if request.param == EMBEDDED else https(KINDS, controllers=True)
