"""Which kubectls this machine has."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

OLD = 30
"""The minor version that the old one has at most."""


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
    """The kubectl of the server's own version, or None."""
    return next(((minor, path) for minor, path in sorted(kubectls().items(), reverse=True) if minor > OLD), None)


def old() -> tuple[int, Path] | None:
    """The newest kubectl among the old ones, or None."""
    return next(((minor, path) for minor, path in sorted(kubectls().items(), reverse=True) if minor <= OLD), None)
