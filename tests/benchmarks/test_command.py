"""The command line of `python -m benchmarks`: what can be said, what cannot, and one run of all that is cheap."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from benchmarks.command import main
from benchmarks.objects import child, pod, widget
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.latency import percentile
from benchmarks.workloads.syncing import shares
from rich.console import Console

from benchmarks import command


def run(*words: str) -> tuple[int, str]:
    """The exit code, and what is printed."""
    said = StringIO()
    return main(words, console=Console(file=said, width=200)), said.getvalue()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "sync", "nothing"], "argument --only: there is no workload nothing; there are: sync, "),
        (["--rounds", "0"], "argument --rounds: '0' is not a whole number from 1 on"),
        (["--objects", "many"], "argument --objects: 'many' is not a whole number from 1 on"),
        (["--json", "/no/such/folder/file"], "argument --json: there is no folder /no/such/folder"),
        (["sync"], "unrecognized arguments: sync"),
    ],
)
def test_what_makes_no_sense_gives_one_clear_message(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_the_list_names_every_workload_and_starts_nothing() -> None:
    code, said = run("--list")
    assert code == 0
    assert [line.split()[0] for line in said.splitlines()] == list(WORKLOADS)


def test_every_row_is_of_sides_that_the_workload_has() -> None:
    for workload in WORKLOADS.values():
        sides = {side.name for side in workload.sides}
        for row in workload.rows:
            assert {row.ours, row.peer or row.ours} <= sides, (workload.name, row.what)
            assert row.peer or row.goal is None or row.goal.of == "value", (workload.name, row.what)


def test_without_a_real_server_that_is_said_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    code, said = run("--quick", "--only", "drain")
    assert code == 0
    assert "drain: left out: setpoint, controller-runtime, controller-runtime, unstructured: no kube-apiserver" in said


def test_a_quick_run_prints_its_figures_and_keeps_them(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    code, said = run("--quick", "--only", "server-start", "--json", str(file))
    assert code == 0, said
    assert "CPU, as a program, over HTTPS" in said
    (kept,) = json.loads(file.read_text())["workloads"]
    assert 0.01 < kept["figures"]["setpoint"][0]["in_process_s"] < 60


def test_who_stops_it_sees_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(workload: Workload, *_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "carry_out", stopped)
    code, said = run("--quick", "--only", "server-start")
    assert code == 1
    assert "stopped: 0 of 1 workloads are done" in said


def test_objects_are_of_the_sizes_that_are_told() -> None:
    sizes = [len(json.dumps(make(7, "default"), separators=(",", ":"))) for make in (widget, pod, child)]
    assert 2_500 < sizes[0] < 3_500
    assert 5_000 < sizes[1] < 7_500
    assert sizes[2] < 1_500
    assert len(json.dumps(widget(7, "default", stored=False), separators=(",", ":"))) < 2_200


def test_an_objects_share_is_what_is_more_than_without_objects() -> None:
    bare = {"items": 0, "cpu_phase_s": 0.5, "rss_mb": 50.0, "rss_freed_mb": 30.0, "rss_peak_mb": 50.0}
    full = bare | {"items": 1000, "cpu_phase_s": 0.6, "rss_mb": 99.0, "rss_freed_mb": 32.0, "rss_peak_mb": 60.0}
    found = shares(full, bare, 1000)
    assert found["cpu_us"] == pytest.approx(100)
    assert found["bytes"] == pytest.approx(2 * 2**20 / 1000)
    assert found["peak_mb"] == 60.0


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([float(each) for each in range(1000)], 99) == 990
    assert percentile([4.0], 99) == 4.0
