"""`ForkServer`: a program that has imported Setpoint, and nothing of the user's, and forks itself when it is asked to."""

from __future__ import annotations

import gc
import importlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import traceback

from setpoint.levelcheck.processes.forked.link import Begin, Begun, Ended, Idle, Link

_CPU_LIMIT = 60.0
"""CPU seconds that a child may take: what takes longer hangs."""

_PREPARED = (
    "setpoint.levelcheck.processes.forked.child",
    "setpoint.levelcheck.run.wire",
    "setpoint.levelcheck.processes.seal",
    "time_machine",
    "setpoint.k8s.apps.v1",
    "setpoint.k8s.batch.v1",
    "setpoint.k8s.core.v1",
)
"""What each child is likely to need."""


class ForkServer:
    """Runs the program while its context is open. Several processes may ask it, such as those of runs that were forked from here."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._program: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ForkServer:
        ours, theirs = socket.socketpair()
        code = f"from {__name__} import serve; serve()"
        self._program = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno()), json.dumps([os.getcwd() if each == "" else each for each in sys.path])],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self._control = ours
        return self

    def __exit__(self, *_: object) -> None:
        if self._control is not None and self._program is not None:
            self._control.close()
            self._program.kill()  # a process that was forked from here may still have the socket, and be about to end
            self._program.wait()

    def fork(self, begin: Begin) -> tuple[Link, int]:
        """A new process: the link to it, and its number. Raises `RuntimeError` where there is none."""
        if self._control is None:
            raise RuntimeError("a ForkServer forks inside its context: with ForkServer() as server: ...")
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [b"f"], [theirs.fileno()])
        link = Link(ours)
        link.send(begin)
        try:
            begun: Begun = link.receive()
        except EOFError as error:
            raise RuntimeError("the program that forks simulated processes is no more") from error
        return link, begun.pid


def serve() -> None:
    """The program."""
    sys.path[:] = json.loads(sys.argv[2])
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a child that was killed
    logging.disable(logging.CRITICAL)
    for name in _PREPARED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    while True:
        _, links, _, _ = socket.recv_fds(control, 1, 1)
        if not links:
            return  # whoever asked is no more
        if os.fork() == 0:
            control.close()
            _be_child(Link(socket.socket(fileno=links[0])))
        os.close(links[0])


def _be_child(link: Link) -> None:
    from setpoint.levelcheck.processes.forked.child import live

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, _CPU_LIMIT)
    code = 1
    try:
        begin: Begin = link.receive()
        link.send(Begun(os.getpid()))
        live(begin, link)
    except EOFError:
        code = 0  # the run is over
    except BaseException:
        link.send(Idle([Ended(RuntimeError(f"the simulated process has failed: {traceback.format_exc()}"))], None, False))
    finally:
        os._exit(code)
