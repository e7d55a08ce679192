"""O8: nothing is left over."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.told import canonical_key, in_words, is_of_controller, remembered, role_of
from setpoint.levelcheck.recording import Changed, Key, Recording, Wrote


def leaks(reference: Recording, recording: Recording) -> list[Finding]:
    """Of a run that rests: what has lost its owner, what waits for a finalizer of the controller for ever, and what was made for an object
    that is no more; unless the reference leaves the same. What is too much outside is told by the end state.
    """
    if recording.end != "rest" or reference.end != "rest":
        return []
    meant = remembered(reference, "leaks", lambda: {(found.resource, found.role, found.field) for found in _leaks(reference)})
    there = remembered(reference, "keys", lambda: {canonical_key(key, obj) for key, obj in reference.objects.items()})
    found = [each for each in _leaks(recording) if (each.resource, each.role, each.field) not in meant]
    return found + [each for key, each in _left_over(recording) if key not in there]


def leaks_without_faults(reference: Recording) -> list[Finding]:
    """The same of the reference, which has nothing to be compared with: what was made for something that is gone is only warned of, since
    it may be kept on purpose.
    """
    if reference.end != "rest":
        return []
    return [*_leaks(reference), *(msgspec.structs.replace(each, warning=True) for _, each in _left_over(reference))]


def _leaks(recording: Recording) -> list[Finding]:
    live = {(obj.get("metadata") or {}).get("uid") for obj in recording.objects.values()}
    ours = _finalizers(recording)
    found = []
    for key, obj in recording.objects.items():
        metadata = obj.get("metadata") or {}
        role = role_of(canonical_key(key, obj))
        owners = metadata.get("ownerReferences") or ()
        stuck = [name for name in metadata.get("finalizers") or () if name in ours]
        if metadata.get("deletionTimestamp"):
            if stuck:
                sentence = f"{in_words(key)} is being deleted for ever: the controller does not remove its finalizer {stuck[0]}"
                found.append(Finding("O8", sentence, key.resource, role, ".metadata.finalizers", found=stuck[0], at=recording.ended))
        elif owners and not any(owner.get("uid") in live for owner in owners):
            owner = owners[0]
            sentence = f"{in_words(key)} is left over: its owner, {owner.get('kind', '').lower()} {owner.get('name')}, is gone"
            found.append(Finding("O8", sentence, key.resource, role, ".metadata.ownerReferences", at=recording.ended))
    return found


def _finalizers(recording: Recording) -> dict[str, None]:
    """Those that the controllers have added to something."""
    found: dict[str, None] = {}
    for change in recording.changes:
        if is_of_controller(change.process):
            before = _named(change.before) if change.before is not None else []
            found.update(dict.fromkeys(name for name in _named(change.after) if name not in before))
    return found


def _named(raw: bytes) -> list[str]:
    metadata: dict[str, Any] = msgspec.json.decode(raw).get("metadata") or {}
    return metadata.get("finalizers") or []


def _left_over(recording: Recording) -> list[tuple[Key, Finding]]:
    """Objects without an owner reference that a run has made for an object that is gone."""
    made: dict[Key, Wrote] = {}
    created = {change.revision: change for change in recording.changes if isinstance(change, Changed) and change.before is None}
    for write in recording.writes:
        if write.revision in created:
            made[write.key] = write
    found = []
    for key, write in made.items():
        obj = recording.objects.get(key)
        controller, _, name = write.site.who.rpartition(" ")
        primary = recording.primaries.get(controller)
        if obj is None or primary is None or (obj.get("metadata") or {}).get("ownerReferences"):
            continue
        namespace, _, name = name.rpartition("/")
        whose = Key(primary, namespace, name)
        if whose == key or whose in recording.objects or (obj.get("metadata") or {}).get("deletionTimestamp"):
            continue
        known = canonical_key(key, obj)
        sentence = f"{in_words(key)} is left over: {in_words(whose)}, for which it was made, is gone"
        found.append((known, Finding("O8", sentence, key.resource, role_of(known), line=write.line, at=recording.ended)))
    return found
