"""The words of a leader election: what a Lease says, where a candidate stands, what it does, and what can happen to it.

What follows from what is in `election_rules`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from setpoint.manager.election.settings import LeaderElection


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
