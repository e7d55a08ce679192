"""Which kubectls this machine has, and the three of them that run the script."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

PROTOBUF_SINCE = 32
"""The minor version from which on kubectl sends in protobuf what it makes up itself."""


@cache
def kubectls() -> dict[int, Path]:
    """Minor version to program: the one of KUBEBUILDER_ASSETS, those on PATH, and those that lie beside them as kubectl.1.N."""
    candidates: list[Path] = []
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        candidates.append(Path(assets) / "kubectl")
    if on_path := shutil.which("kubectl"):
        real = Path(on_path).resolve()
        candidates += [real, *sorted(real.parent.glob("kubectl.1.*"))]
    found: dict[int, Path] = {}
    for candidate in candidates:
        if candidate.exists() and (minor := _minor(candidate)) is not None:
            found.setdefault(minor, candidate)
    return found


def _minor(kubectl: Path) -> int | None:
    """The minor version of a kubectl; None for what is none, or only hands over to another kubectl by the server's version."""
    said = subprocess.run([str(kubectl), "version", "--client", "-o", "json"], capture_output=True, text=True, timeout=60).stdout
    version = re.search(r'"gitVersion": "v1\.(\d+)\.\d+"', said)
    return int(version[1]) if version else None


def newest() -> tuple[int, Path] | None:
    """The newest kubectl, or None."""
    return max(kubectls().items(), default=None)


def middle() -> tuple[int, Path] | None:
    """The newest kubectl that is older than the newest and sends protobuf, or None."""
    return max(((minor, path) for minor, path in _older().items() if minor >= PROTOBUF_SINCE), default=None)


def oldest() -> tuple[int, Path] | None:
    """The oldest kubectl of those that send JSON alone, or None."""
    return min(((minor, path) for minor, path in _older().items() if minor < PROTOBUF_SINCE), default=None)


def _older() -> dict[int, Path]:
    last = newest()
    return {minor: path for minor, path in kubectls().items() if last is not None and minor < last[0]}
