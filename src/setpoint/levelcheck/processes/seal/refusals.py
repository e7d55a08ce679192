"""What no simulated process may do: start threads, open sockets, run programs, fork. Each is refused with one sentence.

Python tells of such things by auditing events, however the function came to be called. An auditing hook cannot be taken away again: there
is one for as long as the program runs, and it lets everything pass while no seal is open.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

from setpoint.levelcheck.processes.seal.within import calling, seal

_THREAD = "starts a thread, which would run beside the simulation: use asyncio's tasks, or write the reconciler as a plain `def`"
_SOCKET = "opens a socket, and there is no network in simulated time: give the check a fake of the other side, by outside="
_PROGRAM = "starts another program, and none runs in simulated time: give the check a fake of it, by outside="
_FORK = "forks, and a simulated process cannot: use asyncio's tasks, or write the reconciler as a plain `def`"

_SENTENCES = {
    "_thread.start_new_thread": _THREAD,
    "_thread.start_joinable_thread": _THREAD,
    "socket.__new__": _SOCKET,
    "socket.connect": _SOCKET,
    "socket.bind": _SOCKET,
    "socket.getaddrinfo": _SOCKET,
    "socket.gethostbyname": _SOCKET,
    "subprocess.Popen": _PROGRAM,
    "os.system": _PROGRAM,
    "os.exec": _PROGRAM,
    "os.posix_spawn": _PROGRAM,
    "os.spawn": _PROGRAM,
    "os.startfile": _PROGRAM,
    "os.fork": _FORK,
    "os.forkpty": _FORK,
}


@contextmanager
def refusing() -> Iterator[None]:
    """Refuses all that, as long as a seal is open."""
    _install()
    if sys.version_info >= (3, 12):
        yield
        return
    # Before 3.12, nothing is told of threads.
    real = _thread.start_new_thread

    def start_new_thread(*args: Any, **kwargs: Any) -> int:
        _refuse("_thread.start_new_thread", calling())
        return real(*args, **kwargs)

    places: list[tuple[Any, str]] = [(_thread, "start_new_thread"), (threading, "_start_new_thread")]
    for module, name in places:
        setattr(module, name, start_new_thread)
    try:
        yield
    finally:
        for module, name in places:
            setattr(module, name, real)


@cache
def _install() -> None:
    sys.addaudithook(_hook)


def _hook(event: str, _: tuple[Any, ...]) -> None:
    if event in _SENTENCES:
        _refuse(event, calling())


def _refuse(event: str, frame: FrameType | None) -> None:
    open_seal, what = seal(), _SENTENCES[event]
    if open_seal is not None and not (what is _THREAD and _is_hand_over(frame)):
        raise open_seal.refuse(what, frame)


def _is_hand_over(frame: FrameType | None) -> bool:
    """Whether it is the thread of a plain `def` reconciler, with which the loop hands over."""
    while frame is not None and frame.f_globals.get("__name__") == "threading":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == "setpoint.world.threads"
