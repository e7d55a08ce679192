"""A short comparison with a real kube-apiserver, where there is one. The long one is `python -m tests.differential`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .kinds import SORTS
from .machine import Field, converse
from .servers import EmbeddedServer, RealServer

CONTROL_PLANE = Path(__file__).parents[2] / "tools" / "envtest" / "control-plane"
SEED = 20


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    """A real server without controllers, and ours."""
    if not (Path(os.environ.get("KUBEBUILDER_ASSETS") or "/nowhere") / "kube-apiserver").exists():
        pytest.skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver; tools/envtest/build makes one, where Go is")
    place = ["--dir", str(tmp_path_factory.mktemp("differential"))]
    started = subprocess.run([CONTROL_PLANE, "start", *place], capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    common = Field(RealServer(Path(started.stdout.strip())), EmbeddedServer())
    common.define()
    yield common
    common.real.close()
    common.ours.close()
    subprocess.run([CONTROL_PLANE, "stop", *place], check=True)


@pytest.mark.envtest
@pytest.mark.parametrize("sort", SORTS)
def test_both_servers_answer_alike(common: Field, sort: str) -> None:
    before = common.coverage.asked
    converse(common, sort, seed=SEED, examples=2, steps=25, shrink=False)
    assert common.coverage.asked > before
