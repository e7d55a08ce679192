"""What a leader election is told: which Lease, and for how long; and how it ends where nobody asked it to.

https://kubernetes.io/docs/concepts/architecture/leases/
"""

from __future__ import annotations

import msgspec

from setpoint.api.paths import is_segment

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
        for what, text in (("name", self.name), ("namespace", self.namespace)):
            if not is_segment(text):
                raise ValueError(f"{text!r} is no {what} of a Lease")
        if self.lease_duration != int(self.lease_duration):
            raise ValueError(f"lease_duration is {self.lease_duration} s, but a Lease counts whole seconds")
        msgspec.structs.force_setattr(self, "lease_duration", int(self.lease_duration))  # 15.0 is no number that a Lease takes
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
