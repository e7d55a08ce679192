"""Deletion: what becomes of an object that somebody deletes. Pure, like `write`.

An object that something holds (a finalizer, a grace period) is marked and stays until it is let go; any other is removed.

https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/
"""

from __future__ import annotations

from datetime import datetime, timedelta

from setpoint.api import GroupVersionResource
from setpoint.api.status import conflict, forbidden
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.options import DeleteOptions
from setpoint.cluster.server.write import Draft, Object


def delete(kind: ServedKind, name: str, live: Object, options: DeleteOptions, now: str) -> Draft:
    """The live object on its way out: `gone`, marked as terminating, or unchanged if it was marked already.

    Raises Conflict for a precondition that fails, and Forbidden for what may not be deleted at all.
    """
    meta, strategy = live["metadata"], kind.strategy
    _check(kind, name, live, options)
    if reason := strategy.deletable(live):
        raise forbidden(kind.resource, name, reason)
    grace = strategy.grace(live, options.grace_seconds)
    held = bool(meta.get("finalizers")) or not strategy.ready_to_go(live)
    gone = not held and not grace
    if gone and not strategy.graceful:
        return Draft(live, live, gone=True)
    if not gone and "deletionTimestamp" in meta and grace >= meta.get("deletionGracePeriodSeconds", 0):
        return Draft(live, live)
    return Draft(_marked(kind, live, grace, now), live, gone)


def _marked(kind: ServedKind, live: Object, grace: int, now: str) -> Object:
    """The object as terminating; if it was already, its time is shortened."""
    meta = {**live["metadata"]}
    marked = {**live, "metadata": meta}
    if "deletionTimestamp" in meta:
        start = _later(meta["deletionTimestamp"], -meta.get("deletionGracePeriodSeconds", 0))
    else:
        start = now
        if kind.strategy.marks_grace and meta.get("generation"):
            meta["generation"] += 1
    meta["deletionTimestamp"] = _later(start, grace)
    if kind.strategy.marks_grace:
        meta["deletionGracePeriodSeconds"] = grace
    kind.strategy.terminate(marked, now)
    return marked


def _check(kind: ServedKind, name: str, live: Object, options: DeleteOptions) -> None:
    meta = live["metadata"]
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
