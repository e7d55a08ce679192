"""Which namespace a program works in: `-n`, `-A` and WATCH_NAMESPACE, from the command line down to what is watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.cli import running

from .conftest import Cli


@pytest.mark.parametrize(
    ("arguments", "env", "watched"),
    [
        ([], None, ()),
        (["-n", "shop"], None, ("shop",)),
        (["--namespace", "shop"], "other", ("shop",)),
        ([], "other", ("other",)),
        ([], "a,b", ("a", "b")),
        (["-A"], "other", ()),
    ],
)
def test_what_is_watched(
    cli: Cli, controller: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], env: str | None, watched: tuple[str, ...]
) -> None:
    asked: list[running.Run] = []
    monkeypatch.setattr(running, "run_embedded", lambda run, port, path, data: asked.append(run))
    if env is not None:
        monkeypatch.setenv("WATCH_NAMESPACE", env)
    assert cli("run", controller, *arguments).code == 0
    assert [run.namespaces for run in asked] == [watched]


def test_embedded_brings_no_endpoints_unless_asked(cli: Cli, controller: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that two of them run on one machine. Against a cluster they are controller-runtime's."""
    asked: list[running.Run] = []
    monkeypatch.setattr(running, "run_embedded", lambda run, port, path, data: asked.append(run))
    monkeypatch.setattr(running, "run", lambda run, kubeconfig, context: asked.append(run))
    assert cli("run", controller).code == 0
    assert cli("run", controller, "--metrics-bind-address", ":9090").code == 0
    assert cli("run", controller, "--kubeconfig", "config").code == 0
    assert [(run.metrics, run.health) for run in asked] == [
        (None, None),
        (("0.0.0.0", 9090), None),
        (("0.0.0.0", 8080), ("0.0.0.0", 8081)),
    ]
