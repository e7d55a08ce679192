"""controller-runtime: the program of `controller_runtime/`, built where Go is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.servers import Servers
from benchmarks.workload import Missing

SOURCE = ROOT / "benchmarks" / "controller_runtime"


def command(servers: Servers, *words: str | int) -> list[str]:
    """The command for it. Raises `Missing` where Go is not there, or cannot build it."""
    return [str(servers.program("crbench", build)), *map(str, words)]


def build(folder: Path) -> Path:
    """The program, in a folder."""
    if shutil.which("go") is None:
        raise Missing("no Go on this machine to build controller-runtime with")
    program = folder / "crbench"
    built = subprocess.run(["go", "build", "-o", str(program), "."], cwd=SOURCE, check=False, capture_output=True, text=True)
    if built.returncode:
        raise Missing(f"Go cannot build controller-runtime: {built.stderr.strip().splitlines()[-1]}")
    return program
