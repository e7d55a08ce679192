"""A program in a container, over a websocket: its output, its input, and how it ended.

The messages are those of the kubelet's protocol: a byte that names the channel, then the data.
https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/4006-transition-spdy-to-websockets

Nothing is read ahead: a message is taken from the connection when somebody waits for it, so a program that says more than is read is slowed
down as by a full pipe, and nothing runs beside whoever reads.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec

from setpoint.api import Duplex, Operation, Status, StreamBroken
from setpoint.api.status import error_of

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
"""In the order in which they are preferred. Only with the first can the input be ended."""
STDIN, STDOUT, STDERR, STATUS, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
_PIECE = 32 * 1024
_status = msgspec.json.Decoder(Status, strict=False).decode


class Completed(NamedTuple):
    """What a program has said, and its exit code."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class Process:
    """A program in a container, while it is connected. Raises `StreamBroken` from any call once the connection is lost.

    `stdout` and `stderr` are read with `read()`, which gives what there is and `b""` at the end, or by `async for`. With a terminal all
    output comes by `stdout`.
    """

    def __init__(self, duplex: Duplex, operation: Operation) -> None:
        self._duplex = duplex
        self._operation = operation
        self._reading = asyncio.Lock()
        self._parts: dict[int, deque[bytes]] = {STDOUT: deque(), STDERR: deque()}
        self._status: Status | None = None
        self._ended = False
        self.stdout: Output = Output(self, STDOUT)
        self.stderr: Output = Output(self, STDERR)

    async def write(self, data: bytes | str, /) -> None:
        """Sends input, where `stdin=True` was asked for."""
        if "stdin" not in self._operation.options:
            raise ValueError("this program was given no input: ask for it with stdin=True")
        data = data.encode() if isinstance(data, str) else data
        for start in range(0, len(data), _PIECE):
            await self._duplex.send(bytes((STDIN,)) + data[start : start + _PIECE])

    async def close_stdin(self) -> None:
        """Ends the input. Raises `RuntimeError` on a server that knows only the older protocol, which has no word for it."""
        self._can_end_input()
        await self._duplex.send(bytes((CLOSE, STDIN)))

    def _can_end_input(self) -> None:
        if self._duplex.protocol != PROTOCOLS[0]:
            raise RuntimeError(f"the input cannot be ended here: the server speaks {self._duplex.protocol or 'no protocol that says so'}")

    async def resize(self, width: int, height: int) -> None:
        """Tells the program how many characters fit into a line, and how many lines on the terminal."""
        await self._duplex.send(bytes((RESIZE,)) + msgspec.json.encode({"Width": width, "Height": height}))

    async def wait(self) -> int:
        """Waits for the end, and gives the exit code. Output that nobody reads is kept meanwhile.

        Raises the `ApiError` that says why the program could not be run, or is not known to have ended.
        """
        while not self._ended:
            await self._one_more(None)
        return _exit_code(self._status, self._operation)

    async def communicate(self, data: bytes | str = b"", /) -> Completed:
        """Sends all input and ends it, reads all output meanwhile, waits for the end. A program may end without having read its input.

        Raises as `wait` and `close_stdin` do.
        """
        sending: asyncio.Task[None] | None = None
        if "stdin" in self._operation.options:
            self._can_end_input()
            sending = asyncio.create_task(self._send_all(data))
        elif data:
            raise ValueError("this program was given no input: ask for it with stdin=True")
        try:
            code = await self.wait()
        finally:
            if sending is not None:
                sending.cancel()
                await asyncio.wait([sending])
        return Completed(code, await self.stdout.read_all(), await self.stderr.read_all())

    async def _send_all(self, data: bytes | str) -> None:
        try:
            await self.write(data)
            await self.close_stdin()
        except StreamBroken:
            return  # whoever waits for the end hears of it; a program that has ended already wanted no more

    async def close(self) -> None:
        """Ends the connection. What becomes of the program is for its container to say: most are not ended by it."""
        await self._duplex.close()

    async def read(self, channel: int, /) -> bytes:
        """For `Output`: the next piece from a channel, empty at its end."""
        while not (parts := self._parts[channel]):
            if self._ended:
                if self._status is None:
                    raise _lost()
                return b""
            await self._one_more(channel)
        return parts.popleft()

    async def _one_more(self, channel: int | None) -> None:
        """Takes one message from the connection; none, if the one that is waited for has come while somebody else did so."""
        async with self._reading:
            if self._ended or (channel is not None and self._parts[channel]):
                return
            message = await self._duplex.receive()
            if message is None:
                self._ended = True
                raise _lost()
            if message[:1] and message[0] in self._parts and len(message) > 1:
                self._parts[message[0]].append(message[1:])
            elif message[:1] == bytes((STATUS,)) and len(message) > 1:
                self._status = _status_in(message[1:])
                # It is the last word: some servers do not take their leave after it.
                self._ended = True


class Output:
    """One of a program's two outputs."""

    def __init__(self, process: Process, channel: int) -> None:
        self._process = process
        self._channel = channel

    async def read(self) -> bytes:
        """What there is, at least one byte; `b""` at the end."""
        return await self._process.read(self._channel)

    async def read_all(self) -> bytes:
        """All until the end."""
        return b"".join([part async for part in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while part := await self.read():
            yield part


def _lost() -> StreamBroken:
    return StreamBroken("the connection ended before the program was known to have done so")


def _status_in(data: bytes) -> Status:
    try:
        return _status(data)
    except msgspec.DecodeError as error:
        raise StreamBroken(f"how the program ended cannot be read ({error}): {data[:80]!r}") from error


def _exit_code(status: Status | None, operation: Operation) -> int:
    if status is None:
        raise _lost()
    if status.status == "Success":
        return 0
    for cause in status.details.causes if status.details else ():
        if cause.reason == "ExitCode" and cause.message.lstrip("-").isdigit():
            return int(cause.message)
    raise error_of(status, operation)
