"""Sides take turns; who is missing or fails is left out, and said; the table and the file tell what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from benchmarks.figures import Goal
from benchmarks.keeping import keep
from benchmarks.table import show
from benchmarks.workload import Failed, Missing, Outcome, Row, Setting, Side, Workload, carry_out
from rich.console import Console

SETTING = Setting(None, 10)  # type: ignore[arg-type]  # these sides ask no server


def giving(values: list[float]) -> Callable[[Setting], dict[str, float]]:
    """A side's figures, round by round."""
    left: Iterator[float] = iter(values)
    return lambda _: {"cpu": next(left)}


def refusing(error: Exception) -> Callable[[Setting], dict[str, float]]:
    """A side that cannot."""

    def work(_: Setting) -> dict[str, float]:
        raise error

    return work


def workload(**sides: Callable[[Setting], dict[str, float]]) -> Workload:
    """Two rows: one beside Go, one alone."""
    rows = [
        Row("CPU for an object", "cpu", "µs", peer="go", goal=Goal("ratio", 0.5)),
        Row("CPU alone", "cpu", "µs", goal=Goal("value", 1)),
    ]
    return Workload("sync", "a sync", 10, [Side(name, work) for name, work in sides.items()], rows)


def outcome_of(work: Workload, rounds: int = 3) -> Outcome:
    return carry_out(work, SETTING, rounds, lambda side: None, lambda: None)


def text_of(*outcomes: Outcome) -> str:
    console = Console(file=StringIO(), width=200)
    show(console, outcomes)
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_sides_take_turns_and_each_turn_is_told() -> None:
    turns: list[str] = []
    carry_out(workload(setpoint=giving([1, 2]), go=giving([3, 4])), SETTING, 2, turns.append, lambda: turns.append("."))
    assert turns == ["setpoint", ".", "go", ".", "setpoint", ".", "go", "."]


def test_the_table_has_medians_spread_ratio_and_goal() -> None:
    text = text_of(outcome_of(workload(setpoint=giving([4, 2, 3]), go=giving([10, 12, 30]))))
    row = next(line for line in text.splitlines() if "CPU for an object" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "CPU for an object",
        "µs",
        "3 (2 to 4)",
        "12 (10 to 30)",
        "go",
        "1/4",
        "≤ 1/2",
        "met",
    ]
    assert "short" in next(line for line in text.splitlines() if "CPU alone" in line)
    assert "1 of 2 goals met" in text


def test_who_is_missing_is_said_once_and_the_others_go_on() -> None:
    outcome = outcome_of(workload(setpoint=giving([1, 1, 1]), go=refusing(Missing("no Go on this machine"))))
    assert len(outcome.figures["setpoint"]) == 3
    text = text_of(outcome)
    assert text.count("no Go on this machine") == 1
    assert "sync: left out: go: no Go on this machine" in text
    assert "1 of 1 goals met" in text


@pytest.mark.parametrize("error", [Failed("out of memory"), ConnectionResetError("out of memory")])
def test_who_fails_is_left_out_from_then_on(error: Exception) -> None:
    outcome = outcome_of(workload(setpoint=refusing(error), go=giving([1, 2, 3])))
    assert outcome.failed == {"setpoint": "out of memory"}
    assert len(outcome.figures["go"]) == 3
    assert "sync: failed: setpoint: out of memory" in text_of(outcome)


def test_the_file_keeps_every_figure_and_what_the_table_says(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    keep(file, [outcome_of(workload(setpoint=giving([4, 2, 3]), go=giving([10, 12, 30])))], 3)
    kept: dict[str, Any] = json.loads(file.read_text())
    assert kept["rounds"] == 3
    assert set(kept["machine"]) == {"cores", "architecture", "system", "python"}
    (found,) = kept["workloads"]
    assert found["figures"]["setpoint"] == [{"cpu": 4}, {"cpu": 2}, {"cpu": 3}]
    assert found["rows"][0] == {
        "what": "CPU for an object",
        "unit": "µs",
        "ours": {"side": "setpoint", "median": 3, "least": 2, "most": 4},
        "peer": {"side": "go", "median": 12, "least": 10, "most": 30},
        "ratio": 0.25,
        "goal": "≤ 1/2",
        "met": True,
    }
