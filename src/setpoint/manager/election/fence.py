"""The write fence: no write leaves a process that may not be the leader any more.

It is a comparison with a deadline, made as each write is dispatched, so it holds whatever has stood still meanwhile: the event loop, the
election's thread, or the whole process. The deadline lies before the moment at which another process can get the Lease, by the difference
of `lease_duration` and `renew_deadline`: the time for what is already on its way, and for clocks that run at different speeds.
"""

from __future__ import annotations

import math

from setpoint.world import Clock


class WriteFence:
    """Gives None while writes may leave, else why not. It is closed at first.

    `until` is the steady clock's time at which it closes by itself. The election's thread sets it, any thread reads it.
    """

    def __init__(self, clock: Clock, lease: str) -> None:
        self.until: float = -math.inf
        self._clock = clock
        self._lease = lease
        self._shut = False

    def __call__(self) -> str | None:
        if not self._shut and self._clock.monotonic() < self.until:
            return None
        return f"this process does not lead: it does not hold the lease {self._lease}, or may not hold it any more"

    def shut(self) -> None:
        """Closes it for good."""
        self._shut = True
