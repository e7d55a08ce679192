"""The reflector: keeps a base in step with the server, for ever.

What to do next is decided by the `Machine`, which only computes; here it is done: requests are sent, streams read, pauses
kept. A failure never ends it: whatever goes wrong becomes an input of the machine, which knows where to go on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

import msgspec

from setpoint.api import Answer, ApiError, Operation, Status, Stream, StreamBroken
from setpoint.cache.entry import parse_version
from setpoint.cache.events import ReflectorState
from setpoint.cache.form import WHOLE, Form
from setpoint.cache.machine import USEFUL_LIFE, Machine
from setpoint.cache.selection import Selection
from setpoint.cache.states import (
    Asking,
    Broke,
    Collecting,
    Effect,
    Ended,
    Failed,
    Frames,
    Input,
    Opened,
    Page,
    Paging,
    Rested,
    Resting,
    Resuming,
    Silent,
    State,
    Watching,
)
from setpoint.objects import KindInfo
from setpoint.world import World

IDLE_LIMIT = 90.0
"""Seconds without a word after which a watch is given up: servers send a bookmark about every minute."""
LIST_LIMIT = 15.0
"""Seconds without a word after which a server that does not end a streaming list is asked for pages instead."""
WATCH_TIME = (300.0, 600.0)
"""Between so many seconds the server is asked to end a watch, so that watches spread over the servers there are."""

_log = logging.getLogger("setpoint.cache")


class Server(Protocol):
    """What the reflector needs of a connection: `setpoint.client.Connection` is one."""

    @property
    def world(self) -> World:
        """Clock, chance and observer."""
        ...

    async def call(self, operation: Operation) -> Answer:
        """The answer; raises `ApiError` where it is a failure or does not come."""
        ...

    async def watch(self, operation: Operation) -> Stream:
        """The stream; raises likewise."""
        ...


class Reflector:
    """One kind, one selection, one form. `take` gets what follows for the base, in order."""

    def __init__(
        self, server: Server, info: KindInfo, selection: Selection, take: Callable[[list[Effect]], None], form: Form = WHOLE
    ) -> None:
        self._server = server
        self._world = server.world
        self._info = info
        self._selection = selection
        self._take = take
        self._form = form
        self._machine = Machine(info, lambda seconds: self._world.chance.uniform(0.5, 1.0) * seconds, form)
        self._opened = 0.0
        self._warned = ""
        self._said = ""
        self.idle_limit = IDLE_LIMIT
        self._heard: float | None = None

    @property
    def state(self) -> State:
        """Where it is; `state.name` is a word for people."""
        return self._machine.state

    @property
    def reason(self) -> str:
        """Why it is there, as a sentence; empty where nothing went wrong."""
        return self._machine.reason

    @property
    def last_contact(self) -> float | None:
        """The world's monotonic time when the server was last heard to any use; None before the first time.

        An accepted watch is of use once it has lasted for a while: a server may accept it and end it at once, again and again.
        """
        watching = isinstance(self._machine.state, Watching)
        if watching and self._world.clock.monotonic() - self._opened >= USEFUL_LIFE:
            return self._opened if self._heard is None else max(self._heard, self._opened)
        return self._heard

    async def run(self) -> None:
        """Runs until it is cancelled."""
        stream: Stream | None = None
        try:
            while True:
                input: Input
                match self._machine.state:
                    case Resting(seconds=seconds):
                        await asyncio.sleep(seconds)
                        input = Rested()
                    case (Asking() | Resuming()) as state:
                        stream, input = await self._open(state)
                    case Paging() as state:
                        input = await self._page(state)
                    case (Collecting() | Watching()) as state:
                        assert stream is not None, "there is a stream exactly in these two states"
                        input = await self._read(state, stream)
                self._step(input)
                if stream is not None and not isinstance(self._machine.state, Collecting | Watching):
                    await _closed(stream)
                    stream = None
        finally:
            if stream is not None:
                await _closed(stream)

    def _step(self, input: Input) -> None:
        self._heard = self.last_contact
        try:
            effects = self._machine.step(input)
            if effects:
                self._take(effects)
        except Exception as error:
            # A mistake of ours. What the base holds now is not to be relied on; a complete list replaces it.
            _log.exception("the cache of %s failed, and lists everything anew", self._called())
            self._machine.restart(f"the cache failed: {type(error).__name__}: {error}")
        if isinstance(input, Page | Frames | Ended) and not isinstance(self._machine.state, Resting):
            self._heard = self._world.clock.monotonic()
        self._say()

    def _say(self) -> None:
        """Tells the observer of each new state, and the log of each new trouble."""
        name, reason = self._machine.state.name, self._machine.reason
        if name == self._said and not reason:
            return
        if name != self._said and self._world.observer.heard:
            event = ReflectorState(kind=self._info.group_version_kind, selector=str(self._selection), state=name, reason=reason)
            self._world.observer.emit(event)
        if reason and isinstance(self._machine.state, Resting):
            # A trouble that lasts is a warning once; whoever waits for it to end is told of that by others, and readiness tells it, too.
            level = logging.INFO if reason == self._warned else logging.WARNING
            _log.log(level, "watching %s: %s; trying again in %.1f s", self._called(), reason, self._machine.state.seconds)
            self._warned = reason
        elif isinstance(self._machine.state, Watching):
            self._warned = ""
        self._said = name

    def _called(self) -> str:
        selection = str(self._selection)
        return f"{self._info.plural} ({selection})" if selection else self._info.plural

    # what the states ask for

    async def _open(self, state: Asking | Resuming) -> tuple[Stream | None, Input]:
        options = self._selection.options()
        options["allowWatchBookmarks"] = "true"
        options["timeoutSeconds"] = str(round(self._world.chance.uniform(*WATCH_TIME)))
        match state:
            case Asking():
                # No resourceVersion: the server answers with what is true now, not with what some replica of it remembers.
                options["sendInitialEvents"] = "true"
                options["resourceVersionMatch"] = "NotOlderThan"
            case Resuming(version):
                options["resourceVersion"] = str(version)
        try:
            stream = await self._server.watch(self._operation("watch", options))
        except Exception as error:
            return None, self._failed(error)
        self._opened = self._world.clock.monotonic()
        return stream, Opened()

    async def _page(self, state: Paging) -> Input:
        options = self._selection.options()
        if state.limit:
            options["limit"] = str(state.limit)
        if state.continue_:
            options["continue"] = state.continue_
        try:
            answer = await self._server.call(self._operation("list", options))
            return read_page(answer.body)
        except Exception as error:
            return self._failed(error)

    async def _read(self, state: Collecting | Watching, stream: Stream) -> Input:
        limit = min(LIST_LIMIT, self.idle_limit) if isinstance(state, Collecting) else self.idle_limit
        try:
            async with asyncio.timeout(limit):
                lines = await stream.read()
        except TimeoutError:
            return Silent(limit)
        except StreamBroken as error:
            return Broke(str(error) or "the connection was lost")
        except Exception as error:
            _log.exception("reading a watch of %s failed", self._called())
            return Broke(f"{type(error).__name__}: {error}")
        if lines is None:
            return Ended(self._world.clock.monotonic() - self._opened)
        return Frames(lines)

    def _operation(self, verb: str, options: dict[str, str]) -> Operation:
        return Operation(
            verb="watch" if verb == "watch" else "list",
            resource=self._info.group_version_resource,
            namespace=self._selection.namespace,
            options=options,
            accept=self._form.accept(listing=verb == "list"),
        )

    def _failed(self, error: Exception) -> Failed:
        if isinstance(error, ApiError):
            return Failed(error)
        _log.error("asking for %s failed", self._called(), exc_info=error)
        return Failed(ApiError(Status(message=f"{type(error).__name__}: {error}")))


class _ListMeta(msgspec.Struct, rename={"resource_version": "resourceVersion", "continue_": "continue"}):
    resource_version: str = ""
    continue_: str = ""


class _List(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None  # stated by every list: what has none is another document, and must not pass for an empty list


_decode_list = msgspec.json.Decoder(_List).decode


def read_page(body: bytes) -> Page:
    """A list's answer. Raises `msgspec.MsgspecError` if it is none."""
    page = _decode_list(body)
    # Each item is a copy, since a slice would keep the whole answer alive.
    return Page([bytes(item) for item in page.items or ()], parse_version(page.metadata.resource_version), page.metadata.continue_)


async def _closed(stream: Stream) -> None:
    """Closes a stream of which nothing more is expected."""
    try:
        await stream.close()
    except Exception:
        _log.exception("closing a watch failed")
