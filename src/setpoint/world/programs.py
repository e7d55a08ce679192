"""Programs: others that are run, for what they print. Simulation has none, and says so."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

MOST = 1 << 20
"""Bytes that a program may print; one that prints more is ended."""


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
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=None if interactive else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if interactive else asyncio.subprocess.PIPE,
            env={**os.environ, **env},
            # A group of its own, so that what it started can be killed with it; one that asks a person needs the terminal's.
            start_new_session=not interactive,
        )
        try:
            async with asyncio.timeout(seconds):
                output, _ = await asyncio.gather(_whole(process.stdout), _lines(process.stderr, heard))
                return Printed(await process.wait(), output)
        except BaseException:
            _kill(process, group=not interactive)
            await process.wait()
            raise


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


async def _whole(stream: asyncio.StreamReader | None) -> bytes:
    parts: list[bytes] = []
    size = 0
    while stream is not None and (part := await stream.read(1 << 16)):
        parts.append(part)
        size += len(part)
        if size > MOST:
            raise ValueError(f"it printed more than {MOST} bytes")
    return b"".join(parts)


async def _lines(stream: asyncio.StreamReader | None, heard: Callable[[str], None]) -> None:
    begun = b""
    while stream is not None and (part := await stream.read(1 << 12)):
        *lines, begun = (begun + part).split(b"\n")
        # A line without an end would be kept for ever.
        if len(begun) > MOST:
            lines, begun = [*lines, begun], b""
        for line in lines:
            heard(line.decode(errors="replace").rstrip())
    if begun:
        heard(begun.decode(errors="replace").rstrip())


def _kill(process: asyncio.subprocess.Process, *, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError):
        if group and hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
