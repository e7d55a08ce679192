"""O9: of each role an owner has one live child at a time."""

from __future__ import annotations

import msgspec

from setpoint.levelcheck.assumptions import Role
from setpoint.levelcheck.case import Case
from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.oracles.told import in_words, remembered, role_of
from setpoint.levelcheck.recording import Changed, Key, Recording, Rested


class RoleFailed(Exception):
    """A function that the user gave for roles has raised. The text names it."""


class Double(msgspec.Struct, frozen=True):
    """Two or more live children in a role. `lasted` is whether they were still there at a rest."""

    resource: str
    role: str
    keys: tuple[Key, ...]
    at: float
    revision: int
    lasted: bool


def duplicates(case: Case, reference: Recording, recording: Recording) -> list[Finding]:
    """What outlives a rest is a finding. What passes is one only if there is none without the fault: where a role is handed over by making
    the new one first, the reference has such, too, and no more than a warning is due. As many as are there at rest without the fault are
    no fault's doing.
    """
    usual = remembered(reference, "doubles", lambda: _doubles(case, reference))
    passing = {(double.resource, double.role) for double in usual}
    lasting = {(double.resource, double.role): len(double.keys) for double in usual if double.lasted}
    return [
        _finding(double, "", warning=not double.lasted and (double.resource, double.role) in passing)
        for double in _doubles(case, recording)
        if len(double.keys) > lasting.get((double.resource, double.role), 0)
    ]


def duplicates_without_faults(case: Case, reference: Recording) -> list[Finding]:
    """The same of the reference: what passes is warned of."""
    return [_finding(double, ", without any fault", warning=not double.lasted) for double in _doubles(case, reference)]


def _finding(double: Double, when: str, *, warning: bool) -> Finding:
    names = " and ".join(role_of(key) for key in double.keys)
    there = "are there at rest" if double.lasted else "are there at a time"
    return Finding(
        "O9",
        f"{len(double.keys)} {in_words(double.keys[0]).partition(' ')[0]} in the role {double.role} {there}{when}: {names}",
        resource=double.resource,
        role=double.role,
        expected="1",
        found=str(len(double.keys)),
        at=double.at,
        revision=double.revision,
        warning=warning,
    )


def _doubles(case: Case, recording: Recording) -> list[Double]:
    found: dict[tuple[str, str], Double] = {}
    if not case.roles:
        return []
    live: dict[tuple[str, str, str, str], dict[Key, None]] = {}
    where: dict[Key, tuple[str, str, str, str]] = {}
    for moment in recording.moments:
        if isinstance(moment, Changed) and (role := case.roles.get(moment.key.resource)) is not None:
            if (old := where.pop(moment.key, None)) is not None:
                live[old].pop(moment.key, None)
            if (place := _place(moment, role)) is None:
                continue
            where[moment.key] = place
            bearers = live.setdefault(place, {})
            bearers[moment.key] = None
            if len(bearers) > 1 and moment.at >= recording.began:
                double = Double(moment.key.resource, place[3], tuple(bearers), moment.at, moment.revision, lasted=False)
                found.setdefault((double.resource, f"{place[1]} {place[2]} {place[3]}"), double)
        elif isinstance(moment, Rested):
            for place, bearers in live.items():
                if len(bearers) > 1:
                    found[place[0], f"{place[1]} {place[2]} {place[3]}"] = Double(
                        place[0], place[3], tuple(bearers), moment.at, moment.revision, lasted=True
                    )
    return list(found.values())


def _place(change: Changed, role: Role) -> tuple[str, str, str, str] | None:
    """Resource, namespace, owner and role of an object that lives, None for others."""
    obj = msgspec.json.decode(change.after)
    metadata = obj.get("metadata") or {}
    if change.deleted or metadata.get("deletionTimestamp"):
        return None
    try:
        said = role(obj)
    except Exception as error:
        raise RoleFailed(f"the role of {change.key.resource} raises {type(error).__name__}: {error}") from error
    if said is None:
        return None
    if (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed") and change.key.resource == "pods":
        return None  # it does nothing any more
    owner = next((owner.get("uid", "") for owner in metadata.get("ownerReferences") or () if owner.get("controller")), "")
    return change.key.resource, change.key.namespace, owner, said
