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

from setpoint.manager.election.settings import LeaderElection
from setpoint.manager.election.states import (
    Acquiring,
    Do,
    Failed,
    Granted,
    Input,
    Leading,
    Lost,
    Read,
    Record,
    Refused,
    Released,
    Releasing,
    Seen,
    Standby,
    State,
    Stop,
    Unknown,
    Unseen,
    Wait,
    Write,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Who runs for which Lease. `jitter` makes of a number of seconds one between that and `1 + JITTER` times that."""

    election: LeaderElection
    identity: str
    jitter: Callable[[float], float]

    def retry(self, since: float) -> float:
        """When what was tried `since` is tried again."""
        return since + self.jitter(self.election.retry_period)


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
            respected, try_at = state.respected, state.try_at
            if record.holder in ("", rules.identity):
                respected = -math.inf
                if record.is_renewal_of(state.seen):
                    try_at = -math.inf  # just given back: the pause after a refused try was for another holder's sake
            elif record.is_renewal_of(state.seen):
                respected = now + (record.seconds or rules.election.lease_duration)
            return replace(state, read_at=None, seen=record, version=record.version, respected=respected, try_at=try_at)
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
        case Refused(since, reason):
            # Somebody has touched it, so it is read at once; whoever refuses for ever is not asked without a pause.
            again = since + retry_period if state.trouble else now
            return replace(state, version=None, try_at=max(now, again), trouble=reason)
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
        case Refused(since, reason):
            return replace(state, version=None, try_at=max(now, since + again if state.trouble else now), trouble=reason)
        case Failed(since, reason) | Unseen(since, reason) | Unknown(since, reason):
            return replace(state, version=None, try_at=max(now, since + again), trouble=reason)
        case _:
            return state


def _impossible(state: State, given: Input) -> AssertionError:
    return AssertionError(f"{type(state).__name__} does nothing that could come to {given}")
