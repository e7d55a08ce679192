"""O14: what a status says is so. O15: what is read is watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.fields import moved
from setpoint.levelcheck.oracles.told import canonical_key, in_words, is_of_controller, remembered, role_of
from setpoint.levelcheck.recording import Key, Read, Recording, TimerSet

_GOOD = ("Ready", "Available")
_WORKLOADS = ("deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps")


def honesty(reference: Recording, recording: Recording) -> list[Finding]:
    """O14, by Kubernetes' conventions alone: at rest `status.observedGeneration` is the generation, and what is said to be Ready or
    Available has children that are. Nothing is said of objects whose status the controller does not write, or that are being deleted.
    """
    meant = remembered(reference, "dishonest", lambda: {(found.resource, found.role, found.field) for found in dishonest(reference)})
    return [found for found in dishonest(recording) if (found.resource, found.role, found.field) not in meant]


def dishonest(recording: Recording) -> list[Finding]:
    """The same, whatever the reference has. That a child is not ready is warned of: it may never become so."""
    if recording.end != "rest":
        return []
    observing, conditioning = _who_writes(recording)
    found: list[Finding] = []
    for key, obj in recording.objects.items():
        metadata, status = obj.get("metadata") or {}, obj.get("status")
        if not isinstance(status, dict) or metadata.get("deletionTimestamp"):
            continue
        role = role_of(canonical_key(key, obj))
        generation, observed = metadata.get("generation"), status.get("observedGeneration")
        if key in observing and isinstance(observed, int) and observed != generation:
            found.append(
                Finding(
                    "O14",
                    f"{in_words(key)} says that it has observed generation {observed}, and is at {generation}",
                    resource=key.resource,
                    role=role,
                    field=".status.observedGeneration",
                    expected=str(generation),
                    found=str(observed),
                    at=recording.ended,
                )
            )
        for condition in status.get("conditions") or () if key in conditioning else ():
            if isinstance(condition, dict) and condition.get("type") in _GOOD and condition.get("status") == "True":
                found += [
                    Finding(
                        "O14",
                        f"{in_words(key)} says that it is {condition['type']}, and {in_words(child)} is not ready",
                        resource=key.resource,
                        role=role,
                        field=f".status.conditions[{condition['type']}]",
                        at=recording.ended,
                        warning=True,
                    )
                    for child in _unready(recording.objects, metadata.get("uid", ""))
                ]
    return found


def _who_writes(recording: Recording) -> tuple[dict[Key, None], dict[Key, None]]:
    """The objects whose observed generation, and those whose conditions, the controllers write."""
    observing: dict[Key, None] = {}
    conditioning: dict[Key, None] = {}
    for change in recording.changes:
        if is_of_controller(change.process) and not change.deleted:
            for each in moved(change.before, change.after):
                if each.field.startswith(".status.observedGeneration"):
                    observing[change.key] = None
                if each.field.startswith(".status.conditions"):
                    conditioning[change.key] = None
    return observing, conditioning


def _unready(objects: Mapping[Key, dict[str, Any]], owner: str) -> list[Key]:
    return [
        key
        for key, obj in objects.items()
        if key.resource in _WORKLOADS
        and any(each.get("uid") == owner and each.get("controller") for each in (obj.get("metadata") or {}).get("ownerReferences") or ())
        and (obj.get("spec") or {}).get("replicas", 1) > ((obj.get("status") or {}).get("readyReplicas") or 0)
        and key.resource != "daemonsets.apps"
    ]


def unwatched(recording: Recording) -> list[Finding]:
    """O15, a warning for each resource that runs read, and whose changes reach them neither by a watch nor by a timer."""
    polled = {
        f"{moment.site.who} {moment.site.what}" for moment in recording.moments if isinstance(moment, TimerSet) and moment.cause == "timer"
    }
    found: dict[str, Finding] = {}
    for moment in recording.moments:
        if not isinstance(moment, Read) or not moment.run or moment.resource in recording.watched or moment.run in polled:
            continue
        resource = moment.resource.partition(".")[0]
        sentence = (
            f"runs read {resource}{f' ({moment.line})' if moment.line else ''}, and neither a watch nor a timer tells of their changes"
        )
        found.setdefault(moment.resource, Finding("O15", sentence, resource=moment.resource, line=moment.line, at=moment.at, warning=True))
    return list(found.values())
