"""`Wire`: a process's way to the server, and all that a real one may do to what goes over it."""

from __future__ import annotations

import asyncio
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import msgspec

import setpoint
from setpoint.api import Answer, NotSent, Operation, Outcome, Stream, Unknown
from setpoint.api.operation import APPLY_PATCH
from setpoint.api.status import expired, failure
from setpoint.client import InProcessTransport
from setpoint.cluster.faults import Refuse
from setpoint.levelcheck.plan import Decision
from setpoint.levelcheck.processes.users_line import USERS_LINE
from setpoint.levelcheck.recording import Key, Read, Wrote
from setpoint.levelcheck.run.lines import Hold, Line
from setpoint.world import PROCESS

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution

_OURS = (str(Path(setpoint.__file__).parent), sysconfig.get_paths()["stdlib"], "<frozen")
LATENCY = 0.001
"""Seconds that a request is under way; a seed makes it vary."""
BOOKKEEPING = ("events", "events.events.k8s.io", "leases.coordination.k8s.io")
"""Resources whose writes are no places for faults, and whose changes keep nothing from coming to rest."""


class Wire:
    """A `Transport` of one process. Whatever has left it happens, even if the process dies meanwhile."""

    def __init__(self, run: Execution, process: str) -> None:
        self.run = run
        self.process = process
        self.holds: dict[str, Hold] = {}
        self.expired: Counter[str] = Counter()
        """How many of the next watches of a resource are told that their version is too old."""
        self.old: dict[str, int] = {}
        """Of which revision the next list of a resource is."""
        self.behind: dict[str, int] = {}
        """The revision up to which the process knows a resource whose watch has broken, until the next watch brings something."""
        self.reversed_lists = False
        self.watched: dict[str, None] = {}
        """The resources of which a watch was opened."""
        self._failing: dict[str, tuple[Decision, int]] = {}
        self._lines: dict[Line, str] = {}
        self._given_up: dict[str, None] = {}
        """The resources of which a watch fell silent, was closed, and is not open again."""
        self._cut = False
        self._inner = InProcessTransport(run.plane.server.handle)

    async def send(self, operation: Operation, /) -> Outcome:
        """See `Transport`."""
        if self._cut:
            return NotSent("the connection is closed")
        if operation.verb == "watch":
            return await self._watch(operation)
        own = operation.resource is not None and operation.resource.group_resource in BOOKKEEPING
        if operation.is_write and not own and not PROCESS.get().endswith("/election"):
            return await self.run.apart(self._write(operation, users_line()))
        if not operation.is_write:
            return await self.run.apart(self._read(operation, users_line()))
        return await self.run.apart(self._send(operation))

    async def close(self) -> None:
        """See `Transport`."""
        self.cut()

    def cut(self) -> None:
        """The process is no more: its watches end, and nothing goes either way."""
        self._cut = True
        for line in list(self._lines):
            self.run.spawn(line.close())

    # watches

    def hold(self, resource: str, hold: Hold) -> None:
        """From now on nothing of the resource reaches the process, until the hold is released."""
        if resource not in self.holds:
            self.holds[resource] = hold

    def release(self, resource: str) -> None:
        """Lets through what was held."""
        hold = self.holds.pop(resource, None)
        if hold is not None:
            hold.released.set()

    @property
    def is_silent(self) -> bool:
        """Whether the process has a watch by which nothing comes any more, or has given one up and not opened another yet."""
        return bool(self._given_up) or any(line.silent for line in self._lines)

    def process_wrote(self, key: Key) -> list[str]:
        """The process has changed an object on the server; gives the resources whose news it should not be without any longer."""
        for line in self._lines:
            line.process_wrote()
        return [resource for resource, hold in self.holds.items() if hold.process_wrote(key)]

    def beside(self, line: Line, resource: str) -> list[Line]:
        """The other watches of a resource that the process has."""
        return [each for each, of in self._lines.items() if of == resource and each is not line]

    def forget(self, line: Line) -> None:
        """A watch is closed."""
        resource = self._lines.pop(line, None)
        if line.silent and resource is not None and not self._cut:
            self._given_up[resource] = None
            if line.is_behind:
                self.behind[resource] = line.is_behind - 1

    def seen(self, resource: str) -> int:
        """The newest revision of a resource that has reached the process."""
        newest = self.run.newest.get(resource, 0)
        hold = self.holds.get(resource)
        if hold is not None and hold.revision:
            newest = min(newest, hold.revision)
        behind = [first for line, of in self._lines.items() if of == resource and (first := line.is_behind)]
        return min([newest, *(first - 1 for first in behind), *(self.behind[each] for each in self.behind if each == resource)])

    @property
    def is_behind(self) -> bool:
        """Whether anything that has happened has not reached the process."""
        return bool(self.holds or self.behind) or self.is_silent

    async def _watch(self, operation: Operation) -> Outcome:
        resource = _resource(operation)
        options = operation.options
        if "sendInitialEvents" in options and resource in self.old:
            return failure(
                422, "Invalid", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            ).status.answer()
        if "sendInitialEvents" not in options and self.expired[resource] > 0:
            self.expired[resource] -= 1
            return expired("too old resource version").status.answer()
        outcome = await self._send(operation)
        if isinstance(outcome, Answer | NotSent | Unknown):
            return outcome
        return self._kept(outcome, resource, listed="sendInitialEvents" not in options)

    def _kept(self, stream: Any, resource: str, *, listed: bool) -> Stream:
        self.watched[resource] = None
        self._given_up.pop(resource, None)
        line = Line(self, resource, stream, listed=listed)
        self._lines[line] = resource
        return line

    # reads

    async def _read(self, operation: Operation, line: str) -> Outcome:
        resource = _resource(operation)
        if operation.verb == "list" and resource in self.old:
            revision = self.old.pop(resource)
            options = {name: value for name, value in operation.options.items() if name not in ("limit", "continue")}
            options |= {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
            operation = msgspec.structs.replace(operation, options=options)
            self.hold(resource, Hold("run", revision=revision))
        outcome = await self._send(operation)
        if operation.run and operation.resource is not None:
            true = self.run.newest.get(resource, 0)
            self.run.tell(
                Read(
                    at=self.run.now,
                    process=self.process,
                    run=operation.run,
                    resource=resource,
                    namespace=operation.namespace,
                    name=operation.name,
                    seen=true,
                    true=true,
                    live=True,
                    line=line,
                )
            )
        if self.reversed_lists and operation.verb == "list" and isinstance(outcome, Answer) and outcome.ok:
            return _backwards(outcome)
        return outcome

    # writes

    async def _write(self, operation: Operation, line: str) -> Outcome:
        run = self.run
        operation_key = _key_of(operation)
        what = f"{_verb_of(operation)} {operation_key}{f' ({operation.subresource})' if operation.subresource else ''}"
        site = run.sites.site("write", operation.run, what)
        after: list[Decision] = []
        fault = ""

        def wrote(outcome: Outcome | None, revision: int, key: Key) -> None:
            code = outcome.status if isinstance(outcome, Answer) else 0
            run.tell(
                Wrote(
                    at=run.now,
                    process=self.process,
                    site=site,
                    verb=_verb_of(operation),
                    key=key,
                    subresource=operation.subresource,
                    code=code,
                    revision=revision,
                    effective=bool(revision) and run.was_effective(revision),
                    line=line,
                    fault=fault,
                    reason=_reason(outcome),
                )
            )

        for decision in run.decide(site, self.process):
            match decision.fault, decision.how:
                case (("F1" | "F6"), "before"):
                    run.programs.crash(self.process, decision)
                    return Unknown("the process is no more")
                case "F2", _:
                    self._failing[what] = (decision, decision.times)
                case "F4", _:
                    await run.foreign.touch(operation_key)
                case (("F18" | "F19"), how):
                    await run.foreign.do(how, decision.object)
                case "F15", _:
                    await run.programs.until_another_leads(self.process)
                case (("F1" | "F3" | "F6"), _):
                    after.append(decision)
                case _:
                    raise ValueError(f"{decision}: this cannot happen to a write")
        if what in self._failing:
            decision, left = self._failing.pop(what)
            if left > 1:
                self._failing[what] = (decision, left - 1)
            fault = "F2"
            refused = Refuse(int(decision.how or 500)).answer(operation)
            wrote(refused, 0, operation_key)
            return refused
        fault = after[0].fault if after else ""
        await asyncio.sleep(run.latency())
        before = run.plane.server.storage.revision
        with run.acting(self.process):
            outcome = await self._inner.send(operation)
        revision, key = run.made_since(before, operation_key)
        wrote(outcome, revision, key)
        for decision in after:
            if decision.fault == "F3":
                return Unknown("no answer came: the connection was lost")
            run.programs.crash(self.process, decision)
            return Unknown("the process is no more")
        return outcome

    async def _send(self, operation: Operation) -> Outcome:
        await asyncio.sleep(self.run.latency())
        return await self._inner.send(operation)


def _resource(operation: Operation) -> str:
    return operation.resource.group_resource if operation.resource is not None else operation.path


def _name_in(operation: Operation) -> str:
    """The name that a create gives, or the beginning of the one that the server will make, with a star."""
    metadata: dict[str, Any] = msgspec.json.decode(operation.body).get("metadata") or {}
    return metadata.get("name") or f"{metadata.get('generateName', '')}*"


def _key_of(operation: Operation) -> Key:
    name = operation.name or (_name_in(operation) if operation.verb == "create" else "*")
    return Key(_resource(operation), operation.namespace, name)


def _verb_of(operation: Operation) -> str:
    """The verb, as a user of the client has it: server-side apply is one of its own."""
    return "apply" if operation.content_type == APPLY_PATCH else operation.verb


def _reason(outcome: Outcome | None) -> str:
    if not isinstance(outcome, Answer) or outcome.ok:
        return ""
    return str(msgspec.json.decode(outcome.body).get("reason", ""))


def _backwards(answer: Answer) -> Answer:
    listing = msgspec.json.decode(answer.body, type=dict[str, msgspec.Raw])
    items = msgspec.json.decode(listing["items"], type=list[msgspec.Raw])
    return msgspec.structs.replace(answer, body=msgspec.json.encode({**listing, "items": items[::-1]}))


def users_line() -> str:
    """The place in the user's own code that has led here, such as `webapp.py:81`; empty where there is none on this stack."""
    if line := USERS_LINE.get():
        return line
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OURS):
            return f"{Path(name).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
