"""What the process of a run and a forked one say to each other, strictly by turns: one speaks, and the other waits."""

from __future__ import annotations

import pickle
import socket
import struct
from datetime import timedelta
from typing import Any, Literal

import msgspec

from setpoint.api import Operation
from setpoint.levelcheck.assumptions import Assumptions
from setpoint.levelcheck.processes.target import Target
from setpoint.objects import Request
from setpoint.world import Event


class Begin(msgspec.Struct, frozen=True):
    """Said first: who the child is; `path` is where it finds modules."""

    name: str
    path: tuple[str, ...]
    targets: tuple[Target, ...]
    outside: tuple[str, ...]
    assumptions: Assumptions
    leader_election: bool
    seed: str
    offset: timedelta
    now: float


class Begun(msgspec.Struct, frozen=True):
    """The answer to that."""

    pid: int


class Turn(msgspec.Struct, frozen=True):
    """It is this late, and this has come in: go on until there is nothing to do."""

    now: float
    came: list[Any]


class Answered(msgspec.Struct, frozen=True):
    """Comes in: a request's result, or what it raised."""

    id: int
    value: Any = None
    error: BaseException | None = None


class Triggered(msgspec.Struct, frozen=True):
    """Comes in: a key is to run once more; without one, all keys of all controllers."""

    controller: str = ""
    request: Request | None = None


class Shifted(msgspec.Struct, frozen=True):
    """Comes in: the wall clock is put ahead, or back."""

    by: timedelta


class Query(msgspec.Struct, frozen=True):
    """Asked of a child that waits for its turn: an attribute of its `SimulatedProcess`."""

    what: str


class Idle(msgspec.Struct, frozen=True):
    """There is nothing to do before `due` (None: for ever); `said` is what was said meanwhile, in order."""

    said: list[Any]
    due: float | None
    is_idle: bool


class Heard(msgspec.Struct, frozen=True):
    """Said: an event, and the user's line that it came from."""

    event: Event
    line: str


class Asked(msgspec.Struct, frozen=True):
    """Said: something is to be done, and `Answered` by its number. `process` is the part that asks, such as `p1/election`."""

    id: int
    process: str
    line: str
    what: Any


class Cancelled(msgspec.Struct, frozen=True):
    """Said: nobody waits for that answer any more."""

    id: int


class Ended(msgspec.Struct, frozen=True):
    """Said: the program has ended by itself."""

    error: BaseException | None


class Unhandled(msgspec.Struct, frozen=True):
    """Said: a callback raised."""

    message: str
    error: BaseException | None


class Send(msgspec.Struct, frozen=True):
    """Asked: an operation is to be carried to the server. A stream is answered by `Opened`."""

    operation: Operation


class Opened(msgspec.Struct, frozen=True):
    """A watch was accepted."""

    stream: int


class ReadOn(msgspec.Struct, frozen=True):
    """Asked: the next frames of a stream, or its end."""

    stream: int
    end: bool = False


class Install(msgspec.Struct, frozen=True):
    """Asked: these kinds (module and qualified name) are to be served."""

    kinds: tuple[tuple[str, str], ...]


class Call(msgspec.Struct, frozen=True):
    """Asked: a method of a fake is to be called. The arguments (and what is answered) are `packed`, so that whoever gave them hears of it
    if they cannot be sent.
    """

    fake: str
    method: str
    arguments: bytes


class Now(msgspec.Struct, frozen=True):
    """Asked in the middle of a turn, and answered at once: something of a fake, without anything happening meanwhile."""

    process: str
    fake: str
    name: str
    how: Literal["look", "call", "set"]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}


class Looked(msgspec.Struct, frozen=True):
    """What an attribute of a fake is: a method, of which sort, or a value."""

    sort: Literal["async", "plain", "value"]
    value: Any = None


class Link:
    """One end of a connection. Its other end closed raises `EOFError`."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def send(self, message: Any) -> None:
        """Says something. Raises `EOFError`, and for what cannot be said `TypeError`."""
        data = packed(message)
        try:
            self._socket.sendall(struct.pack("!I", len(data)) + data)
        except OSError as error:
            raise EOFError("the other process is no more") from error

    def receive(self) -> Any:
        """Waits for what is said."""
        (length,) = struct.unpack("!I", self._exactly(4))
        return pickle.loads(self._exactly(length))

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            try:
                piece = self._socket.recv(min(length - len(data), 1 << 20))
            except OSError as error:
                raise EOFError("the other process is no more") from error
            if not piece:
                raise EOFError("the other process is no more")
            data += piece
        return bytes(data)

    def close(self) -> None:
        """The other end hears of it."""
        self._socket.close()


def packed(value: Any) -> bytes:
    """A value as it goes to another process. Raises `TypeError` for what cannot go there."""
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise TypeError(f"{value!r} cannot be sent to another process: {error}") from error


def unpacked(data: bytes) -> Any:
    """The value."""
    return pickle.loads(data)


def sendable(error: BaseException | None) -> BaseException | None:
    """An exception as another process can have it: itself, or one that says the same."""
    if error is None:
        return None
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
