"""The outcome as JSON, to be kept: every figure of every round, and what the table says of them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.figures import ratio
from benchmarks.table import judged
from benchmarks.workload import Outcome, Row


def document(outcomes: Sequence[Outcome], rounds: int) -> dict[str, Any]:
    """What is kept. The machine is told in general terms: cores, architecture, Python."""
    machine = {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
    return {"machine": machine, "rounds": rounds, "workloads": [_of(outcome) for outcome in outcomes]}


def keep(file: Path, outcomes: Sequence[Outcome], rounds: int) -> None:
    """Writes it. Raises `OSError` where that cannot be done."""
    file.write_text(json.dumps(document(outcomes, rounds), indent=2, ensure_ascii=False) + "\n")


def _of(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.workload.name,
        "about": outcome.workload.about,
        "objects": outcome.objects,
        "rows": [_row(outcome, row) for row in outcome.workload.rows],
        "figures": {side: [dict(each) for each in rounds] for side, rounds in outcome.figures.items()},
        "missing": outcome.missing,
        "failed": outcome.failed,
    }


def _row(outcome: Outcome, row: Row) -> dict[str, Any]:
    ours, peer = outcome.spread(row.ours, row.figure), outcome.spread(row.peer, row.figure)
    return {
        "what": row.what,
        "unit": row.unit,
        "ours": {"side": row.ours} | (asdict(ours) if ours else {}),
        "peer": {"side": row.peer} | (asdict(peer) if peer else {}) if row.peer else None,
        "ratio": ratio(ours.median, peer.median) if ours and peer else None,
        "goal": str(row.goal) if row.goal else None,
        "met": judged(outcome, row),
    }
