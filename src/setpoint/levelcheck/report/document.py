"""A report as data, for programs: `setpoint check --json`."""

from __future__ import annotations

from typing import Any

import msgspec

from setpoint.levelcheck.finding import Finding
from setpoint.levelcheck.outcome import Broken, Report
from setpoint.levelcheck.report.rows import Row
from setpoint.levelcheck.report.suggestion import suggestion
from setpoint.levelcheck.report.text import causes, headline, manner
from setpoint.levelcheck.report.trace import trace


def document(report: Report) -> dict[str, Any]:
    """The report as what JSON can say. What is there stays; more may come."""
    return {
        "verdict": report.verdict,
        "headline": headline(report),
        "name": report.name,
        "bound": report.bound,
        "depth": report.depth,
        "runs": report.runs,
        "seconds": round(report.seconds, 3),
        "seeds": list(report.seeds),
        "broken": [broken_document(broken) for broken in report.broken],
        "warnings": [_finding(finding) for finding in report.warnings],
        "waived": [{"reason": reason, "times": times} for reason, times in report.waived],
        "coverage": [
            {"fault": each.fault, "name": each.name, "tried": each.tried, "cuts": dict(each.cuts), "skipped": each.skipped}
            for each in report.coverage
        ],
        "assumptions": list(report.case.assumptions.declared),
        "inconclusive": report.inconclusive,
        "notChecked": list(report.notes),
    }


def broken_document(broken: Broken) -> dict[str, Any]:
    """One refutation."""
    refutation = broken.refutation
    return {
        "manner": manner(broken),
        "finding": _finding(refutation.finding),
        "beside": [_finding(finding) for finding in refutation.beside],
        "others": refutation.others,
        "also": list(refutation.also),
        "decisions": [str(decision) for decision in refutation.plan.decisions],
        "faults": [decision.fault for decision in refutation.plan.decisions],
        "variant": refutation.plan.variant,
        "token": broken.token,
        "trace": [_row(row) for row in trace(broken).rows],
        "why": causes(broken),
        "suggestion": suggestion(broken),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(finding)
    return found


def _row(row: Row) -> dict[str, Any]:
    said: dict[str, Any] = {"at": round(row.at, 3), "process": row.process, "mark": row.mark, "run": row.run, "line": row.line}
    said |= {"text": row.wide} | dict(row.cells)
    return {name: value for name, value in said.items() if value != ""}
