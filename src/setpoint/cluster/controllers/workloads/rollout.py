"""How many replicas each ReplicaSet of a Deployment should have next. Pure arithmetic.

https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from setpoint.objects import IntOrString


class Share(msgspec.Struct, frozen=True):
    """One ReplicaSet's part: the replicas that it is asked for, those that there are, and those of them that are available."""

    name: str
    wanted: int
    present: int = 0
    available: int = 0


def rolling(desired: int, surge: int, unavailable: int, new: Share, old: Sequence[Share]) -> dict[str, int]:
    """By ReplicaSet, oldest first: the new one grows as far as `desired + surge` leaves room, the old ones shrink as far as at least
    `desired - unavailable` replicas stay available; those that are not available go first.
    """
    next_up = {new.name: desired if new.wanted >= desired else _grown(desired, surge, new, old)}
    asked = new.wanted + sum(share.wanted for share in old)
    least = desired - unavailable
    left = asked - least - (new.wanted - min(new.available, new.wanted))
    shrunk = {share.name: share.wanted for share in old}
    for share in old:
        cut = max(0, min(share.wanted - share.available, left))
        shrunk[share.name] -= cut
        left -= cut
    spare = new.available + sum(min(share.available, share.wanted) for share in old) - least
    for share in old:
        cut = max(0, min(shrunk[share.name], left, spare))
        shrunk[share.name] -= cut
        left -= cut
        spare -= cut
    return next_up | shrunk


def _grown(desired: int, surge: int, new: Share, old: Sequence[Share]) -> int:
    asked = new.wanted + sum(share.wanted for share in old)
    return min(desired, new.wanted + max(0, desired + surge - asked))


def recreating(desired: int, new: Share, old: Sequence[Share]) -> dict[str, int]:
    """The old ones go, and only when nothing of them is there any more the new one comes."""
    gone = all(share.present == 0 and share.wanted == 0 for share in old)
    return {new.name: desired if gone else new.wanted, **{share.name: 0 for share in old}}


def bounds(desired: int, max_surge: IntOrString | None, max_unavailable: IntOrString | None) -> tuple[int, int]:
    """Surge and unavailability as numbers: percentages of `desired`, the one rounded up, the other down; never both zero."""
    surge = scaled(max_surge, desired, up=True)
    unavailable = min(scaled(max_unavailable, desired, up=False), desired)
    return surge, unavailable if surge or unavailable else 1


def scaled(value: IntOrString | None, total: int, *, up: bool) -> int:
    """A number, or a percentage of a total; 25% where nothing is said."""
    if isinstance(value, int):
        return value
    percent = int((value or "25%").rstrip("%"))
    return -(-percent * total // 100) if up else percent * total // 100
