"""Leader election by Lease, as a state machine: of several processes, one at most may write.

The Lease is an object that all candidates know. Whoever holds it writes its own name into it, and the time, again and again; every write
names the version that it was decided on, so of two writers one fails. Nobody compares clocks across machines: a candidate takes the Lease
once it has seen it unchanged, by its own steady clock, for as long as the Lease says that it lasts.

    Standby    watches the Lease, and respects whoever holds it
    Acquiring  has written its name into a Lease that is free or has run out, and waits for the answer
    Leading    renews the Lease. Counted from when the last renewal that succeeded was *sent*, it gives up after `renew_deadline`, so before
               anybody can take the Lease, which is no earlier than `lease_duration` after that
    Releasing  all work has ended: takes its name out of the Lease, so that another need not wait
    Released   the end that was asked for
    Lost       the end that was not

Everything here is a pure function of a state, an input and the time; `elector` carries it out. The fields mean what they mean to client-go,
so both can stand in one election.

https://kubernetes.io/docs/concepts/architecture/leases/
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import msgspec

JITTER = 1.2
"""A failed try is repeated after `retry_period`, and up to so many times that more."""


class LeaderElection(msgspec.Struct, frozen=True, kw_only=True):
    """Which Lease is held, and for how long; the defaults are controller-runtime's. Times are seconds.

    `name` and `namespace` are the Lease's, and the same for all replicas of one program, and for nothing else. `identity` is this
    process's name in it; by default the machine's name and a UUID, which is best.

    Raises `ValueError` for times with which nobody could be sure of anything.
    """

    name: str
    namespace: str
    lease_duration: int = 15
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    identity: str = ""

    def __post_init__(self) -> None:
        if not self.name or not self.namespace:
            raise ValueError("leader election needs the name and the namespace of a Lease, which all replicas share")
        if self.lease_duration != int(self.lease_duration):
            raise ValueError(f"lease_duration is {self.lease_duration} s, but a Lease counts whole seconds")
        if not self.lease_duration > self.renew_deadline:
            raise ValueError(f"lease_duration ({self.lease_duration} s) must be longer than renew_deadline ({self.renew_deadline} s)")
        if not self.renew_deadline > JITTER * self.retry_period > 0:
            raise ValueError(
                f"renew_deadline ({self.renew_deadline} s) must be longer than {JITTER} times retry_period ({self.retry_period} s), "
                "which must be positive"
            )

    @property
    def lease(self) -> str:
        """The Lease, for people: `namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def request_timeout(self) -> float:
        """The seconds that one request may take, so that there is time for another one before the deadline."""
        return self.renew_deadline / 2


class LeadershipLost(RuntimeError):
    """This process may not write any more, though nobody asked it to stop. It ends; started anew, it is a candidate again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a Lease said at one version. `renewed` is the holder's own clock: it tells two renewals apart, and is compared with nothing."""

    version: str
    holder: str = ""
    seconds: float = 0.0
    renewed: str = ""
    transitions: int = 0

    def is_renewal_of(self, other: Record | None) -> bool:
        """Whether the holder has given a sign of life since, or is another one."""
        return other is None or (self.holder, self.renewed, self.transitions) != (other.holder, other.renewed, other.transitions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Who runs for which Lease. `jitter` makes of a number of seconds one between that and `1 + JITTER` times that."""

    election: LeaderElection
    identity: str
    jitter: Callable[[float], float]

    def retry(self, since: float) -> float:
        """When what was tried `since` is tried again."""
        return since + self.jitter(self.election.retry_period)


# States


@dataclass(frozen=True, slots=True, kw_only=True)
class Standby:
    """Waits for the Lease.

    It is read at `read_at`, and watched from then on, when `read_at` is None. `seen` is the last that was seen of it, `version` what a try
    has to name ("" where there is no Lease). A holder is respected until `respected`. `unsure` says that a try of ours may have succeeded.
    """

    read_at: float | None = -math.inf
    try_at: float = -math.inf
    seen: Record | None = None
    version: str = ""
    respected: float = -math.inf
    unsure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquiring:
    """Has asked for the Lease."""

    standby: Standby


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """Holds the Lease, by a write that was sent at `renewed`. `version` is what to renew, None if it has to be read first."""

    version: str | None
    renewed: float
    try_at: float
    trouble: str = ""

    def deadline(self, election: LeaderElection) -> float:
        """When it ends unless it is renewed: by then nobody else can have got the Lease."""
        return self.renewed + election.renew_deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Releasing:
    """Gives the Lease back, if that can be done before `until`."""

    version: str | None
    until: float
    try_at: float = -math.inf
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Released:
    """Does not hold the Lease any more, or will not when it runs out; then `trouble` says why it could not be given back."""

    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """Has lost the Lease, or cannot be sure that it still has it."""

    reason: str


State: TypeAlias = Standby | Acquiring | Leading | Releasing | Released | Lost

# What is to be done


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing, until then."""

    until: float


@dataclass(frozen=True, slots=True)
class Read:
    """Read the Lease; at `by` at the latest the answer is of no use any more."""

    by: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Write the Lease as it is at `version`, or create it if that is "". `transitions` of None leaves them as they are."""

    version: str
    holder: str
    seconds: int
    transitions: int | None = None
    acquires: bool = False
    by: float = math.inf


Do: TypeAlias = Wait | Read | Write

# Inputs. `since` is when that which came to this end was begun.


@dataclass(frozen=True, slots=True)
class Seen:
    """The Lease as it was just read, or as a watch gave it; None where there is none."""

    record: Record | None


@dataclass(frozen=True, slots=True)
class Unseen:
    """It could not be read, or the watch has ended."""

    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class Granted:
    """The write was done, and gave the Lease this version."""

    since: float
    version: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The write was not done: the Lease had another version."""

    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The write was not done, for another reason."""

    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The write may have been done."""

    since: float
    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """All work has ended, and the end is asked for."""


Input: TypeAlias = Seen | Unseen | Granted | Refused | Failed | Unknown | Stop


def decide(state: State, now: float, rules: Rules) -> tuple[State, Do]:
    """What time alone makes of a state, and what is to be done then."""
    election = rules.election
    match state:
        case Standby(read_at=None) if now >= max(state.respected, state.try_at):
            return Acquiring(standby=state), _taking(state, rules)
        case Standby(read_at=None):
            return state, Wait(max(state.respected, state.try_at))
        case Standby(read_at=float(at)):
            return state, Read() if now >= at else Wait(at)
        case Leading():
            deadline = state.deadline(election)
            if now >= deadline:
                why = f" ({state.trouble})" if state.trouble else ""
                return Lost(f"it was not renewed for {election.renew_deadline:g} s{why}"), Wait(now)
            if now < state.try_at:
                return state, Wait(min(state.try_at, deadline))
            if state.version is None:
                return state, Read(deadline)
            created = 0 if state.version == "" else None  # somebody has deleted it meanwhile
            return state, Write(
                version=state.version,
                holder=rules.identity,
                seconds=election.lease_duration,
                transitions=created,
                acquires=created is not None,
                by=deadline,
            )
        case Releasing():
            if now >= state.until:
                return Released(state.trouble or "there was no time left"), Wait(now)
            if now < state.try_at:
                return state, Wait(min(state.try_at, state.until))
            if state.version is None:
                return state, Read(state.until)
            # The fields that client-go writes then: the next one need not wait, whatever it makes of an empty name.
            return state, Write(version=state.version, holder="", seconds=1, acquires=True, by=state.until)
        case _:
            return state, Wait(now)


def step(state: State, given: Input, now: float, rules: Rules) -> State:
    """What an input makes of a state."""
    match state:
        case Standby():
            return _standby(state, given, now, rules)
        case Acquiring():
            return _acquiring(state.standby, given, now, rules)
        case Leading():
            return _leading(state, given, now, rules)
        case Releasing():
            return _releasing(state, given, now, rules)
        case _:
            return state  # it is over


def _taking(state: Standby, rules: Rules) -> Write:
    seen = state.seen
    mine = seen is not None and seen.holder == rules.identity and state.version != ""
    transitions = None if mine else 0 if seen is None or not state.version else seen.transitions + 1
    return Write(
        version=state.version,
        holder=rules.identity,
        seconds=rules.election.lease_duration,
        transitions=transitions,
        acquires=not mine,
    )


def _standby(state: Standby, given: Input, now: float, rules: Rules) -> State:
    match given:
        case Seen(None):
            # Deleted. Who held it may not know yet, and will create it again: that one is still respected.
            return replace(state, read_at=None, version="")
        case Seen(Record() as record):
            respected = state.respected
            if record.holder in ("", rules.identity):
                respected = -math.inf
            elif record.is_renewal_of(state.seen):
                respected = now + (record.seconds or rules.election.lease_duration)
            return replace(state, read_at=None, seen=record, version=record.version, respected=respected)
        case Unseen(since):
            return replace(state, read_at=max(now, rules.retry(since)))
        case Stop():
            if state.unsure:
                return Releasing(version=None, until=now + rules.election.request_timeout)
            return Released()
        case _:
            raise _impossible(state, given)


def _acquiring(standby: Standby, given: Input, now: float, rules: Rules) -> State:
    match given:
        case Granted(since, version):
            return Leading(version=version, renewed=since, try_at=since + rules.election.retry_period)
        case Refused(since):
            # Somebody was quicker, or has renewed it: what do they say? And let them.
            return replace(standby, read_at=now, try_at=rules.retry(since))
        case Failed(since):
            return replace(standby, read_at=max(now, rules.retry(since)))
        case Unknown(since):
            return replace(standby, read_at=max(now, rules.retry(since)), unsure=True)
        case _:
            raise _impossible(Acquiring(standby=standby), given)


def _leading(state: Leading, given: Input, now: float, rules: Rules) -> State:
    retry_period = rules.election.retry_period
    match given:
        case Granted(since, version):
            return Leading(version=version, renewed=since, try_at=since + retry_period)
        case Seen(None):
            return replace(state, version="")
        case Seen(Record(holder=rules.identity, version=version)):
            return replace(state, version=version)
        case Seen(Record(holder=holder)):
            return Lost(f"{holder or 'nobody'} holds it now")
        case Refused(reason=reason):
            return replace(state, version=None, try_at=now, trouble=reason)
        case Failed(since, reason) | Unseen(since, reason):
            return replace(state, try_at=max(now, since + retry_period), trouble=reason)
        case Unknown(since, reason):
            return replace(state, version=None, try_at=max(now, since + retry_period), trouble=reason)
        case _:
            return Releasing(version=state.version, until=state.deadline(rules.election))


def _releasing(state: Releasing, given: Input, now: float, rules: Rules) -> State:
    again = rules.election.retry_period / 4  # somebody waits for us to end
    match given:
        case Granted() | Seen(None):
            return Released()
        case Seen(Record(holder=rules.identity, version=version)):
            return replace(state, version=version)
        case Seen():
            return Released()
        case Refused(reason=reason):
            return replace(state, version=None, try_at=now, trouble=reason)
        case Failed(since, reason) | Unseen(since, reason) | Unknown(since, reason):
            return replace(state, version=None, try_at=max(now, since + again), trouble=reason)
        case _:
            return state


def _impossible(state: State, given: Input) -> AssertionError:
    return AssertionError(f"{type(state).__name__} does nothing that could come to {given}")
