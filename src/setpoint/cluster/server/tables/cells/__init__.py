"""How built-in kinds are shown in tables: what `kubectl get` prints of them.

The headings are published by the real server and are read from its data; what stands below them is told here, one small function for each
kind, in a file for each family of kinds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from setpoint.cluster.server.builtin.loader import unpacked
from setpoint.cluster.server.tables.cells import (
    access,
    basics,
    certificates,
    devices,
    events,
    networking,
    pods,
    scaling,
    storage,
    system,
    workloads,
)
from setpoint.cluster.server.tables.cells.parts import Cells
from setpoint.cluster.server.tables.tables import AGE, NAME, Column, Columns

_CELLS: dict[tuple[str, str], Cells] = {
    **basics.CELLS,
    **pods.CELLS,
    **events.CELLS,
    **workloads.CELLS,
    **scaling.CELLS,
    **networking.CELLS,
    **storage.CELLS,
    **access.CELLS,
    **certificates.CELLS,
    **devices.CELLS,
    **system.CELLS,
}

_SCALES = (
    replace(NAME, format=""),
    Column("Desired", "integer", description="The replicas that are wanted."),
    Column("Available", "integer", description="The replicas that are there."),
    AGE,
)
"""Scales are shown but never listed, so they are not in the data."""


@lru_cache(maxsize=256)
def builtin_columns(group: str, plural: str) -> Columns | None:
    """The columns of a built-in kind, or None of one that no real server shows."""
    cells = _CELLS.get((group, plural))
    if cells is None:
        return None
    headings = _SCALES if plural == "scales" else _published()[group, plural]
    return Columns(headings, cells, pods.conditions) if plural == "pods" else Columns(headings, cells)


@lru_cache(maxsize=1)
def _published() -> dict[tuple[str, str], tuple[Column, ...]]:
    """The headings of all kinds, as the real server has them."""
    return {(kind["group"], kind["plural"]): tuple(Column(**column) for column in kind["columns"]) for kind in unpacked("columns")}
