"""The programs that do the work, each in a process of its own.

They print one line of JSON with what it took: CPU seconds, and memory in MB. `setpoint_peer` is ours, `kopf_peer` kopf, `official_client`
the list-watch of the official Kubernetes client with nothing around it; `go` builds controller-runtime. `load` keeps a server busy.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.workload import Failed, Missing

LONGEST = 3_600.0
"""Seconds after which a program is given up."""
ROOT = Path(__file__).parents[2]


def environment(kubeconfig: Path | None = None) -> dict[str, str]:
    """That of a program: the server is the kubeconfig's, and byte code is kept, as an installation keeps it."""
    made = {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "KUBECONFIG")}
    return made | ({"KUBECONFIG": str(kubeconfig)} if kubeconfig is not None else {})


def python(module: str, *words: str | int, needs: str = "") -> list[str]:
    """The command for one of the programs here. Raises `Missing` where the package that it `needs` is not installed."""
    if needs and importlib.util.find_spec(needs) is None:
        raise Missing(f"{needs} is not installed: pip install {needs}")
    return [sys.executable, "-m", f"benchmarks.peers.{module}", *map(str, words)]


def run(command: Sequence[str], kubeconfig: Path | None = None) -> dict[str, Any]:
    """The line of JSON that a program prints. Raises `Failed` where it does not get that far."""
    try:
        ended = subprocess.run(command, env=environment(kubeconfig), cwd=ROOT, check=False, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise Failed(f"was not done after {LONGEST:.0f} s") from None
    if ended.returncode:
        raise Failed(_end_of(ended.stderr) or f"exit code {ended.returncode}")
    try:
        said: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise Failed(f"said nothing that is JSON: {_end_of(ended.stdout) or _end_of(ended.stderr)}") from None
    return said


def _end_of(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
