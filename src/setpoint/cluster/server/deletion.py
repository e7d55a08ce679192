"""Deletion: what becomes of an object that somebody deletes. Pure, like `write`.

An object that something holds (a finalizer, a grace period) is marked and stays until it is let go; any other is removed. A policy that
concerns what the object owns is a finalizer too, which the garbage collector lets go of when it has done what it asks for.

https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
https://kubernetes.io/docs/concepts/architecture/garbage-collection/#cascading-deletion
"""

from __future__ import annotations

from datetime import datetime, timedelta

from setpoint.api import GroupVersionResource
from setpoint.api.status import conflict, forbidden
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.metadata import FOREGROUND, ORPHAN
from setpoint.cluster.server.options import DeleteOptions
from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.write import Draft, Object

_FINALIZERS = {"Foreground": FOREGROUND, "Orphan": ORPHAN}
_POLICIES = {finalizer: policy for policy, finalizer in _FINALIZERS.items()}
_DEFAULTS = {"jobs.batch": "Orphan", "replicationcontrollers": "Orphan"}
"""The policy, where nobody says one, of the kinds whose default is older than garbage collection. All others are Background."""
_OWN_NOTHING = ("events", "events.events.k8s.io")
_JOBS_LEAVE_PODS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them "
    "or set propagationPolicy=Orphan to suppress this warning"
)


def delete(kind: ServedKind, name: str, live: Object, options: DeleteOptions, now: str, *, in_collection: bool = False) -> Draft:
    """The live object on its way out: `gone`, marked as terminating, or unchanged if it was marked already and is to go in the same way.

    Raises Conflict for a precondition that fails, and Forbidden for what may not be deleted at all.
    """
    meta, strategy = live["metadata"], kind.strategy
    _check(kind, name, live, options)
    if reason := strategy.deletable(live):
        raise forbidden(kind.resource, name, reason)
    finalizers = _finalizers(kind, meta, options)
    marked = "deletionTimestamp" in meta
    # A real server's deletecollection knows nothing of definitions that are held for what they define.
    if not in_collection and not strategy.ready_to_go(live):
        return Draft(live if marked else _first_marked(kind, live, finalizers, now), live)
    if strategy.graceful and not marked:
        grace = strategy.grace(live, options.grace_seconds)
        return Draft(_marked(kind, live, finalizers, now, grace), live, gone=not finalizers and not grace)
    if left := meta.get("deletionGracePeriodSeconds"):
        asked = options.grace_seconds
        grace = left if asked is None else 1 if asked < 0 else asked
        if grace >= left:
            return Draft(live, live)
        return Draft(_sooner(live, finalizers, left - grace, grace), live, gone=not finalizers and not grace)
    if not finalizers:
        return Draft(live, live, gone=True)
    return Draft(_marked(kind, live, finalizers, now), live)


def warnings(kind: ServedKind, options: DeleteOptions) -> list[str]:
    """What whoever deletes is told besides."""
    says_nothing = not options.policy and options.orphan_dependents is None
    return [_JOBS_LEAVE_PODS] if says_nothing and kind.resource.group_resource == "jobs.batch" else []


# ------------------------------------------------------------------------------------------------------------ the policy


def _finalizers(kind: ServedKind, meta: Object, options: DeleteOptions) -> list[str]:
    """What holds the object from now on: what held it, and its policy's finalizer instead of that of any other policy."""
    had: list[str] = meta.get("finalizers") or []
    kept = [finalizer for finalizer in had if finalizer not in _POLICIES]
    wanted = _FINALIZERS.get(_policy(kind, had, options))
    if wanted is None:
        return kept
    return had if wanted in had and len(kept) == len(had) - 1 else [*kept, wanted]


def _policy(kind: ServedKind, finalizers: list[str], options: DeleteOptions) -> str:
    resource = kind.resource.group_resource
    if resource in _OWN_NOTHING:
        return "Background"
    if options.orphan_dependents is not None:
        return "Orphan" if options.orphan_dependents else "Background"
    # A finalizer that is there already is somebody's wish, too.
    said = (_POLICIES[finalizer] for finalizer in finalizers if finalizer in _POLICIES)
    return options.policy or next(said, "") or _DEFAULTS.get(resource, "Background")


# --------------------------------------------------------------------------------------------------------------- marking


def _first_marked(kind: ServedKind, live: Object, finalizers: list[str], now: str) -> Object:
    """What is held by more than finalizers, as terminating: namespaces and definitions, which are marked in a way of their own."""
    marked = {**live, "metadata": {**live["metadata"], "deletionTimestamp": now}}
    if kind.strategy.heeds_policy:
        _put(marked["metadata"], finalizers)
    kind.strategy.terminate(marked, now)
    return marked


def _marked(kind: ServedKind, live: Object, finalizers: list[str], now: str, grace: int = 0) -> Object:
    """The object as terminating; if it was already, with other finalizers."""
    meta = {**live["metadata"]}
    if "deletionTimestamp" not in meta:
        if meta.get("generation"):
            meta["generation"] += 1
        meta["deletionTimestamp"] = _later(now, grace)
    meta["deletionGracePeriodSeconds"] = grace
    _put(meta, finalizers)
    return {**live, "metadata": meta}


def _sooner(live: Object, finalizers: list[str], seconds: int, grace: int) -> Object:
    """The terminating object with less time left."""
    meta = {**live["metadata"]}
    meta["deletionTimestamp"] = _later(meta["deletionTimestamp"], -seconds)
    meta["deletionGracePeriodSeconds"] = grace
    _put(meta, finalizers)
    return {**live, "metadata": meta}


def _put(meta: dict[str, Json], finalizers: list[str]) -> None:
    if finalizers:
        meta["finalizers"] = finalizers
    else:
        meta.pop("finalizers", None)


def _check(kind: ServedKind, name: str, live: Object, options: DeleteOptions) -> None:
    meta, words = live["metadata"], kind.strategy.precondition
    if words:
        for member, asked, found in (
            ("UID", options.uid, meta["uid"]),
            ("ResourceVersion", options.resource_version, meta["resourceVersion"]),
        ):
            if asked is not None and asked != found:
                why = f"{words}: {member} in precondition: {asked}, {member} in object meta: {found}"
                raise conflict(kind.resource, name, why)
    # These two conflicts name the kind where all others name the resource.
    about = GroupVersionResource(kind.group, kind.version, kind.kind)
    if options.uid is not None and options.uid != meta["uid"]:
        raise conflict(
            about,
            name,
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({meta['uid']}). "
            "The object might have been deleted and then recreated",
        )
    if options.resource_version is not None and options.resource_version != meta["resourceVersion"]:
        raise conflict(
            about,
            name,
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the ResourceVersion in record "
            f"({meta['resourceVersion']}). The object might have been modified",
        )


def _later(now: str, seconds: int) -> str:
    if not seconds:
        return now
    return (datetime.fromisoformat(now) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
