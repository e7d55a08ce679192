"""The pytest plugin `setpoint`. Nothing is used unless a test asks for it, and nothing heavy is imported until then.

Fixtures:

- `setpoint_cluster`: a fresh `setpoint.testing.Cluster` for each test, in simulated time;
- `setpoint_server`: one `setpoint.testing.Server` a session, over HTTPS and in real time, with a kubeconfig;
- `setpoint_namespace`: the name of a namespace there that is this test's own;
- `setpoint_check`: the level checker, as a function that fails the test unless the controller held.

With `--setpoint-kubeconfig FILE` (or the ini key `setpoint_kubeconfig`) the server is that of the kubeconfig instead of an embedded one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from setpoint.levelcheck import Workload
    from setpoint.levelcheck.outcome import Report
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


class Check:
    """Runs the level checker within a test. A call takes what `setpoint.levelcheck.check.level_check` takes."""

    def __call__(self, target: Any, workload: Workload, *, replay: str = "", **declared: Any) -> Report | None:
        """Fails the test, with the report, unless the controller held.

        With `replay`, the token of an earlier report, that one run alone is made; it fails as well where the place of a fault is gone, and
        there is no report if it passes.
        """
        from setpoint.levelcheck import check
        from setpoint.levelcheck.report import text

        if replay:
            self._replay(target, workload, replay, declared)
            return None
        report = check.level_check(target, workload, **declared)
        if report.verdict != "HELD":
            pytest.fail(text.in_words(report), pytrace=False)
        return report

    def _replay(self, target: Any, workload: Workload, token: str, declared: dict[str, Any]) -> None:
        from setpoint.levelcheck import check
        from setpoint.levelcheck.report import text
        from setpoint.levelcheck.search.checking import SiteGone

        try:
            broken = check.replay(target, workload, token=token, **declared)
        except SiteGone as gone:
            pytest.fail(f"site gone: {gone}\nCheck anew, and write the test anew or take it away.", pytrace=False)
        if broken is not None:
            head = f"{broken.refutation.finding.verdict}, {text.manner(broken)}: {text.sentence_of(broken)}"
            pytest.fail("\n".join([head, *(line.text for line in text.refutation(broken))]), pytrace=False)


@pytest.fixture
def setpoint_check() -> Check:
    """The level checker: `setpoint_check(controller, workload)` fails the test unless the controller is level-based."""
    return Check()
