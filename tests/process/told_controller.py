"""A program: the example's controller in a manager, over HTTP, which says what it does and does what it is told.

    python told_controller.py KUBECONFIG MODULE

It prints a line for each run that starts or ends, and for each write of a run when it is about to leave and when it was answered; a line is
out before anything else happens. On standard input it takes orders. `resync` makes every object run once more, for no reason that a
reconciler could see. `kill MOMENT N` is SIGKILL for itself at the N-th

- `between`: write of a run of which another write was answered before, right before it leaves;
- `sent`: write, when it has been handed over and no answer has come;
- `lost`: write, when the server has answered and nothing here knows of it yet;
- `answered`: write, when its answer is known, and nothing has followed from it.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
import sys
from typing import Any

from setpoint.api import Operation, Outcome
from setpoint.client import Connection, HttpTransport, RequestDone, RequestSent, load_config
from setpoint.controller.events import RunEnded, RunStarted
from setpoint.manager import Manager
from setpoint.objects import decode_head
from setpoint.world import Event, real_world

TURNS = 4
"""Turns of the loop that a request which is killed when `sent` gets to leave."""


def say(*words: object) -> None:
    """A line on standard output, which outlives the process."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Killer:
    """Knows at which moment the process is to die. Nothing of it outlives that moment: no `finally`, no buffer, no goodbye."""

    def __init__(self) -> None:
        self._moment = ""
        self._left = 0

    def order(self, moment: str, number: str) -> None:
        """When to kill."""
        self._moment, self._left = moment, int(number)

    def at(self, moment: str) -> bool:
        """Whether this is that moment; counts those before it."""
        if moment != self._moment:
            return False
        self._left -= 1
        return self._left == 0

    def kill(self, moment: str) -> None:
        """Ends it."""
        say("killed", moment)
        os.kill(os.getpid(), signal.SIGKILL)


class Deadly:
    """A transport that may not live to see the answer."""

    def __init__(self, transport: HttpTransport, killer: Killer) -> None:
        self._transport = transport
        self._killer = killer

    async def send(self, operation: Operation, /) -> Outcome:
        """As the transport under it."""
        if not (operation.is_write and operation.run):
            return await self._transport.send(operation)
        if self._killer.at("sent"):
            sending = asyncio.ensure_future(self._transport.send(operation))
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if not sending.done():
                self._killer.kill("sent")
            return await sending
        outcome = await self._transport.send(operation)
        if self._killer.at("lost"):
            self._killer.kill("lost")
        return outcome

    async def close(self) -> None:
        """As the transport under it."""
        await self._transport.close()


class Trace:
    """Says what runs do, and kills at two of the moments."""

    def __init__(self, killer: Killer) -> None:
        self._killer = killer
        self._written: dict[str, int] = {}

    def hear(self, event: Event) -> None:
        """An event of the observer."""
        if isinstance(event, RunStarted):
            self._written[event.run] = 0
            say("run", event.run)
        elif isinstance(event, RunEnded):
            say("end", event.run, event.result)
        elif isinstance(event, RequestSent) and _writes(event.operation):
            say("write", event.operation.run, "|", event.operation)
            if self._written[event.operation.run] and self._killer.at("between"):
                self._killer.kill("between")
        elif isinstance(event, RequestDone) and _writes(event.operation):
            say("answer", event.operation.run, "|", event.operation, event.code)
            self._written[event.operation.run] += 1
            if self._killer.at("answered"):
                self._killer.kill("answered")


def _writes(operation: Operation) -> bool:
    return operation.is_write and bool(operation.run)


def load(file: str) -> Any:
    """The controller of a file."""
    spec = importlib.util.spec_from_file_location("webapp", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["webapp"] = module
    spec.loader.exec_module(module)
    return module.controller


def obey(order: list[str], manager: Manager, killer: Killer) -> None:
    """Does what it is told."""
    match order:
        case ["kill", moment, number]:
            killer.order(moment, number)
        case ["resync"]:
            for runtime in manager.controllers:
                for data in runtime.informers[0].list():
                    runtime.queue.add(decode_head(data).key, "a forced resync")


async def main(kubeconfig: str, file: str) -> None:
    """Runs until SIGTERM."""
    world, killer, loop = real_world(), Killer(), asyncio.get_running_loop()
    connection = Connection(Deadly(HttpTransport(load_config(kubeconfig), world), killer), world)
    manager = Manager(connection)
    manager.add(load(file))
    world.observer.subscribe(Trace(killer).hear)
    loop.add_reader(0, lambda: obey(sys.stdin.readline().split(), manager, killer))
    loop.add_signal_handler(signal.SIGTERM, manager.stop)
    say("ready")
    await manager.run()
    await connection.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
