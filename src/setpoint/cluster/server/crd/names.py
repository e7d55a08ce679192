"""Which names a CRD gets, and its conditions.

Within a group a name belongs to one CRD: who comes first has it, and who wants it too is not established until it is free.
Follows https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/#CustomResourceDefinitionStatus.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setpoint.cluster.server.crd.definitions import approval_problem
from setpoint.cluster.server.schema.gotext import quote

Crd = Mapping[str, Any]


def accept_names(crd: Crd, others: Iterable[Crd], now: str) -> dict[str, Any]:
    """`crd` with status.acceptedNames and the conditions NamesAccepted and Established as they are now.

    `others` are all CRDs there are (this one may be among them), `now` is the time of a transition, RFC 3339. Established, once true, stays
    true. Nothing changes if nothing is new, so that the answer may be compared with the argument. A CRD that lost a name to another one
    gets it when that one goes: call this for the others of the group, too, after a CRD was deleted or has changed its names.
    """
    spec, status = crd["spec"], dict(crd.get("status") or {})
    wanted: Mapping[str, Any] = spec["names"]
    accepted: Mapping[str, Any] = status.get("acceptedNames") or {}
    resources, kinds = _taken(crd, others)
    names = {key: value for key, value in accepted.items() if value}
    conflict: tuple[str, str] | None = None

    for key, reason, used in (("plural", "PluralConflict", resources), ("singular", "SingularConflict", resources)):
        if wanted[key] != accepted.get(key) and wanted[key] in used:
            conflict = reason, _in_use([wanted[key]])
        else:
            names[key] = wanted[key]
    mine = accepted.get("shortNames") or []
    clashes = [name for name in wanted.get("shortNames") or [] if name not in mine and name in resources]
    if clashes:
        conflict = "ShortNamesConflict", _in_use(clashes)
    else:
        _set(names, "shortNames", wanted.get("shortNames"))
    for key, reason in (("kind", "KindConflict"), ("listKind", "ListKindConflict")):
        if wanted[key] != accepted.get(key) and wanted[key] in kinds:
            conflict = reason, _in_use([wanted[key]])
        else:
            names[key] = wanted[key]
    _set(names, "categories", wanted.get("categories"))

    conditions = list(status.get("conditions") or [])
    if conflict is None:
        conditions = _with(conditions, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
    else:
        conditions = _with(conditions, "NamesAccepted", "False", *conflict, now)
    if not _is_true(conditions, "Established"):
        if conflict is None:
            conditions = _with(conditions, "Established", "True", "InitialNamesAccepted", "the initial names have been accepted", now)
        else:
            conditions = _with(conditions, "Established", "False", "NotAccepted", "not all names are accepted", now)
    conditions = _with_approval(crd, conditions, now)
    ordered = {key: names.get(key, "") for key in _ORDER if key in names or key in ("plural", "kind")}
    return {**crd, "status": {**status, "conditions": conditions, "acceptedNames": ordered}}


_ORDER = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


def is_established(crd: Crd) -> bool:
    """Whether the kinds of this CRD are served."""
    return _is_true((crd.get("status") or {}).get("conditions") or [], "Established")


def has_its_names(crd: Crd) -> bool:
    """Whether this CRD has all names that it wants, and says so."""
    status = crd.get("status") or {}
    wanted, accepted = (
        {key: value for key, value in names.items() if value} for names in (crd["spec"]["names"], status.get("acceptedNames") or {})
    )
    return is_established(crd) and _is_true(status.get("conditions") or [], "NamesAccepted") and wanted == accepted


def terminating(crd: Crd, *, done: bool, now: str) -> dict[str, Any]:
    """`crd`, which is being deleted, with the condition that says how far the deletion of its objects is: about to begin, or done."""
    reason, message = _TERMINATION[done] if not done or is_established(crd) else _NEVER
    status = dict(crd.get("status") or {})
    conditions = _with(list(status.get("conditions") or []), "Terminating", "False" if done else "True", reason, message, now)
    return {**crd, "status": {**status, "conditions": conditions}}


_NEVER = ("NeverEstablished", "resource was never established")
_TERMINATION = {
    False: ("InstanceDeletionPending", "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"),
    True: ("InstanceDeletionCompleted", "removed all instances"),
}


def _taken(crd: Crd, others: Iterable[Crd]) -> tuple[dict[str, None], dict[str, None]]:
    """The names for resources and for kinds that the other CRDs of the group have."""
    resources: dict[str, None] = {}
    kinds: dict[str, None] = {}
    for other in others:
        if other["spec"]["group"] != crd["spec"]["group"] or other["metadata"]["name"] == crd["metadata"]["name"]:
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= dict.fromkeys(name for name in (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())) if name)
        kinds |= dict.fromkeys(name for name in (names.get("kind"), names.get("listKind")) if name)
    return resources, kinds


def _in_use(names: list[str]) -> str:
    said = [f"{quote(name)} is already in use" for name in names]
    return said[0] if len(said) == 1 else f"[{', '.join(said)}]"


def _set(names: dict[str, Any], key: str, value: object) -> None:
    if value:
        names[key] = value
    else:
        names.pop(key, None)


def _is_true(conditions: list[Mapping[str, Any]], kind: str) -> bool:
    return any(condition["type"] == kind and condition["status"] == "True" for condition in conditions)


def _with(conditions: list[Any], kind: str, status: str, reason: str, message: str, now: str) -> list[Any]:
    """The conditions with this one; its transition time moves only if its status does."""
    new = {"type": kind, "status": status, "lastTransitionTime": now, "reason": reason, "message": message}
    for index, old in enumerate(conditions):
        if old["type"] == kind:
            if old["status"] == status:
                new["lastTransitionTime"] = old["lastTransitionTime"]
            return [*conditions[:index], {**old, **new}, *conditions[index + 1 :]]
    return [*conditions, new]


def _with_approval(crd: Crd, conditions: list[Any], now: str) -> list[Any]:
    group = crd["spec"]["group"]
    if not group.endswith((".k8s.io", ".kubernetes.io")):
        return conditions
    annotation = (crd["metadata"].get("annotations") or {}).get("api-approved.kubernetes.io", "")
    kind = "KubernetesAPIApprovalPolicyConformant"
    problem = approval_problem(crd)
    if problem is not None:
        return _with(conditions, kind, "False", "InvalidAnnotation" if annotation else "MissingAnnotation", problem, now)
    if annotation.startswith("unapproved"):
        return _with(conditions, kind, "False", "UnapprovedAnnotation", f"not approved: {quote(annotation)}", now)
    return _with(conditions, kind, "True", "ApprovedAnnotation", f"approved in {annotation}", now)
