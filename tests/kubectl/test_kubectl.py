"""kubectl says the same on the embedded server as on the real one: the script of `steps`, with the newest, the oldest and one between."""

from pathlib import Path

import pytest

from . import golden
from .found import middle, newest, oldest
from .planes import embedded, has_real_plane, real
from .runner import Said, Session
from .steps import SCRIPT
from .verdict import differences, unexpected

pytestmark = pytest.mark.kubectl


@pytest.fixture(params=[newest, middle, oldest], ids=["newest", "middle", "oldest"])
def kubectl(request: pytest.FixtureRequest) -> tuple[int, Path]:
    """Minor version and program."""
    found: tuple[int, Path] | None = request.param()
    if found is None:
        pytest.skip(f"no {request.param.__name__} kubectl on PATH or in KUBEBUILDER_ASSETS")
    return found


def said_on_embedded(program: Path, folder: Path) -> list[Said]:
    with embedded(folder) as kubeconfig:
        return list(Session(program, kubeconfig, folder).run(SCRIPT))


def judge(on_real: list[Said], said: list[Said]) -> None:
    if wrong := [*differences(on_real, said), *unexpected(said)]:
        pytest.fail("\n\n".join(wrong), pytrace=False)


def test_says_what_was_recorded_on_the_real_server(kubectl: tuple[int, Path], tmp_path: Path) -> None:
    minor, program = kubectl
    if not golden.path_of(minor).exists():
        pytest.skip(f"nothing is recorded for kubectl 1.{minor}; python -m tests.kubectl.record {minor} does it")
    said = said_on_embedded(program, tmp_path)
    judge(golden.load(minor), said)


@pytest.mark.envtest
@pytest.mark.skipif(not has_real_plane(), reason="KUBEBUILDER_ASSETS names no kube-apiserver")
def test_says_the_same_on_a_real_server_beside_it(tmp_path: Path) -> None:
    """With the newest alone; what the others say there is recorded."""
    found = newest()
    if found is None:
        pytest.skip("no newest kubectl on PATH or in KUBEBUILDER_ASSETS")
    _, program = found
    (tmp_path / "with-real").mkdir()
    with real(tmp_path) as kubeconfig:
        on_real = list(Session(program, kubeconfig, tmp_path / "with-real").run(SCRIPT))
    said = said_on_embedded(program, tmp_path)
    judge(on_real, said)
