"""Recordings: all that was seen of one run, for oracles, plans and reports. Nothing in it refers to what ran."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any, Literal, TypeAlias

import msgspec

from setpoint.levelcheck.plan import Plan, Site


class Key(msgspec.Struct, frozen=True, order=True):
    """An object on the server: its resource as kubectl names it (`deployments.apps`), its namespace (or ""), its name."""

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.resource} {self.namespace}/{self.name}" if self.namespace else f"{self.resource} {self.name}"


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened. `at` is in simulated seconds; `process` is whose it was: "p1", "p2", "environment", "user", "server"."""

    at: float
    process: str


class Stepped(Moment, frozen=True, kw_only=True):
    """The user did a step; `error` is what the server said against it, or empty."""

    index: int
    step: str
    error: str = ""
    key: Key | None = None
    """The object that it is about, if it is about one."""


class Changed(Moment, frozen=True, kw_only=True):
    """The server has a new revision. `before` is None for a creation; where `deleted`, `after` is the last state. Both are JSON."""

    revision: int
    key: Key
    before: bytes | None
    after: bytes
    deleted: bool = False


class Wrote(Moment, frozen=True, kw_only=True):
    """A write by the controller. `revision` is what it made, 0 if it changed nothing; `code` the answer's, 0 where none came.

    `line` is the place in the user's code: `webapp.py:81`. `effective` is false where nothing but bookkeeping changed.
    """

    site: Site
    verb: str
    key: Key
    subresource: str
    code: int
    revision: int
    effective: bool
    line: str
    fault: str = ""
    """The class of the fault that was done to it, or empty."""
    reason: str = ""
    """What the answer says against it, or empty: `Conflict`."""


class Read(Moment, frozen=True, kw_only=True):
    """A run has read. `name` is empty for a list. `seen` is the newest revision that the cache had of the resource, `true` the server's.

    Where both are equal the read was fresh. A `live` read asks the server.
    """

    run: str
    resource: str
    namespace: str
    name: str
    seen: int
    true: int
    live: bool = False
    line: str = ""


class Delivered(Moment, frozen=True, kw_only=True):
    """The cache of a process has taken in a change."""

    key: Key
    type: str
    revision: int


class RunBegan(Moment, frozen=True, kw_only=True):
    """A reconciler was called."""

    site: Site
    run: str


class RunEnded(Moment, frozen=True, kw_only=True):
    """It has ended. `result` is success, error, requeue or requeue_after."""

    run: str
    result: str
    error: str = ""


class TimerSet(Moment, frozen=True, kw_only=True):
    """A key will run again in `after` seconds; `cause` is timer, backoff or again."""

    site: Site
    after: float
    cause: str


class Called(Moment, frozen=True, kw_only=True):
    """The controller has called the outside. `arguments` and `result` are told as text."""

    site: Site
    call: str
    arguments: str
    result: str
    error: str = ""
    fault: str = ""
    changed: bool = True
    """Whether the outside is not as it was before, by its `state`; true where it has none."""


class Faulted(Moment, frozen=True, kw_only=True):
    """Something goes wrong now, by a decision of the plan, in words."""

    fault: str
    text: str


class Started(Moment, frozen=True, kw_only=True):
    """A process of the controller has started, with an empty memory."""


class Died(Moment, frozen=True, kw_only=True):
    """A process is no more: crashed by a decision (`error` is empty), or ended by an exception of its own."""

    error: str = ""


class Rested(Moment, frozen=True, kw_only=True):
    """Nothing happens any more. `nth` counts from 1 on."""

    nth: int
    revision: int


class Failed(Moment, frozen=True, kw_only=True):
    """Something went wrong that no fault explains by itself: an exception that nobody awaited, a log record of level ERROR."""

    error: str
    where: str = ""


AnyMoment: TypeAlias = (
    Stepped | Changed | Wrote | Read | Delivered | RunBegan | RunEnded | TimerSet | Called | Faulted | Started | Died | Rested | Failed
)


