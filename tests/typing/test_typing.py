"""The public types accept how controllers are written, and refuse the common mistakes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import setpoint

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
needs_mypy = pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is not installed")
needs_pyright = pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright is not installed")


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


def lines_refused_by_pyright(file: Path, cache: Path) -> dict[int, str]:
    """As `lines_refused_by_mypy`, by pyright as it is set without a configuration; `cache` is not needed."""
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, str(file)]
    result = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    found = json.loads(result.stdout)["generalDiagnostics"]
    return {each["range"]["start"]["line"] + 1: each["message"] for each in found if each["severity"] == "error"}


@pytest.mark.parametrize(
    "refused_lines",
    [pytest.param(lines_refused_by_mypy, marks=needs_mypy), pytest.param(lines_refused_by_pyright, marks=needs_pyright)],
    ids=["mypy", "pyright"],
)
def test_the_ways_in_which_controllers_are_written_are_accepted_and_misuses_refused(
    tmp_path: Path, refused_lines: Callable[[Path, Path], dict[int, str]]
) -> None:
    assert refused_lines(HERE / "good.py", tmp_path) == {}
    misuses = HERE / "misuses.py"
    marked = {number for number, line in enumerate(misuses.read_text().splitlines(), 1) if line.endswith("# refused")}
    refused = refused_lines(misuses, tmp_path)
    assert {number: text for number, text in refused.items() if number not in marked} == {}
    assert marked - refused.keys() == set(), "these lines are misuses, and the type checker accepts them"


@needs_pyright
def test_every_member_of_a_public_class_has_a_type_that_all_checkers_see_alike() -> None:
    exported = [getattr(setpoint, name) for name in setpoint.__all__]
    public = tuple(f"{each.__module__}.{each.__qualname__}" for each in exported if isinstance(each, type))
    assert len(public) > 30
    command = ["pyright", "--pythonpath", sys.executable, "--verifytypes", "setpoint", "--ignoreexternal", "--outputjson"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    symbols = json.loads(result.stdout)["typeCompleteness"]["symbols"]
    unclear = {
        each["name"]: [said["message"] for said in each["diagnostics"]]
        for each in symbols
        if each["name"].startswith(public) and (not each["isTypeKnown"] or each["isTypeAmbiguous"]) and each["diagnostics"]
    }
    assert unclear == {}
