"""Runs the steps with one kubectl on one server and returns what was said, normalised."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .normalise import Normaliser
from .step import During, Step

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
PATIENCE = 60.0
"""Seconds that one call may take."""

STOPPED = None
"""The exit code of a program that was stopped after it had said enough."""


@dataclass(frozen=True)
class Said:
    """What one step printed and how it ended."""

    name: str
    code: int | None
    out: str
    err: str


class Session:
    """One kubectl on one server, with a home, a cache and manifests of its own in `folder`, which must be empty.

    Raises `AssertionError` where a call takes too long or a step that others build on never comes true.
    """

    def __init__(self, kubectl: Path, kubeconfig: Path, folder: Path) -> None:
        self._folder = folder / "session"
        shutil.copytree(HERE / "manifests", self._folder)
        (self._folder / "webapp-crd.yaml").write_text(webapp_crd())
        shutil.copy(kubeconfig, self._folder / "config")
        self._kubectl = self._folder / "kubectl"  # it puts its own name into what it says
        self._kubectl.symlink_to(kubectl)
        self._environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            "TZ": "UTC",
            "HOME": str(self._folder),
            "TMPDIR": str(self._folder),
            "KUBECONFIG": str(self._folder / "config"),
            "KUBECACHEDIR": str(self._folder / "cache"),
        }
        self._normalise = Normaliser(self._folder)
        self._printed = ""

    def run(self, steps: Iterable[Step]) -> Iterator[Said]:
        """Does the steps in their order; those made during another are told after it."""
        for step in steps:
            if isinstance(step, During):
                yield from self._during(step)
            else:
                yield self._call(step)

    def _call(self, step: Step) -> Said:
        deadline = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(
                self._arguments(step),
                input=self._printed if step.piped else step.stdin,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                cwd=self._folder,
                env=self._environment | {"KUBE_EDITOR": step.editor},
            )
            if re.search(step.until, done.stdout + done.stderr):
                self._printed = done.stdout
                return self._said(step, done.returncode, done.stdout, done.stderr)
            assert time.monotonic() < deadline, f"{step.name}: it never says {step.until!r} but\n{done.stdout}{done.stderr}"

    def _during(self, step: During) -> list[Said]:
        program = Program(self._arguments(step), self._folder, self._environment)
        with program:
            program.await_lines(step.after_lines, step.after_log)
            others = list(self.run(step.then))
            if step.lines:
                program.await_lines(step.lines, "")
            else:
                program.await_end()
        code = STOPPED if step.lines else program.code
        return [self._said(step, code, program.out, program.err), *others]

    def _arguments(self, step: Step) -> list[str]:
        return [str(self._kubectl), *shlex.split(step.call)]

    def _said(self, step: Step, code: int | None, out: str, err: str) -> Said:
        return Said(step.name, code, self._normalise(out), self._normalise(err))


class Program:
    """A running call; two threads collect what it prints. It is killed at the end of its context, if it still runs."""

    def __init__(self, arguments: list[str], folder: Path, environment: dict[str, str]) -> None:
        self._arguments = arguments
        self._process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=folder, env=environment
        )
        self.out, self.err = "", ""
        self._changed = threading.Condition()
        self._readers = [threading.Thread(target=self._read, args=(name,)) for name in ("out", "err")]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()

    @property
    def code(self) -> int:
        """The exit code, once it has ended."""
        return self._process.wait(PATIENCE)

    def await_lines(self, lines: int, log: str) -> None:
        """Until it has printed so many lines and logged such a one."""
        with self._changed:
            said = self._changed.wait_for(lambda: self.out.count("\n") >= lines and re.search(log, self.err), PATIENCE)
        assert said, f"{shlex.join(self._arguments)} has said no more than\n{self.out}{self.err}"

    def await_end(self) -> None:
        """Until it ends by itself and all that it printed is there."""
        self._process.wait(PATIENCE)
        for reader in self._readers:
            reader.join()

    def _read(self, name: str) -> None:
        stream = self._process.stdout if name == "out" else self._process.stderr
        assert stream is not None
        with stream:
            for line in stream:
                with self._changed:
                    setattr(self, name, getattr(self, name) + line)
                    self._changed.notify_all()


def webapp_crd() -> str:
    """The kind of the example, as the program prints it."""
    command = [sys.executable, "-m", "setpoint", "crd", str(REPOSITORY / "examples/webapp/webapp.py")]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
