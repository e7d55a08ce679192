"""The kinds of the differential test, in classes: what each class has been asked is counted by itself."""

from . import clusterwide, config, custom, specs, workloads
from .custom import DEFINITIONS
from .kind import Kind

KINDS: tuple[Kind, ...] = tuple(
    kind for kind in (*config.KINDS, *workloads.KINDS, *specs.KINDS, *clusterwide.KINDS, *custom.KINDS) if "settles" not in kind.without
)

SORTS: tuple[str, ...] = tuple(dict.fromkeys(kind.sort for kind in KINDS))

BY_SORT: dict[str, tuple[Kind, ...]] = {sort: tuple(kind for kind in KINDS if kind.sort == sort) for sort in SORTS}

_PLAIN = ("create", "get", "list", "watch", "update", "delete", "deletecollection")


def verbs_of(kind: Kind) -> tuple[str, ...]:
    """The verbs that a kind has, each sort of patch as one of its own."""
    patches = ("json", "merge", "apply") if kind.custom else ("json", "merge", "strategic", "apply")
    verbs = [verb for verb in _PLAIN if verb not in kind.without]
    verbs += [f"patch {patch}" for patch in patches]
    if kind.status:
        verbs += [f"status {verb}" for verb in ("get", "update", *patches)]
    if kind.scale:
        # A real server takes no apply patch for the scale of a custom kind: it answers 500.
        verbs += [f"scale {verb}" for verb in ("get", "update", "json", "merge", *(() if kind.custom else ("apply",)))]
    return tuple(verbs)


PATCHES_OF: dict[str, tuple[str, ...]] = {
    sort: tuple(dict.fromkeys(verb for kind in BY_SORT[sort] for verb in verbs_of(kind))) for sort in SORTS
}
"""The verbs that some kind of a class has."""

__all__ = ["BY_SORT", "DEFINITIONS", "KINDS", "PATCHES_OF", "SORTS", "Kind", "verbs_of"]
