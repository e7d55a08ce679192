"""What cannot be loaded is refused with one sentence that names it and says what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from .conftest import CONTROLLER, Cli, Write


def test_a_missing_file(cli: Cli) -> None:
    assert cli("run", "webapp.py").refusal() == "there is no file webapp.py"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(cli: Cli, controller: Path) -> None:
    controller.chmod(0)
    assert cli("run", "quiet.py").refusal() == "quiet.py cannot be read: Permission denied"


def test_a_file_that_cannot_be_read(cli: Cli, controller: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    assert cli("run", "quiet.py").refusal() == "quiet.py cannot be read: Permission denied"


def test_a_folder(cli: Cli, alone: Path) -> None:
    (alone / "operator").mkdir()
    assert cli("run", "./operator").refusal() == "operator is a folder; name the file in it that holds the controller"


def test_a_file_of_another_sort(cli: Cli, write: Write) -> None:
    write("notes.txt", "")
    assert cli("run", "./notes.txt").refusal() == "notes.txt is no Python file: its name does not end in .py"


def test_a_manifest_in_the_place_of_a_target(cli: Cli, write: Write) -> None:
    write("shop.yaml", "")
    said = "shop.yaml is no Python file: its name does not end in .py; a manifest goes with --apply, or with --workload for a check"
    assert cli("run", "shop.yaml").refusal() == said


def test_a_name_that_is_neither(cli: Cli) -> None:
    assert cli("run", "web-app").refusal() == "web-app is neither a file that ends in .py nor a module's name"


def test_a_missing_module(cli: Cli) -> None:
    assert cli("run", "shop.controllers").refusal() == "there is no module shop.controllers: is it installed, or is this the wrong folder?"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('no database')", "ValueError: no database"),
        ("assert False", "AssertionError"),
        ("import json\njson.loads('{')", "JSONDecodeError: Expecting property name"),
    ],
)
def test_a_module_that_raises_names_the_authors_own_line(cli: Cli, write: Write, body: str, told: str) -> None:
    path = write("broken.py", f"import sys\n{body}\n")
    said = cli("run", "broken.py").refusal()
    assert said.startswith(f"broken.py cannot be imported: {told}")
    last = body.splitlines()[-1]
    assert said.endswith(f"({path}, line {len(body.splitlines()) + 1}: {last})")


def test_a_neighbour_that_raises_is_named(cli: Cli, write: Write) -> None:
    write("main.py", "import helper_of_main\n")
    path = write("helper_of_main.py", "1 / 0\n")
    assert cli("run", "main.py").refusal() == f"main.py cannot be imported: ZeroDivisionError: division by zero ({path}, line 1: 1 / 0)"


def test_a_module_that_raises_by_its_dotted_name(cli: Cli, write: Write) -> None:
    path = write("shops/one.py", "1 / 0\n")
    said = cli("run", "shops.one:controller").refusal()
    assert said == f"shops.one cannot be imported: ZeroDivisionError: division by zero ({path}, line 1: 1 / 0)"


def test_a_syntax_error(cli: Cli, write: Write) -> None:
    path = write("broken.py", "def f(:\n    pass\n")
    assert cli("run", "broken.py").refusal() == f"broken.py is not valid Python: invalid syntax ({path}, line 1)"


def test_a_missing_dependency(cli: Cli, write: Write) -> None:
    path = write("broken.py", "\nimport dns_of_mine\n")
    assert cli("run", "broken.py").refusal() == (
        f"broken.py cannot be imported: it needs the module dns_of_mine, which is not installed for {sys.executable} "
        f"({path}, line 2: import dns_of_mine)"
    )


def test_a_misspelt_name_in_an_import(cli: Cli, write: Write) -> None:
    path = write("broken.py", "from setpoint import Controler\n")
    assert cli("run", "broken.py").refusal() == (
        "broken.py cannot be imported: setpoint has no Controler: did you mean Controller? "
        f"({path}, line 1: from setpoint import Controler)"
    )
    write("other.py", "from setpoint import Xylophone\n")
    assert "ImportError: cannot import name 'Xylophone' from 'setpoint'" in cli("run", "other.py").refusal()


def test_a_module_that_ends_the_program(cli: Cli, write: Write) -> None:
    path = write("broken.py", "import sys\nsys.exit(3)\n")
    assert cli("run", "broken.py").refusal() == (
        f"broken.py cannot be imported: it ends the program, with exit code 3 ({path}, line 2: sys.exit(3))"
    )


def test_a_declaration_that_cannot_work_names_its_line(cli: Cli, write: Write) -> None:
    write("broken.py", "from setpoint import Controller\ncontroller = Controller(dict)\n")
    said = cli("run", "broken.py").refusal()
    assert "<class 'dict'> is not a kind of the API: it takes a class that @kind decorates" in said
    assert said.endswith("line 2: controller = Controller(dict))")


def test_a_file_without_a_controller(cli: Cli, write: Write) -> None:
    write("empty.py", "")
    assert cli("run", "empty.py").refusal() == (
        "empty.py holds no controller: assign one at its top level, as in `controller = Controller(WebApp)`, "
        "or write an app that adds them, and name it, as in empty.py:app"
    )


def test_a_controller_without_reconciler(cli: Cli, write: Write, server: Path) -> None:
    write("idle.py", CONTROLLER.partition("@")[0])
    assert cli("run", "idle.py", "--kubeconfig", server).refusal() == (
        "Controller 'configmap' has no reconciler: decorate a function with @controller.reconciler, or pass reconciler="
    )


@pytest.mark.parametrize("name", ["operator", "queue", "types"])
def test_a_file_named_like_one_of_pythons_modules(cli: Cli, write: Write, name: str) -> None:
    write(f"{name}.py", CONTROLLER)
    assert cli("run", f"{name}.py").refusal() == (
        f"{name}.py has the name of Python's own module {name!r}, which it would hide from everything that imports it; "
        f"rename it, to my_{name}.py for example"
    )


def test_a_file_named_like_a_module_that_is_loaded_already(cli: Cli, write: Write) -> None:
    write("yaml.py", CONTROLLER)
    said = cli("run", "yaml.py").refusal()
    assert said.startswith("yaml.py cannot be imported: another module is called 'yaml', from ")
    assert said.endswith("; rename it")


def test_a_name_that_cannot_be_imported(cli: Cli, write: Write) -> None:
    write("web-app.py", CONTROLLER)
    assert cli("run", "web-app.py").refusal() == (
        "web-app.py cannot be imported: 'web-app' is no Python identifier; rename it, to web_app.py for example"
    )


def test_two_controllers_of_one_name(cli: Cli, write: Write, controller: Path, server: Path) -> None:
    write("other.py", CONTROLLER)
    assert cli("run", "quiet.py", "other.py", "--kubeconfig", server).refusal() == (
        "two controllers are named 'configmap': metrics, logs and field ownership could not tell them apart; "
        "give one of them another name: Controller(ConfigMap, name=...)"
    )


def test_an_attribute_that_is_missing(cli: Cli, controller: Path) -> None:
    assert cli("run", "quiet.py:app").refusal() == "quiet.py:app: quiet.py has no attribute 'app'; it has controller"
    assert cli("crd", "quiet.py:app").refusal() == "quiet.py:app: quiet.py has no attribute 'app'; it has controller"


def test_a_colon_without_attribute(cli: Cli, controller: Path) -> None:
    assert cli("run", "quiet.py:").refusal() == "quiet.py:: there is no attribute after the colon; write quiet.py:NAME, or quiet.py alone"


@pytest.mark.parametrize(("attribute", "what"), [("number", "of type int"), ("ConfigMap", "the kind ConfigMap")])
def test_an_attribute_of_another_sort(cli: Cli, write: Write, attribute: str, what: str) -> None:
    write("quiet.py", CONTROLLER + "number = 1\n")
    assert cli("run", f"quiet.py:{attribute}").refusal() == (
        f"quiet.py:{attribute} is {what}, and neither a Controller nor an app (an async context manager that takes a Manager)"
    )


def test_a_function_that_is_no_app(cli: Cli, write: Write, server: Path) -> None:
    write("apps.py", "async def app(manager):\n    yield\n\ndef two(a, b): ...\n\nasync def one(manager): ...\n")
    advice = "decorate it with @contextlib.asynccontextmanager, and let it yield once it is ready"
    assert cli("run", "apps.py", "--kubeconfig", server).refusal() == f"apps.py:app is no app: {advice}"
    assert cli("run", "apps.py:one", "--kubeconfig", server).refusal() == f"apps.py:one is no app: {advice}"
    assert (
        cli("run", "apps.py:two", "--kubeconfig", server).refusal().startswith("apps.py:two cannot be opened as an app: TypeError: two()")
    )


def test_an_app_without_a_yield(cli: Cli, write: Write, server: Path) -> None:
    write("apps.py", "from contextlib import asynccontextmanager\n\n@asynccontextmanager\nasync def app(manager): ...\n")
    assert cli("run", "apps.py", "--kubeconfig", server).refusal() == (
        "apps.py:app never yields, so it would end at once: add a yield where all is ready, which the manager runs in"
    )


def test_an_app_that_cannot_start_names_its_line(cli: Cli, write: Write, server: Path) -> None:
    path = write(
        "apps.py",
        """
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def app(manager):
            raise ConnectionError("no database at db:5432")
            yield
        """,
    )
    assert cli("run", "apps.py", "--kubeconfig", server).refusal() == (
        "the app apps.py:app failed to start: ConnectionError: no database at db:5432 "
        f'({path}, line 6: raise ConnectionError("no database at db:5432"))'
    )


def test_an_app_that_adds_nothing(cli: Cli, write: Write, server: Path) -> None:
    write("apps.py", "import contextlib\n\n@contextlib.asynccontextmanager\nasync def app(manager):\n    yield\n")
    assert cli("run", "apps.py", "--kubeconfig", server).refusal() == (
        "apps.py added no controller to the manager, so there is nothing to run"
    )
