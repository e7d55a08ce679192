"""Each simulated process has the user's modules for itself: what one keeps in them is not there in the next, and nobody else sees it."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import pickle
import sys
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest

from setpoint import Controller, crd
from setpoint.levelcheck.processes.fresh import FreshModules, Loaded
from setpoint.levelcheck.processes.target import BadTarget, find
from setpoint.objects import decode
from setpoint.world import PROCESS, SimulatedLoop, new_loop

from .project import Project, project

__all__ = ["project"]

T = TypeVar("T")

CONTROLLER = """
from setpoint import Controller
from setpoint.k8s.core.v1 import ConfigMap

async def reconcile(ctx, request): ...

controller = Controller(ConfigMap, reconciler=reconcile)
"""


ME = """
import importlib, sys

def me():
    import shop
    return shop.reconcile, sys.modules[__name__].reconcile, importlib.import_module("shop").reconcile
"""

TWO = """
from shop import *

del controller
a = Controller(ConfigMap, name="a", reconciler=reconcile)
b = Controller(ConfigMap, name="b", reconciler=reconcile)
"""


def within(process: str, do: Callable[[], T]) -> T:
    context = contextvars.Context()
    context.run(PROCESS.set, process)
    return context.run(do)


def load(fresh: FreshModules, process: str = "a") -> Loaded:
    return within(process, fresh.load)


def module(loaded: Loaded, name: str = "shop") -> Any:
    return loaded.modules[name]


KEPT = {
    "a module global": ("SEEN = []", "SEEN.append(1)", "len(SEEN)"),
    "a class attribute": ("class Shop:\n    seen = 0", "Shop.seen += 1", "Shop.seen"),
    "an lru_cache": (
        "import functools\n@functools.lru_cache\ndef once(x):\n    return x",
        "once(1)",
        "once.cache_info().currsize",
    ),
    "a cache of another library": (
        "import cachetools\ncache = cachetools.TTLCache(9, 9)\n@cachetools.cached(cache)\ndef once(x):\n    return x",
        "once(1)",
        "len(cache)",
    ),
    "a default argument": ("def seen(x, into=[]):\n    into.append(x)\n    return len(into)", "seen(1)", "seen(1) - 1"),
    "the controller itself": ("", "controller.seen = 1", "int(hasattr(controller, 'seen'))"),
    "a module of the user's that it imports": ("import shop_memory", "shop_memory.SEEN.append(1)", "len(shop_memory.SEEN)"),
    "a package that is imported later": (
        "",
        "from shops.deep import memory; memory.SEEN.append(1)",
        "len(__import__('shops.deep.memory', fromlist=['SEEN']).SEEN)",
    ),
}


@pytest.mark.parametrize("where", KEPT)
def test_what_a_process_keeps_is_not_there_in_the_next(project: Project, where: str) -> None:
    declared, keep, count = KEPT[where]
    project.write("shop.py", f"{CONTROLLER}\n{declared}\n")
    project.write("shop_memory.py", "SEEN = []")
    project.write("shops/deep/memory.py", "SEEN = []")
    target = find("shop:controller")
    original = importlib.import_module("shop")

    def kept(of: Any) -> int:
        found: int = eval(count, vars(of))
        return found

    with FreshModules(target) as fresh:
        first = module(load(fresh, "a"))
        within("a", lambda: exec(keep, vars(first)))
        assert within("a", lambda: kept(first)) == 1
        second = module(load(fresh, "b"))
        assert within("b", lambda: kept(second)) == 0
        restarted = module(load(fresh, "a"))
        assert within("a", lambda: kept(restarted)) == 0
    assert kept(original) == 0


def test_a_background_task_and_a_finally_block_end_with_the_process(project: Project) -> None:
    project.write(
        "shop.py",
        f"""{CONTROLLER}
import asyncio
LOG = []
async def beside():
    try:
        while True:
            await asyncio.sleep(1)
            LOG.append("tick")
    finally:
        LOG.append("finally")
