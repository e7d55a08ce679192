"""Roles, and who has them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from setpoint.cluster.server.tables.cells.parts import Cells, created, name_of
from setpoint.cluster.server.tables.tables import Object, age

_GROUP = "rbac.authorization.k8s.io"


def _binding(obj: Object, now: datetime) -> list[Any]:
    role = obj.get("roleRef") or {}
    return [
        name_of(obj),
        f"{role.get('kind') or ''}/{role.get('name') or ''}",
        age(obj, now),
        _subjects(obj, "User"),
        _subjects(obj, "Group"),
        _subjects(obj, "ServiceAccount"),
    ]


def _subjects(obj: Object, kind: str) -> str:
    chosen = [subject for subject in obj.get("subjects") or () if subject.get("kind") == kind]
    prefixes = [f"{subject.get('namespace') or ''}/" if kind == "ServiceAccount" else "" for subject in chosen]
    return ", ".join(f"{prefix}{subject['name']}" for prefix, subject in zip(prefixes, chosen, strict=True))


CELLS: dict[tuple[str, str], Cells] = {
    (_GROUP, "roles"): created,
    (_GROUP, "clusterroles"): created,
    (_GROUP, "rolebindings"): _binding,
    (_GROUP, "clusterrolebindings"): _binding,
}
