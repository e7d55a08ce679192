"""A page of documentation, and how its code blocks are carried out. See `test_docs` for what each sort of block means."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

PATIENCE = 60.0
"""Seconds to wait for a line that a page shows."""


_STAYS = ("setpoint run", "setpoint server")


class Block(NamedTuple):
    """A fenced block: its language, its title (a file's name), its text and the line at which that begins."""

    language: str
    title: str
    text: str
    line: int


def with_free_ports(text: str) -> str:
    """The text with each port on loopback that it names replaced by one that is free here."""
    free: dict[str, str] = {}
    for port in re.findall(r"127\.0\.0\.1:(\d+)", text):
        if port not in free:
            with socket.create_server(("127.0.0.1", 0)) as listening:
                free[port] = str(listening.getsockname()[1])
    return re.sub(r"(?<=127\.0\.0\.1:)\d+", lambda port: free[port[0]], text)


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order. Raises `ValueError` for a fence that is left open."""
    found: list[Block] = []
    opening: tuple[str, str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate(with_free_ports(page.read_text()).splitlines(), 1):
        fence = re.fullmatch(r"```(\w*)(?: title=\"([^\"]+)\")?", line)
        if opening is None and fence:
            opening, lines = (fence[1], fence[2] or "", number + 1), []
        elif opening is not None and line == "```":
            found.append(Block(opening[0], opening[1], "".join(f"{text}\n" for text in lines), opening[2]))
            opening = None
        elif line.startswith("```"):
            raise ValueError(f"{page}:{number}: what fence is this? {line}")
        elif opening is not None:
            lines.append(line)
    if opening is not None:
        raise ValueError(f"{page}:{opening[2]}: this block does not end")
    return found


class Commands:
    """Carries out what a `console` block shows: commands after `$ `, each followed by what it prints.

    What is shown must appear, line by line and in that order, with anything between; `...` stands for anything in a line, and times, ports
    and the amount of space may differ. `setpoint run` and `setpoint server` go on until the page ends, or `^C` is shown.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._env = {**os.environ, "HOME": str(folder), "NO_COLOR": "1", "COLUMNS": "200", "PYTEST_ADDOPTS": "-p no:cacheprovider"}
        self._env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "WATCH_NAMESPACE"):
            self._env.pop(name, None)
        self._running: list[_Running] = []

    def carry_out(self, block: Block) -> None:
        """All commands of a block; none, if it needs kubectl and there is none."""
        if "kubectl" in block.text and shutil.which("kubectl") is None:
            return
        command, shown = "", []
        for line in [*block.text.splitlines(), "$ "]:
            if not line.startswith("$ "):
                shown.append(line)
                continue
            if command:
                self._command(command, shown)
            command, shown = line.removeprefix("$ "), []

    def end(self) -> None:
        """Ends what still runs, as Ctrl-C does. Raises `AssertionError` if it does not end well."""
        running, self._running = self._running, []
        try:
            for one in running:
                one.interrupt()
        finally:
            for one in running:
                one.kill()

    def _command(self, command: str, shown: list[str]) -> None:
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self._env[name] = value
            return
        running = _Running(command, self._folder, self._env)
        self._running.append(running)
        interrupted = "^C" in shown
        for line in shown:
            if line == "^C":
                running.interrupt()
            elif line:
                running.wait_for(line)
        if not command.startswith(_STAYS) and not interrupted:
            assert running.end() == 0, f"$ {command}\n{running.printed}"


class _Running:
    """A command on a terminal of its own."""

    def __init__(self, command: str, folder: Path, env: dict[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.printed = ""
        self._read = 0
        self._command = command
        # `exec`, so that a signal reaches the program and not a shell before it.
        words = ["bash", "-c", command if "|" in command else f"exec {command}"]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=folder, env=env)
        os.close(theirs)

    def wait_for(self, line: str) -> None:
        """Reads on until a line like this has been printed after what was waited for before."""
        wanted = re.compile(_pattern(line), re.MULTILINE)
        deadline = time.monotonic() + PATIENCE
        while (match := wanted.search(self.printed, self._read)) is None:
            if time.monotonic() > deadline or not self._more(deadline):
                raise AssertionError(f"{self._command} did not print\n  {line}\nbut\n{self.printed}")
        self._read = match.end()

    def interrupt(self) -> None:
        """Ctrl-C, if it still runs."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            code = self.end()
            assert code in (0, 130), f"{self._command} ended with {code}:\n{self.printed}"

    def end(self) -> int:
        """Waits for its end, and gives the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._more(deadline):
            pass
        return self._process.wait(max(deadline - time.monotonic(), 0.1))

    def kill(self) -> None:
        """In any case."""
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def _more(self, deadline: float) -> bool:
        """Reads on. Whether there may be more: not at the end, nor at the deadline."""
        if not select.select([self._ours], [], [], max(deadline - time.monotonic(), 0.0))[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux: nobody has the other side open any more
            return False
        self.printed += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode(errors="replace")).replace("\r\n", "\n").replace("\r", "\n")
        return bool(data)


_MAY_DIFFER = {
    r"\.\.\.": ".*",
    r"\d\d:\d\d:\d\d": r"\d\d:\d\d:\d\d",
    r"127\.0\.0\.1:\d+": r"127\.0\.0\.1:\d+",
    r" +": " +",
}


def _pattern(line: str) -> str:
    """What a printed line must be like."""
    parts = re.split(f"({'|'.join(_MAY_DIFFER)})", line.rstrip())
    loose = [next(like for this, like in _MAY_DIFFER.items() if re.fullmatch(this, part)) for part in parts[1::2]]
    exact = [re.escape(part) for part in parts[::2]]
    return f"^{exact[0]}{''.join(between + text for between, text in zip(loose, exact[1:], strict=True))} *$"


class Python:
    """A module that grows block by block, as a reader would type it in. Its class and functions find each other, as in a file."""

    def __init__(self, page: Path) -> None:
        self._page = page
        self._module = ModuleType(f"page_{re.sub(r'[^a-z]', '_', page.stem.lower())}")
        sys.modules[self._module.__name__] = self._module

    def run(self, block: Block) -> None:
        """Runs a block after those before it. Errors name the page and its line."""
        code = compile("\n" * (block.line - 1) + block.text, str(self._page), "exec", dont_inherit=True)
        exec(code, vars(self._module))


def imports_of(folder: Path) -> Iterator[None]:
    """While this generator waits, files in the folder can be imported; after it, they are forgotten."""
    before, modules = list(sys.path), dict(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path[:] = before
        for name in [name for name in sys.modules if name not in modules]:
            if name.startswith("page_") or str(getattr(sys.modules[name], "__file__", None)).startswith(str(folder)):
                del sys.modules[name]