""",
    )
    target = find("shop:controller")
    loop: SimulatedLoop = new_loop()
    with FreshModules(target) as fresh:
        first, context = module(load(fresh, "a")), contextvars.Context()
        context.run(PROCESS.set, "a")
        task = loop.create_task(first.beside(), context=context)
        loop.run_until_complete(asyncio.sleep(2.5))
        loop.kill("a")
        second = module(load(fresh, "b"))
        loop.run_until_complete(asyncio.sleep(10))
        assert first.LOG == ["tick", "tick"]
        assert second.LOG == []
        assert not task.done()
        # Ended here, so that the test leaves nothing behind: the loop itself never does.
        loop.close()
        del task


def test_sys_modules_is_as_it_was(project: Project) -> None:
    project.write("shop.py", f"{CONTROLLER}\nimport shop_memory\n")
    project.write("shop_memory.py", "SEEN = []")
    project.write("shop_later.py", "")
    target = find("shop:controller")
    before = dict(sys.modules)
    path = list(sys.meta_path)
    with FreshModules(target) as fresh:
        load(fresh)
        within("a", lambda: importlib.import_module("shop_later"))
        assert sys.modules["shop"].controller is before["shop"].controller
    assert {name: value for name, value in sys.modules.items() if not name.startswith("shop")} == {
        name: value for name, value in before.items() if not name.startswith("shop")
    }
    assert sys.modules["shop"] is before["shop"]
    assert "shop_later" not in sys.modules
    assert sys.meta_path == path


def test_two_processes_at_a_time_see_their_own(project: Project) -> None:
    project.write(
        "shop.py",
        CONTROLLER + ME,
    )
    target = find("shop:controller")
    with FreshModules(target) as fresh:
        a, b = module(load(fresh, "a")), module(load(fresh, "b"))
        for process, loaded in (("a", a), ("b", b), ("a/election", a)):
            assert within(process, loaded.me) == (loaded.reconcile,) * 3
        assert a.reconcile is not b.reconcile


def test_setpoint_python_and_installed_packages_are_shared(project: Project) -> None:
    project.write("shop.py", f"{CONTROLLER}\nimport json, installed_shop\n")
    project.write("site-packages/installed_shop.py", "SEEN = []")
    target = find("shop:controller")
    with FreshModules(target) as fresh:
        first, second = module(load(fresh)), module(load(fresh))
        for name in ("Controller", "ConfigMap", "json", "installed_shop"):
            assert getattr(first, name) is getattr(second, name)
    with FreshModules(target, also=("installed_shop",)) as fresh:
        assert module(load(fresh)).installed_shop is not module(load(fresh)).installed_shop


KIND = """
{future}
from typing import Annotated
from setpoint import Controller, Field, Resource, Struct, kind

class Part(Struct):
    size: Annotated[int, Field(name="sizeOfIt")] = 1

class ShopSpec(Struct):
    parts: list[Part] = []
    more: dict[str, Part] = {{}}

class ShopStatus(Struct):
    ready: int = 0

@kind(group="shops.example.com", version="v1")
class Shop(Resource[ShopSpec, ShopStatus]):
    '''A shop.'''

def local():
    class Inner(Struct):
        part: Part
    return Inner

async def reconcile(ctx, request): ...

