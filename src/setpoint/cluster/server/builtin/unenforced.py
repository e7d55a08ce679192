"""What is judged and kept as on a real server, while nothing of what it asks for happens here: whoever writes it is told so."""

from __future__ import annotations

from collections.abc import Mapping

_ACCESS = "whoever has a token may do everything"

UNENFORCED: Mapping[str, str] = {
    "ClusterRole": _ACCESS,
    "ClusterRoleBinding": _ACCESS,
    "HorizontalPodAutoscaler": "nothing is measured or scaled",
    "LimitRange": "pods get neither defaults nor limits from it",
    "NetworkPolicy": "there is no network between pods",
    "PodDisruptionBudget": "pods cannot be evicted, only deleted",
    "ReplicationController": "it makes no pods",
    "ResourceQuota": "nothing is counted or limited",
    "Role": _ACCESS,
    "RoleBinding": _ACCESS,
}
"""By kind: what that comes to."""


def unenforced(kind: str) -> list[str]:
    """The warning for who writes an object of this kind, if it is one of them."""
    why = UNENFORCED.get(kind)
    return [] if why is None else [f"{kind} is kept but not enforced by the embedded server: {why}"]
