"""The public types accept how controllers are written, and refuse the common mistakes."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
needs_mypy = pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")


def lines_refused_by_mypy(file: Path, cache: Path) -> dict[int, str]:
    """Line numbers with the errors that mypy --strict has there."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "--cache-dir", str(cache)]
    result = subprocess.run(
        [*command, "--config-file", "", str(file)],
        env={"MYPYPATH": f"{SOURCES}:{HERE}", "PATH": ""},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(rf"^(?:.*/)?{file.name}:(\d+): error: (.*)$", result.stdout, re.MULTILINE)
    assert errors or result.returncode == 0, result.stdout + result.stderr
    return {int(line): text for line, text in errors}


@needs_mypy
def test_the_ways_in_which_controllers_are_written_are_accepted_and_misuses_refused(tmp_path: Path) -> None:
    assert lines_refused_by_mypy(HERE / "good.py", tmp_path) == {}
    misuses = HERE / "misuses.py"
    marked = {number for number, line in enumerate(misuses.read_text().splitlines(), 1) if line.endswith("# refused")}
    refused = lines_refused_by_mypy(misuses, tmp_path)
    assert {number: text for number, text in refused.items() if number not in marked} == {}
    assert marked - refused.keys() == set(), "these lines are misuses, and mypy accepts them"
