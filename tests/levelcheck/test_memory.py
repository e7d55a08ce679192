"""A process's memory is told to be the same only if it is: where the digest cannot tell, it says nothing."""

from __future__ import annotations

import pytest

from setpoint.levelcheck.processes.fresh import FreshModules
from setpoint.levelcheck.processes.memory import memory_of
from setpoint.levelcheck.processes.target import find

from .project import Project, project
from .test_fresh import CONTROLLER, load, module

__all__ = ["project"]

SHOP = f"""
import asyncio, functools
from collections import defaultdict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta
from setpoint import Struct
{CONTROLLER}

class Seen(Struct):
    names: list[str] = []

@dataclass(slots=True)
class Slots:
    count: int = 0

class Registry:
    __count = 0

    def __init__(self):
        self.held = {{}}

    @classmethod
    def count(cls):
        cls.__count += 1

    def add(self, name):
        self.held[name] = self

class Reconciler:
    def __init__(self):
        self.seen = {{}}

    async def __call__(self, ctx, request):
        self.seen[request.name] = 1

def counter():
    count = 0

    def again():
        nonlocal count
        count += 1

    return again

@functools.lru_cache
def once(x):
    return x

def first(x, seen=[]):
    seen.append(x)

table, names, last, seen, slots, registry = {{}}, set(), datetime(2020, 1, 1), Seen(), Slots(), Registry()
queue, event, recent, groups = asyncio.Queue(), asyncio.Event(), deque(maxlen=3), defaultdict(list)
held = {{"a": ConfigMap(metadata={{"name": "a"}}, data={{"x": "1"}})}}
add, given, again = registry.add, functools.partial(first, seen=[]), counter()
reconciler = Reconciler()
del registry
other = Controller(ConfigMap, name="other", reconciler=reconciler)
del reconciler
"""

CHANGES = [
    "table.update(a=1)",
    "table.update(a={'b': {'c': {'d': {'e': {'f': {'g': {'h': 1}}}}}}})",
    "names.add('a')",
    "globals().update(last=last + timedelta(seconds=1))",
    "seen.names.append('a')",
    "setattr(slots, 'count', 1)",
    "Registry.count()",
    "add('a')",
    "given('a')",
    "again()",
    "first(1)",
    "queue.put_nowait(1)",
    "event.set()",
    "recent.append(1)",
    "groups['a'].append(1)",
    "held['a'].data.update(x='2')",
    "other.declared_reconciler.call.seen.update(a=1)",
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_has_changed_makes_another_digest(project: Project, change: str) -> None:
    project.write("shop.py", SHOP)
    with FreshModules(find("shop")) as fresh:
        loaded = load(fresh)
        before = memory_of(loaded)
        exec(change, vars(module(loaded)))
        after = memory_of(loaded)
    assert before
    assert after != before


def test_the_digest_is_one_of_values_and_so_the_same_in_each_process_that_holds_the_same(project: Project) -> None:
    project.write("shop.py", SHOP)
    with FreshModules(find("shop")) as fresh:
        digests = []
        for names in (["a", "b", "c" * 40], ["c" * 40, "b", "a"]):
            loaded = load(fresh)
            vars(module(loaded))["names"].update(names)
            vars(module(loaded))["table"].update(a=names[0][:0] + "a", b="".join(["a"]))
            digests.append(memory_of(loaded))
    assert digests[0] == digests[1] != ""


@pytest.mark.parametrize("change", ["table.update(a=(each for each in 'ab'))", "once(1)"])
def test_nothing_is_told_where_something_cannot_be_seen(project: Project, change: str) -> None:
    project.write("shop.py", SHOP)
    with FreshModules(find("shop")) as fresh:
        loaded = load(fresh)
        assert memory_of(loaded)
        exec(change, vars(module(loaded)))
        assert memory_of(loaded) == ""
