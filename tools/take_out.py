"""Takes each capability of ``docs/capabilities.md`` out, and shows that the test which is named there fails without it.

    python tools/take_out.py              all lines of the page
    python tools/take_out.py 25 138       these lines

What is taken out, and how, is in ``take_out.toml``. It is done in a temporary copy of the checkout, which is what the tests then import;
the checkout itself is left alone. Only a test that passes as things are shows something by failing. Exits with 1 where one does not.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).with_suffix(".toml")
LIMIT = 120.0
"""Seconds that one test may take. One that takes longer has shown nothing."""


@dataclass(frozen=True)
class Part:
    """One edit that takes something out: `old`, which occurs once in `file`, becomes `new`. Then `test` must fail."""

    row: int
    without: str
    file: str
    old: str
    test: str
    new: str = ""

    def taken_out(self, text: str) -> str:
        """The file's text without it. Raises `ValueError` unless `old` is there exactly once."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"row {self.row}: {self.file} has this {found} times, where once was expected:\n{self.old}")
        return text.replace(self.old, self.new)


def parts() -> list[Part]:
    """All of them, in the order of the file."""
    return [Part(**one) for one in tomllib.loads(DATA.read_text())["part"]]


class Copy:
    """A copy of what git knows of the checkout, as it is on disk, in which tests run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        # No bytecode: a file that is edited twice within a second may look unchanged to Python.
        self._env = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "1000"}
        self._env.pop("KUBEBUILDER_ASSETS", None)  # the embedded server is enough
        where = [sys.executable, "-c", "import setpoint; print(setpoint.__file__)"]
        imported = subprocess.run(where, cwd=folder, env=self._env, capture_output=True, text=True, check=True).stdout.strip()
        if Path(imported).resolve() != (folder / "src" / "setpoint" / "__init__.py").resolve():
            raise RuntimeError(f"the tests would import {imported}, and not the copy")

    def run(self, tests: Sequence[str], limit: float = LIMIT) -> tuple[int | None, str]:
        """pytest's exit code, None if it took too long, and what it printed."""
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib", "-q", "--tb=short", *tests]
        running = subprocess.Popen(
            command, cwd=self._folder, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        try:
            printed, _ = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGKILL)
                running.communicate()
        return running.returncode, printed

    def without(self, part: Part) -> tuple[bool, str]:
        """Whether the test of a part fails without it, and in which words."""
        file = self._folder / part.file
        whole = file.read_text()
        file.write_text(part.taken_out(whole))
        try:
            code, printed = self.run([part.test])
        finally:
            file.write_text(whole)
        if code is None:
            return False, f"took more than {LIMIT:g} s"
        # A test that cannot even be collected, or whose fixture fails, has not looked.
        failed = re.findall(r"^FAILED \S+ - (.*)$", printed, re.MULTILINE)
        if code == 1 and failed:
            return True, failed[0]
        return False, "passes" if code == 0 else printed.strip().splitlines()[-1]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Shows that each capability has a test that fails without it.")
    parser.add_argument("rows", metavar="ROW", type=int, nargs="*", help="lines of docs/capabilities.md; all, if none is given")
    rows = parser.parse_args(arguments).rows
    chosen = [part for part in parts() if not rows or part.row in rows]
    if unknown := sorted(set(rows) - {part.row for part in chosen}):
        parser.error(f"nothing is known of {', '.join(map(str, unknown))}")
    with tempfile.TemporaryDirectory(prefix="setpoint-take-out-") as folder:
        copy = Copy(Path(folder))
        tests = list(dict.fromkeys(part.test for part in chosen))
        code, printed = copy.run(tests, limit=LIMIT * len(tests))
        if code != 0:
            print(printed or "the tests took too long", "as it is, with nothing taken out, not all tests pass", sep="\n")
            return 1
        print(f"{len(tests)} tests pass with nothing taken out\n")
        shown = 0
        for part in chosen:
            failed, why = copy.without(part)
            shown += failed
            print(f"{part.row:4}  {'fails' if failed else 'DOES NOT FAIL'}  without {part.without}")
            print(f"      {part.test.rpartition('/')[2]}\n      {why[:200]}", flush=True)
    print(f"\n{shown} of {len(chosen)} were noticed")
    return 0 if shown == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
