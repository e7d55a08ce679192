"""Programs: others that are run, for what they print. Simulation has none, and says so."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple, Protocol

MOST = 1 << 20
"""Bytes that a program may print; one that prints more is ended."""
_LINGER = 1.0
"""Seconds to wait for the end of what was printed, after a program has ended."""
_LONGEST_LINE = 1 << 16


class Printed(NamedTuple):
    """How a program ended, and what it printed on its standard output."""

    code: int
    output: bytes


class Programs(Protocol):
    """Where other programs are run."""

    @property
    def terminal(self) -> bool:
        """Whether a person sits at standard input."""
        ...

    async def run(
        self, command: Sequence[str], *, env: Mapping[str, str], interactive: bool, seconds: float, heard: Callable[[str], None]
    ) -> Printed:
        """Runs a program to its end, with `env` on top of this program's environment.

        An interactive one has this program's standard input and error. Any other has no input, and each line of its standard error goes
        to `heard`; it and all that it started are killed where it takes longer than `seconds`, or where the caller is cancelled.

        Raises `TimeoutError`; `OSError` if it cannot be started; `ValueError` if it prints more than `MOST` bytes.
        """
        ...


class RealPrograms:
    """The machine's programs."""

    @property
    def terminal(self) -> bool:
        """Whether a person sits at standard input, which may be closed."""
        return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()

    async def run(
        self, command: Sequence[str], *, env: Mapping[str, str], interactive: bool, seconds: float, heard: Callable[[str], None]
    ) -> Printed:
        """Runs a program to its end."""
        output, lines = _Output(), _Lines(heard)
        async with AsyncExitStack() as stack:
            pipes = [await stack.enter_async_context(_pipe(output))]
            if not interactive:
                pipes.append(await stack.enter_async_context(_pipe(lines)))
            try:
                process = await asyncio.create_subprocess_exec(
                    *command,
                    stdin=None if interactive else asyncio.subprocess.DEVNULL,
                    stdout=pipes[0],
                    stderr=None if interactive else pipes[1],
                    env={**os.environ, **env},
                    # A group of its own, so that what it started can be killed with it; one that asks a person needs the terminal's.
                    start_new_session=not interactive,
                )
            finally:
                for pipe in pipes:
                    os.close(pipe)
            output.full = lambda: _kill(process, group=not interactive)
            try:
                async with asyncio.timeout(seconds):
                    code = await process.wait()
            except BaseException:
                _kill(process, group=not interactive)
                await process.wait()
                raise
            # What it started may go on and keep the pipes open: all that it printed itself has arrived long before.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LINGER):
                    await output.ended.wait()
                    if not interactive:
                        await lines.ended.wait()
            lines.flush()
            return Printed(code, output.whole())


class NoPrograms:
    """Simulation runs no others."""

    @property
    def terminal(self) -> bool:
        """Nobody is there."""
        return False

    async def run(
        self, command: Sequence[str], *, env: Mapping[str, str], interactive: bool, seconds: float, heard: Callable[[str], None]
    ) -> Printed:
        """Always refuses."""
        raise OSError(f"no other programs run in simulated time, so {command[0]!r} cannot")


class _Pipe(asyncio.Protocol):
    """What comes out of a pipe. The pipes are ours: those of asyncio cannot be closed while a program that was killed has left others."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set()


class _Output(_Pipe):
    """Keeps all, up to `MOST` bytes; calls `full` where there is more."""

    def __init__(self) -> None:
        super().__init__()
        self.full: Callable[[], None] = lambda: None
        self._parts: list[bytes] = []
        self._size = 0

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MOST:
            self.full()
        else:
            self._parts.append(data)

    def whole(self) -> bytes:
        """All of it. Raises `ValueError` where it was too much."""
        if self._size > MOST:
            raise ValueError(f"it printed more than {MOST} bytes")
        return b"".join(self._parts)


class _Lines(_Pipe):
    """Hands on each line as it comes."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        super().__init__()
        self._heard = heard
        self._begun = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._begun = (self._begun + data).split(b"\n")
        for line in lines:
            self._heard(line.decode(errors="replace").rstrip())
        # A line without an end would be kept for ever.
        if len(self._begun) > _LONGEST_LINE:
            self.flush()

    def flush(self) -> None:
        """Hands on what has no end."""
        begun, self._begun = self._begun, b""
        if begun:
            self._heard(begun.decode(errors="replace").rstrip())


@asynccontextmanager
async def _pipe(reader: _Pipe) -> AsyncIterator[int]:
    """The end of a pipe to write to, which whoever gets it closes; what is written goes to the reader while the context is open."""
    ours, theirs = os.pipe()
    try:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: reader, os.fdopen(ours, "rb", buffering=0))
    except BaseException:
        os.close(theirs)
        raise
    try:
        yield theirs
    finally:
        transport.close()
        await reader.ended.wait()


def _kill(process: asyncio.subprocess.Process, *, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        if group and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