class Snapshot(msgspec.Struct, frozen=True):
    """How everything was at a rest: the server's objects, the outside, and what controllers would still do by themselves, and remember.

    `moments` counts those of the recording until then. `timers` are the keys that will run again, and why. `memory` is a digest of what the
    user's modules hold; empty where that cannot be told, as where an app holds it.
    """

    nth: int
    moments: int
    at: float
    objects: dict[Key, dict[str, Any]]
    outside: dict[str, Any]
    timers: tuple[str, ...] = ()
    memory: str = ""


class Recording(msgspec.Struct, dict=True):
    """One run. `end` is how it ended: at rest; not resting within the bound, and why; or with an error of the check itself.

    `objects` are those on the server at the end, as JSON; `outside` is what each fake's `state()` gives then. `unused` are the decisions
    whose place never came. `declared_at` is when the user's steps began: what is before that (definitions, namespaces) is no news.
    """

    plan: Plan
    moments: list[AnyMoment]
    objects: dict[Key, dict[str, Any]]
    outside: dict[str, Any]
    end: Literal["rest", "restless", "broken"]
    why: str = ""
    unused: tuple[str, ...] = ()
    began: float = 0.0
    ended: float = 0.0
    runs: int = 0
    steps: int = 0
    """Steps of the event loop, for those who ask what it cost."""
    watched: tuple[str, ...] = ()
    """The resources that the controllers watch."""
    raw: tuple[str, ...] = ()
    """Those that they watch without the cache."""
    violated: tuple[str, ...] = ()
    """What an invariant said, the first time that each did, with the revision."""
    rests: tuple[Snapshot, ...] = ()
    primaries: dict[str, str] = {}
    """By controller, the resource that its keys are of."""
    joined: int = 0
    """The rest at which this run was found to go on as the run without faults, and was ended; 0 for a run that was run to its end."""

    @cached_property
    def changes(self) -> list[Changed]:
        """What changed on the server since the user's first step, in order."""
        return [moment for moment in self.moments if isinstance(moment, Changed) and moment.at >= self.began]

    @cached_property
    def writes(self) -> list[Wrote]:
        """What the controllers wrote."""
        return [moment for moment in self.moments if isinstance(moment, Wrote)]

    @cached_property
    def calls(self) -> list[Called]:
        """What they called outside."""
        return [moment for moment in self.moments if isinstance(moment, Called)]

    @cached_property
    def last_fault(self) -> float:
        """When the last decision was taken, or the last step of the user done."""
        return max((moment.at for moment in self.moments if isinstance(moment, Faulted | Stepped | Started)), default=0.0)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds that the controllers reconcile, as manifests name them."""
        primaries = set(self.primaries.values())
        return frozenset(obj["kind"] for each in self.rests for key, obj in each.objects.items() if key.resource in primaries)

    @property
    def last_step(self) -> float:
        """When the user did the last step."""
        return max((moment.at for moment in self.moments if isinstance(moment, Stepped)), default=0.0)

    def until(self, nth: int) -> Recording:
        """The recording of a run that ended at this rest."""
        snapshot = next(each for each in self.rests if each.nth == nth)
        return msgspec.structs.replace(
            self,
            moments=self.moments[: snapshot.moments],
            objects=snapshot.objects,
            outside=snapshot.outside,
            ended=snapshot.at,
            end="rest",
            why="",
            rests=tuple(each for each in self.rests if each.nth <= nth),
        )

    @property
    def digest(self) -> str:
        """Equal for equal runs: all that happened, in order, and what was left."""
        taken = hashlib.sha256()
        for moment in self.moments:
            taken.update(repr(moment).encode())
        taken.update(repr(sorted(self.objects.items())).encode())
        taken.update(repr(self.outside).encode())
        return taken.hexdigest()[:16]


def essence(value: bytes) -> dict[str, Any]:
    """An object, from JSON, without the server's bookkeeping."""
    obj: dict[str, Any] = msgspec.json.decode(value)
    metadata = obj.get("metadata", {})
    for name in ("managedFields", "resourceVersion", "generation"):
        metadata.pop(name, None)
    return obj
