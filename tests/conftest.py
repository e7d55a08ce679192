"""What tests of several rooms share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long something takes says more of a busy machine than of what is tested. The same tree gives the same verdict: who
# wants other examples than those of every day asks for them (`SETPOINT_EXPLORE=1`), and keeps what they find as a test.
settings.register_profile("setpoint", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("explore", settings.get_profile("setpoint"), derandomize=False, max_examples=1000)
settings.load_profile("explore" if os.environ.get("SETPOINT_EXPLORE") else "setpoint")

CONTROL_PLANE = Path(__file__).parents[1] / "tools" / "envtest" / "control-plane"
PROGRAMS = "etcd", "kube-apiserver", "kube-controller-manager"


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a real kube-apiserver and kube-controller-manager: one a session, so use namespaces of your own.

    There is no scheduler and no kubelet: pods stay Pending until somebody sets their status.
    """
    assets = Path(os.environ.get("KUBEBUILDER_ASSETS") or "/nowhere")
    missing = [program for program in PROGRAMS if not (assets / program).exists()]
    if missing:
        pytest.skip(f"KUBEBUILDER_ASSETS names no folder with {', '.join(missing)}; tools/envtest/build makes one, where Go is")
    place = ["--dir", str(tmp_path_factory.mktemp("control-plane"))]
    started = subprocess.run([CONTROL_PLANE, "start", *place, "--controllers", "default"], capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    yield Path(started.stdout.strip())
    subprocess.run([CONTROL_PLANE, "stop", *place], check=True)


@pytest.fixture
def imports_undone(tmp_path: Path) -> Iterator[None]:
    """What the test imports from its folder is forgotten after it, packages that have no file among it."""
    before = dict(sys.modules)
    yield
    made = {name: module for name, module in sys.modules.items() if name not in before}
    places = {name: [getattr(made[name], "__file__", None) or "", *getattr(made[name], "__path__", ())] for name in made}
    for name in made:
        if any(place.startswith(str(tmp_path)) for place in places[name]):
            del sys.modules[name]
