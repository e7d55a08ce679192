"""The pytest plugin `setpoint`. Nothing is used unless a test asks for it, and nothing heavy is imported until then.

Fixtures:

- `setpoint_cluster`: a fresh `setpoint.testing.Cluster` for each test, in simulated time;
- `setpoint_server`: one `setpoint.testing.Server` a session, over HTTPS and in real time, with a kubeconfig;
- `setpoint_namespace`: the name of a namespace there that is this test's own.

With `--setpoint-kubeconfig FILE` (or the ini key `setpoint_kubeconfig`) the server is that of the kubeconfig instead of an embedded one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from setpoint.testing import Cluster, Server

_KUBECONFIG = "a kubeconfig of the server that setpoint_server gives, instead of an embedded one"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("setpoint").addoption("--setpoint-kubeconfig", metavar="FILE", default=None, help=_KUBECONFIG)
    parser.addini("setpoint_kubeconfig", _KUBECONFIG, default="")


@pytest.fixture
def setpoint_cluster() -> Iterator[Cluster]:
    """A fresh embedded cluster in simulated time, with plain calls; no event-loop plugin is needed."""
    from setpoint.testing import Cluster

    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def setpoint_server(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An API server over HTTPS, in real time: an embedded control plane, or that of `--setpoint-kubeconfig`."""
    from setpoint.client.config import ConfigError
    from setpoint.testing.server import Server, embedded_server

    theirs = pytestconfig.getoption("--setpoint-kubeconfig") or pytestconfig.getini("setpoint_kubeconfig")
    if theirs:
        try:
            yield Server(Path(theirs))
        except ConfigError as error:
            raise pytest.UsageError(f"setpoint_server: {error}") from error
        return
    with embedded_server(tmp_path_factory.mktemp("setpoint")) as server:
        yield server


@pytest.fixture
def setpoint_namespace(setpoint_server: Server) -> Iterator[str]:
    """The name of a namespace on `setpoint_server` that this test alone has; it is deleted afterwards."""
    with setpoint_server.namespace() as name:
        yield name
