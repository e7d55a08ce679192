"""The classes of faults: what each is called, and in which order what is found is told."""

from __future__ import annotations

NAMES = {
    "F0": "no fault",
    "F1": "crash at a write",
    "F2": "write failed",
    "F3": "reply lost",
    "F4": "conflict",
    "F5": "cache lag",
    "F6": "old list after a restart",
    "F7": "delay between kinds",
    "F8": "intermediate state unseen",
    "F9": "watch gap",
    "F11": "run once more",
    "F12": "timer lost",
    "F13": "change while down",
    "F14": "recreated",
    "F15": "two leaders",
    "F16": "partial caches",
    "F17": "clock off",
    "F18": "deletion and finalizers",
    "F19": "foreign writer",
    "F20": "outside failed",
    "F21": "order of events",
    "F22": "order of lists",
}
"""By class. F10, an event lost for good, is F9 to a controller that does not list anew."""

RANK = {
    fault: rank for rank, fault in enumerate(["F0", "F1", "F3", "F13", "F5", "F8", "F4", "F2", "F9", "F20", "F12", "F11", "F19", "F18"])
}


def rank(fault: str) -> int:
    """Lower is told first: what happens to everybody before what needs assumptions."""
    return RANK.get(fault, len(RANK))
