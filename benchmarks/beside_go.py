"""Setpoint beside controller-runtime, on the same real kube-apiserver, in turn: medians, spread, and the ratio of the two.

    KUBEBUILDER_ASSETS=$(tools/envtest/build) python benchmarks/beside_go.py [ROUNDS] [OBJECTS]

Needs Go. Each round runs one program and then the other, for every kind of work; CPU seconds are what to compare, since wall times on a
shared machine drift. Figures for one object are of the whole phase divided by their number.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PEER = ROOT / "benchmarks" / "controller_runtime"
OURS = [sys.executable, str(ROOT / "benchmarks" / "setpoint_peer.py")]

ROWS = [
    # what, ours, the other's, where the figure is, unit, how one object's share is found
    ("sync: CPU", "sync", "sync", "cpu_phase_s", "us an object", 1e6),
    ("sync, compressed: CPU", "sync --compress", "sync", "cpu_phase_s", "us an object", 1e6),
    ("after sync: memory grown", "sync", "sync", "grown", "bytes an object", 1.0),
    ("after sync, compressed: memory grown", "sync --compress", "sync", "grown", "bytes an object", 1.0),
    ("no-op run: CPU", "drain", "drain", "drain_cpu_s", "us a run", 1e6),
    ("run with one cached get: CPU", "drain --get", "drain -get", "drain_cpu_s", "us a run", 1e6),
]


def main(rounds: int, objects: int) -> None:
    """Builds the other program, fills a server, and measures so many rounds."""
    with tempfile.TemporaryDirectory() as folder, control_plane(Path(folder)) as kubeconfig:
        theirs = [str(build(Path(folder)))]
        environment = os.environ | {"KUBECONFIG": str(kubeconfig)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        kubectl = [str(Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl"), "--kubeconfig", str(kubeconfig)]
        subprocess.run([*kubectl, "apply", "-f", str(PEER / "crd.yaml")], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [*kubectl, "wait", "--for=condition=Established", "crd/widgets.bench.setpoint.dev"], check=True, stdout=subprocess.DEVNULL
        )
        print("import setpoint:", spread([import_time(environment) for _ in range(rounds)], 1000, "ms of CPU"))
        at_rest = {"ours": [], "theirs": []}
        for _ in range(rounds):
            at_rest["ours"].append(run([*OURS, "rest"], environment)["rss_gc_mb"])
            at_rest["theirs"].append(run([*theirs, "sync", "-n", "0"], environment)["rss_gc_mb"])
        show("at rest, without objects: memory", at_rest, 1, "MB")
        run([*theirs, "create", "-n", str(objects)], environment)
        taken = [measured(theirs, objects, environment) for _ in range(rounds)]
        for what, ours, other, field, unit, factor in ROWS:
            figures = {"ours": [each[0, ours] for each in taken], "theirs": [each[1, other] for each in taken]}
            bases = {"ours": statistics.median(at_rest["ours"]), "theirs": statistics.median(at_rest["theirs"])}
            values = {
                side: [(line["rss_gc_mb"] - bases[side]) * 2**20 if field == "grown" else line[field] for line in lines]
                for side, lines in figures.items()
            }
            show(what, values, factor / objects, unit)


def measured(theirs: list[str], objects: int, environment: dict[str, str]) -> dict[tuple[int, str], dict[str, Any]]:
    """One round: each kind of work by one program and then the other."""
    out = {}
    for _, ours, other, *_ in ROWS:
        for side, (program, work) in enumerate(((OURS, ours), (theirs, other))):
            if (side, work) not in out:
                command, *flags = work.split()
                out[side, work] = run([*program, command, "-n", str(objects), *flags], environment)
    return out


def run(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """The line of JSON that a program prints."""
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(said.splitlines()[-1])
    return result


def import_time(environment: dict[str, str]) -> float:
    """Seconds of CPU that `import setpoint` adds to an interpreter that does nothing."""
    used = []
    for program in ("pass", "import setpoint"):
        before = os.times()
        subprocess.run([sys.executable, "-c", program], env=environment, check=True)
        after = os.times()
        used.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return used[1] - used[0]


def spread(values: list[float], factor: float, unit: str) -> str:
    """Median and range."""
    ordered = sorted(value * factor for value in values)
    return f"{statistics.median(ordered):9,.1f} {unit} ({ordered[0]:,.1f} to {ordered[-1]:,.1f})"


def show(what: str, values: dict[str, list[float]], factor: float, unit: str) -> None:
    """One line of the table."""
    ratio = statistics.median(values["ours"]) / statistics.median(values["theirs"])
    ours, theirs = (spread(values[whose], factor, unit) for whose in ("ours", "theirs"))
    print(f"{what:38} ours {ours}   Go {theirs}   ratio {ratio:.3f} (1/{1 / ratio:.1f})")


def build(folder: Path) -> Path:
    """The other program. Raises `CalledProcessError` where Go cannot build it."""
    program = folder / "crbench"
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=PEER, check=True)
    return program


@contextmanager
def control_plane(folder: Path) -> Iterator[Path]:
    """A real kube-apiserver without controllers; gives its kubeconfig."""
    script = str(ROOT / "tools" / "envtest" / "control-plane")
    said = subprocess.run([script, "start", "--dir", str(folder / "plane")], check=True, capture_output=True, text=True).stdout
    try:
        yield Path(said.split()[-1])
    finally:
        subprocess.run([script, "stop", "--dir", str(folder / "plane")], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