controller = Controller(Shop, reconciler=reconcile)
"""


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_a_process_has_kinds_of_its_own_that_decode_to_its_own_classes(project: Project, future: str) -> None:
    project.write("shop.py", KIND.format(future=future))
    target = find("shop:controller")
    json = b'{"metadata": {"name": "a"}, "spec": {"parts": [{"sizeOfIt": 2}], "more": {"x": {"sizeOfIt": 3}}}}'
    with FreshModules(target) as fresh:
        original, a, b = sys.modules["shop"], module(load(fresh, "a")), module(load(fresh, "b"))
        assert crd(a.Shop) == crd(original.Shop)
        for process, loaded in (("b", b), ("a", a), ("", a)):  # also asked from outside all processes
            shop = within(process, lambda loaded=loaded: decode(loaded.Shop, json))  # type: ignore[misc]
            assert type(shop) is loaded.Shop
            assert type(shop.spec.parts[0]) is type(shop.spec.more["x"]) is loaded.Part
            assert shop.spec.parts[0].size == 2
        for process, loaded in (("b", b), ("a", a)):
            hints = within(process, lambda loaded=loaded: typing.get_type_hints(loaded.ShopSpec))  # type: ignore[misc]
            assert hints["parts"] == list[loaded.Part]
            inner = within(process, lambda loaded=loaded: msgspec.json.decode(b'{"part": {}}', type=loaded.local()))  # type: ignore[misc]
            assert type(inner.part) is loaded.Part


def test_what_a_process_makes_of_its_classes_can_be_pickled_in_it(project: Project) -> None:
    project.write("shop.py", f"{CONTROLLER}\nimport dataclasses\n@dataclasses.dataclass\nclass Part:\n    size: int\n")
    target = find("shop:controller")
    with FreshModules(target) as fresh:
        a, _ = module(load(fresh, "a")), load(fresh, "b")
        again = within("a", lambda: pickle.loads(pickle.dumps(a.Part(3))))
        assert again == a.Part(3)
        assert type(again) is a.Part


def test_packages_relative_imports_and_circles(project: Project) -> None:
    project.write("shops/__init__.py", "from .controllers import controller\n")
    project.write("shops/controllers.py", f"{CONTROLLER}\nfrom . import memory\nimport shops.memory as again\nassert again is memory\n")
    project.write("shops/memory.py", "import shops\nSEEN = []\ndef package():\n    return shops.controllers\n")
    target = find("shops:controller")
    with FreshModules(target) as fresh:
        first, second = load(fresh), load(fresh)
        assert list(first.modules) == ["shops", "shops.controllers", "shops.memory"]
        assert within("a", second.modules["shops.memory"].package) is second.modules["shops.controllers"]
        assert first.value is not second.value


def test_all_controllers_of_a_module_and_several_targets(project: Project) -> None:
    project.write("shop.py", CONTROLLER)
    project.write("two.py", TWO)
    with FreshModules(find("shop:controller"), find("two")) as fresh:
        loaded = load(fresh)
        names = [value.name for value in loaded.values if isinstance(value, Controller)]
        assert names == ["configmap", "a", "b"]
        assert [str(value) for value in within("a", lambda: fresh.load(find("two"))).values] == ["Controller 'a'", "Controller 'b'"]
        assert typing.cast(Any, loaded.values[0]).declared_reconciler.call is typing.cast(Any, loaded.values[1]).declared_reconciler.call


def test_a_module_runs_in_its_process(project: Project) -> None:
    project.write("shop.py", f"{CONTROLLER}\nfrom setpoint.world import PROCESS\nMINE = PROCESS.get()\n")
    with FreshModules(find("shop:controller")) as fresh:
        assert module(load(fresh, "a")).MINE == "a"


def test_a_module_that_fails_this_time_is_told_and_leaves_nothing(project: Project) -> None:
    project.write("shop.py", f"import builtins\nif hasattr(builtins, 'break_the_shop'):\n    del controller\n{CONTROLLER}")
    target = find("shop:controller")
    before = sys.modules["shop"]
    with FreshModules(target) as fresh:
        load(fresh)
        vars(importlib.import_module("builtins"))["break_the_shop"] = True
        try:
            with pytest.raises(NameError):
                load(fresh)
        finally:
            del vars(importlib.import_module("builtins"))["break_the_shop"]
        load(fresh)
    assert sys.modules["shop"] is before


def test_an_attribute_that_only_the_first_import_has_is_told(project: Project) -> None:
    project.write("shop.py", CONTROLLER)
    target = find("shop:controller")
    project.write("shop.py", "")
    with FreshModules(target) as fresh, pytest.raises(BadTarget, match="a second import of shop has no attribute 'controller'"):
        load(fresh)


def test_it_loads_in_its_context_only(project: Project) -> None:
    project.write("shop.py", CONTROLLER)
    with pytest.raises(RuntimeError, match="with FreshModules"):
        FreshModules(find("shop:controller")).load()
