"""What is checked is found by a name that leads to it in any process; what has none is refused, with the remedy."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.levelcheck.processes.target import BadTarget, Target, find

Write = Callable[[str, str], Path]

SHOP = """
import functools
from contextlib import asynccontextmanager
from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap

async def reconcile(ctx, request): ...

first = Controller(ConfigMap, name="first", reconciler=reconcile)
second = Controller(ConfigMap, name="second", reconciler=reconcile)

@asynccontextmanager
async def opened(manager):
    yield

class Opened:
    def __call__(self, manager): ...
    def method(self, manager): ...

instance = Opened()
partial = functools.partial(opened)
unnamed = lambda manager: opened(manager)

def made():
    @asynccontextmanager
    async def inner(manager):
        yield
    return inner

def controller_made():
    return Controller(ConfigMap, name="third", reconciler=reconcile)
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = dict(sys.modules)

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        importlib.invalidate_caches()
        return path

    yield write
    for name in [name for name in sys.modules if name not in before]:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def shop(write: Write) -> ModuleType:
    write("shop_target.py", SHOP)
    return importlib.import_module("shop_target")


@pytest.mark.parametrize("attribute", ["first", "second", "opened", "instance", "partial", "unnamed"])
def test_an_object_is_found_again_by_its_name(shop: ModuleType, attribute: str) -> None:
    value = getattr(shop, attribute)
    assert find(value) == Target("shop_target", attribute, shop.__file__ or "")
    assert find(value).of(shop) is value


@pytest.mark.parametrize("location", ["shop_target", "shop_target.py"])
def test_a_name_is_a_module_or_a_file_and_an_attribute(shop: ModuleType, location: str) -> None:
    assert find(f"{location}:second") == Target("shop_target", "second", shop.__file__ or "")


def test_without_an_attribute_it_is_all_controllers_or_the_app(shop: ModuleType, write: Write) -> None:
    found = find("shop_target")
    assert found.attribute == ""
    assert found.of(shop) == [shop.first, shop.second]
    write("shop_with_app.py", SHOP + "\napp = opened\n")
    assert find("shop_with_app.py").attribute == "app"


def test_a_controller_of_a_reconciler_that_is_imported_is_found_where_it_stands(shop: ModuleType, write: Write) -> None:
    write(
        "shop_wired.py",
        "from setpoint import Controller\nimport shop_target\n"
        "wired = Controller(shop_target.ConfigMap, reconciler=shop_target.reconcile)\n",
    )
    assert str(find(importlib.import_module("shop_wired").wired)) == "shop_wired:wired"


def test_the_program_itself_is_a_module_for_others(shop: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", shop)
    monkeypatch.setattr(shop, "__name__", "__main__")
    monkeypatch.setattr(shop, "__spec__", None)
    monkeypatch.setattr(shop.reconcile, "__module__", "__main__")
    assert str(find(shop.first)) == "shop_target:first"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda shop: shop.made(),
            "the function made.<locals>.inner cannot be imported by name, as each simulated process must: it is made inside a function; "
            "move it to the top level of a module, and let it open there what it needs",
        ),
        (
            lambda shop: lambda manager: None,
            f"a lambda of {__name__} cannot be imported by name, as each simulated process must: "
            "assign it to a name at the top level of a module",
        ),
        (
            lambda shop: functools.partial(shop.opened, dsn=""),
            "a functools.partial of the function opened cannot be imported by name, as each simulated process must: "
            "assign it to a name at the top level of a module",
        ),
        (
            lambda shop: shop.instance.method,
            "the method Opened.method cannot be imported by name, as each simulated process must: "
            "write an app at the top level of a module that calls it",
        ),
        (
            lambda shop: shop.controller_made(),
            "Controller 'third' cannot be imported by name, as each simulated process must: "
            "assign it to a name at the top level of a module, or make it in an app (an async context manager that takes a Manager)",
        ),
    ],
    ids=["closure", "lambda", "partial", "method", "controller"],
)
def test_what_no_name_leads_to_is_refused(shop: ModuleType, make: Callable[[ModuleType], object], sentence: str) -> None:
    with pytest.raises(BadTarget) as refused:
        find(make(shop))  # type: ignore[arg-type]
    assert str(refused.value) == sentence


def test_what_is_neither_controller_nor_app_is_refused() -> None:
    with pytest.raises(BadTarget, match="what is to be checked is the kind ConfigMap, and neither a Controller nor an app"):
        find(ConfigMap)
    with pytest.raises(BadTarget, match="what is to be checked is of type int, and neither"):
        find(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("no_such_shop:app", "there is no module no_such_shop: is it installed, or is this the wrong folder?"),
        ("no_such_shop.py", "there is no file no_such_shop.py"),
        ("shop_target:third", "shop_target:third: shop_target has no attribute 'third'; it has first, second"),
        ("shop_target:", "shop_target:: there is no attribute after the colon; write shop_target:NAME, or shop_target alone"),
        ("shop-target", "shop-target is neither a file that ends in .py nor a module's name"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused(shop: ModuleType, text: str, sentence: str) -> None:
    with pytest.raises(BadTarget) as refused:
        find(text)
    assert str(refused.value) == sentence


def test_an_import_that_fails_is_told_with_its_place(write: Write) -> None:
    path = write("shop_broken.py", "x = 1\n1 / 0\n")
    with pytest.raises(BadTarget) as refused:
        find("shop_broken:app")
    assert str(refused.value) == f"shop_broken cannot be imported: ZeroDivisionError: division by zero ({path}, line 2: 1 / 0)"


def test_a_controller_of_an_interactive_session_is_refused() -> None:
    module = ModuleType("__typed_in__")
    exec("async def reconcile(ctx, request): ...", vars(module))
    with pytest.raises(BadTarget, match="cannot be imported by name"):
        find(Controller(ConfigMap, reconciler=vars(module)["reconcile"]))
