"""`setpoint check`: what it is given, what it says, and with what it ends. The checker itself is played, but for the last test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.levelcheck.report.stories import duplicated, report_of, resized

from setpoint.cli import check
from setpoint.levelcheck import Assumptions, Workload
from setpoint.levelcheck.outcome import Broken
from setpoint.levelcheck.search.checking import SiteGone

from .conftest import Cli, Write

SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {colour: blue}
"""
DECLARED = """
from setpoint.levelcheck import Workload, apply
workload = Workload.of(apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "NAME", "namespace": "default"}}))
"""


class Checker:
    """Plays the checker: notes what it is given, and gives what it is told to."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.report: Any = report_of()
        self.broken: Broken | Exception | None = None

    def level_check(self, target: str, **given: Any) -> Any:
        self.given = {"target": target, **given}
        return self.report

    def replay(self, target: str, **given: Any) -> Broken | None:
        self.given = {"target": target, **given}
        if isinstance(self.broken, Exception):
            raise self.broken
        return self.broken

    @property
    def first(self) -> str:
        """The name of the object that the workload applies first."""
        workload: Workload = self.given["workload"]
        return workload.steps[0].ref.name  # type: ignore[union-attr]


@pytest.fixture
def checker(monkeypatch: pytest.MonkeyPatch) -> Checker:
    played = Checker()
    monkeypatch.setattr(check, "level_check", played.level_check)
    monkeypatch.setattr(check, "replay", played.replay)
    return played


@pytest.fixture
def settings(write: Write) -> Path:
    return write("settings.yaml", SETTINGS)


def test_the_exit_code_says_the_verdict(cli: Cli, controller: Path, settings: Path, checker: Checker) -> None:
    for verdict, code in {"HELD": 0, "REFUTED": 1, "PATH-DEPENDENT": 3, "INCONCLUSIVE": 4}.items():
        checker.report = report_of(*([resized()] if code in (1, 3) else []), verdict=verdict)
        ended = cli("check", controller, "--workload", settings)
        assert ended.code == code
        assert ended.out.startswith(verdict)
        assert not ended.err


def test_options_reach_the_checker(cli: Cli, controller: Path, settings: Path, checker: Checker) -> None:
    cli("check", controller, "-f", settings, "--depth", "2", "--budget", "30", "--seed", "7", "--mode", "fork")
    expected = {"target": str(controller), "depth": 2, "budget": 30.0, "seed": 7, "mode": "fork", "progress": None}
    assert {name: checker.given[name] for name in expected} == expected
    assert checker.first == "settings"


def test_the_replay_command_names_all_that_was_given(cli: Cli, controller: Path, settings: Path, checker: Checker) -> None:
    checker.report = report_of(resized())
    ended = cli("check", "quiet.py", "-f", "settings.yaml")
    assert f"setpoint check quiet.py --workload settings.yaml --replay {resized().token}" in ended.out


# what is declared


def test_a_file_beside_the_target_declares(cli: Cli, controller: Path, write: Write, checker: Checker) -> None:
    write(
        "check_quiet.py",
        DECLARED.replace("NAME", "beside") + "from setpoint.levelcheck import Assumptions\nassumptions = Assumptions(lists='old')\n",
    )
    assert cli("check", "quiet.py:controller").code == 0
    assert checker.first == "beside"
    assert checker.given["assumptions"] == Assumptions(lists="old")


def test_the_targets_own_module_declares_if_it_has_a_workload(cli: Cli, controller: Path, write: Write, checker: Checker) -> None:
    write("quiet.py", controller.read_text() + DECLARED.replace("NAME", "own"))
    assert cli("check", "quiet.py").code == 0
    assert checker.first == "own"


def test_other_things_of_those_names_in_the_targets_module_are_left_alone(
    cli: Cli, controller: Path, write: Write, settings: Path, checker: Checker
) -> None:
    write("quiet.py", controller.read_text() + "environment = {'stage': 'test'}\nroles = 3\n")
    assert cli("check", "quiet.py", "--workload", settings).code == 0
    assert "environment" not in checker.given


def test_the_module_of_with_declares_instead(cli: Cli, controller: Path, write: Write, checker: Checker) -> None:
    write("check_quiet.py", DECLARED.replace("NAME", "beside"))
    write("elsewhere.py", DECLARED.replace("NAME", "elsewhere"))
    assert cli("check", "quiet.py", "--with", "elsewhere.py").code == 0
    assert checker.first == "elsewhere"
    assert cli("check", "quiet.py", "--with", "elsewhere").code == 0


def test_a_workload_of_files_takes_the_place_of_the_declared_one(
    cli: Cli, controller: Path, write: Write, settings: Path, checker: Checker
) -> None:
    write("check_quiet.py", DECLARED.replace("NAME", "beside") + "leaders = 2\n")
    assert cli("check", "quiet.py", "--workload", settings).code == 0
    assert checker.first == "settings"
    assert checker.given["leaders"] == 2


def test_a_module_of_a_package_has_its_neighbour_in_the_package(cli: Cli, controller: Path, write: Write, checker: Checker) -> None:
    write("shop/__init__.py", "")
    write("shop/quiet.py", controller.read_text())
    write("shop/check_quiet.py", DECLARED.replace("NAME", "packaged"))
    assert cli("check", "shop.quiet:controller").code == 0
    assert checker.first == "packaged"


# what is written


def test_a_page_and_a_test_are_written(cli: Cli, controller: Path, settings: Path, checker: Checker, alone: Path) -> None:
    checker.report = report_of(resized())
    ended = cli("check", "quiet.py", "-f", "settings.yaml", "--html", "report.html", "--regression", "test_resize.py")
    assert ended.code == 1
    assert "<!doctype html>" in (alone / "report.html").read_text()
    assert "setpoint check quiet.py --workload settings.yaml --replay" in (alone / "report.html").read_text()
    assert resized().token in (alone / "test_resize.py").read_text()
    assert ended.err.splitlines() == ["written: report.html", "written: test_resize.py"]


def test_no_test_is_written_where_nothing_is_found(cli: Cli, controller: Path, settings: Path, checker: Checker, alone: Path) -> None:
    assert cli("check", "quiet.py", "-f", "settings.yaml", "--regression", "test_it.py").code == 0
    assert not (alone / "test_it.py").exists()


def test_json_is_for_programs(cli: Cli, controller: Path, settings: Path, checker: Checker) -> None:
    checker.report = report_of(resized(), duplicated())
    told = json.loads(cli("check", "quiet.py", "-f", "settings.yaml", "--json").out)
    assert told["verdict"] == "REFUTED"
    assert [each["faults"] for each in told["broken"]] == [["F1"], ["F5"]]
    assert told["broken"][0]["trace"][-1]["mark"] == "finding"
    assert told["coverage"][0] == {
        "fault": "F1", "name": "crash at a write", "tried": 12, "cuts": {"the write changed nothing": 3}, "skipped": "",
    }  # fmt: skip


# replay


def test_a_replay_tells_what_is_found_or_that_nothing_is(cli: Cli, controller: Path, settings: Path, checker: Checker) -> None:
    checker.broken = resized()
    ended = cli("check", "quiet.py", "-f", "settings.yaml", "--replay", resized().token)
    assert ended.code == 1
    assert ended.out.startswith("REFUTED, crash-unsafe: claim default/data-db-0 stays at 10Gi for ever\n")
    assert checker.given["token"] == resized().token
    checker.broken = None
    ended = cli("check", "quiet.py", "-f", "settings.yaml", "--replay", resized().token)
    assert ended.code == 0
    assert ended.out.startswith("HELD: nothing is found with this token")


def test_a_site_that_is_gone_is_not_held(cli: Cli, controller: Path, settings: Path, checker: Checker) -> None:
    checker.broken = SiteGone("F1 after at write:x")
    ended = cli("check", "quiet.py", "-f", "settings.yaml", "--replay", resized().token)
    assert ended.code == 4
    assert ended.out.startswith("INCONCLUSIVE, site gone: F1 after at write:x")


# what is wrong


def test_without_a_workload_it_says_where_one_goes(cli: Cli, controller: Path, checker: Checker) -> None:
    said = cli("check", "quiet.py").refusal(2)
    assert said == (
        "what is a user to do while quiet.py is checked? Name manifests, as in --workload shop.yaml, or write `workload = "
        "Workload.of(...)` in check_quiet.py beside it"
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("workload = []", "workload in check_quiet.py is of type list; it should be a Workload: Workload.of(apply(...), wait(), ...)"),
        (
            "outside = {'cloud': 3}",
            "outside in check_quiet.py is of type dict; it should be a dictionary of functions or classes that make fakes",
        ),
        ("waivers = ['no']", "waivers in check_quiet.py is of type list; it should be a list of Waiver(...)"),
        ("leaders = 0", "leaders in check_quiet.py is of type int; it should be a number, 1 or more"),
    ],
)
def test_what_is_declared_wrongly_is_named(cli: Cli, controller: Path, write: Write, checker: Checker, line: str, said: str) -> None:
    write("check_quiet.py", DECLARED + line + "\n")
    assert cli("check", "quiet.py").refusal(2).startswith(said)


def test_files_tokens_and_targets_that_are_none_are_named(
    cli: Cli, controller: Path, settings: Path, write: Write, checker: Checker
) -> None:
    write("broken.yaml", "a: [")
    assert cli("check", "nowhere.py").refusal(2) == "there is no file nowhere.py"
    assert cli("check", "quiet.py", "-f", "nowhere.yaml").refusal(2).startswith("nowhere.yaml cannot be read")
    assert cli("check", "quiet.py", "-f", "broken.yaml").refusal(2).startswith("broken.yaml is not valid YAML")
    assert "is no replay token" in cli("check", "quiet.py", "-f", settings, "--replay", "hello").refusal(2)
    assert "cut off" in cli("check", "quiet.py", "-f", settings, "--replay", resized().token[:-9]).refusal(2)
    assert "there is no folder nowhere" in cli("check", "quiet.py", "-f", settings, "--html", "nowhere/report.html").refusal(2)
    assert not checker.given


def test_a_fault_of_the_checkers_is_shown_whole_and_is_no_verdict(
    cli: Cli, controller: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr(check, "level_check", fails)
    ended = cli("check", "quiet.py", "-f", settings)
    assert ended.code == 4
    assert "Traceback" in ended.err
    assert "RuntimeError: oh" in ended.err


def test_ctrl_c_is_no_verdict(cli: Cli, controller: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "level_check", interrupted)
    assert cli("check", "quiet.py", "-f", settings) == (130, "", "interrupted\n")


@pytest.mark.parametrize("arguments", [["check"], ["check", "quiet.py", "--depth", "7"], ["check", "quiet.py", "--mode", "slow"]])
def test_options_that_make_no_sense_are_usage_errors(cli: Cli, controller: Path, arguments: list[str]) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert "Usage: setpoint check" in ended.err


def test_a_controller_that_does_nothing_held(cli: Cli, controller: Path, settings: Path) -> None:
    """With the checker itself."""
    ended = cli("check", "quiet.py", "-f", "settings.yaml", "--depth", "0")
    assert ended.code == 0, ended
    assert ended.out.startswith("HELD: quiet.py is level-based for this workload")


def test_who_interrupts_while_the_command_is_being_loaded_is_told_so(cli: Cli, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "check", interrupted)
    assert cli("check", "quiet.py", "-f", settings) == (130, "", "interrupted\n")
