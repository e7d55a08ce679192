"""The program `setpoint`, called within the test's process: quick, and what it prints and how it ends is all that is looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import pytest

from setpoint.cli.embedded import embedded
from setpoint.cli.program import main


class Ended(NamedTuple):
    """How a program ended, and what it printed."""

    code: int
    out: str
    err: str

    def refusal(self, code: int = 1) -> str:
        """The one sentence of a program that ended with a mistake of the user's: no traceback, nothing beside it."""
        assert self.code == code, self
        assert "Traceback" not in self.err, self.err
        lines = [line for line in self.err.splitlines() if not line.startswith("{")]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("setpoint: ")
        return lines[0].removeprefix("setpoint: ")


Cli = Callable[..., Ended]
Write = Callable[[str, str], Path]

CONTROLLER = """
from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap

controller = Controller(ConfigMap)

@controller.reconciler
async def reconcile(ctx, request):
    return None
"""


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports_undone: None) -> Path:
    """A folder that is both the current one and the user's home, an environment that names no cluster, and imports that are undone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "WATCH_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def cli(alone: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    def run(*arguments: str | Path) -> Ended:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["setpoint", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run


@pytest.fixture
def write(alone: Path) -> Write:
    """Writes a file in the current folder."""

    def write(name: str, text: str) -> Path:
        path = alone / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    return write


@pytest.fixture
def controller(write: Write) -> Path:
    """A file with a controller that does nothing."""
    return write("quiet.py", CONTROLLER)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a server that runs for all tests of a module."""
    with embedded(0, str(tmp_path_factory.mktemp("server") / "kubeconfig")) as (_, kubeconfig):
        yield kubeconfig
