"""What a process leaves in modules that all share is told, in a sentence for each thing."""

from __future__ import annotations

import os

import pytest

from setpoint.levelcheck.processes.fresh import FreshModules
from setpoint.levelcheck.processes.residue import Residue
from setpoint.levelcheck.processes.target import find

from .project import Project, project
from .test_fresh import CONTROLLER, load, module, within

__all__ = ["project"]

LIBRARY = """
import functools

COUNT = 0
SEEN = []
TABLE = {}

class Client:
    opened = 0
    def __init__(self):
        self.name = ""

client = Client()

@functools.lru_cache
def once(x):
    return x

def add():
    global COUNT
    COUNT += 1
"""

SHARED = {
    "library.add()": "library.COUNT has changed: a crash would lose that",
    "library.SEEN.append(1)": "library.SEEN has changed: a crash would lose that",
    "library.TABLE['x'] = 1": "library.TABLE has changed: a crash would lose that",
    "library.Client.opened += 1": "library.Client.opened has changed: a crash would lose that",
    "library.client.name = 'x'": "library.client has changed: a crash would lose that",
    "library.once(1)": "library.once remembers 1 results of calls, and had 0 before: a crash would lose them",
    "ConfigMap.seen_by_me = 1": "the class setpoint.k8s.core.v1.config_map.ConfigMap has been given seen_by_me: a crash would lose that",
    "json.seen_by_me = 1": "the module json has been given seen_by_me: a crash would lose that",
    "os.environ['SEEN_BY_ME'] = '1'": "the environment has changed (SEEN_BY_ME): a crash would lose that",
}


@pytest.mark.parametrize("statement", SHARED)
def test_what_stays_in_a_shared_module_is_told(project: Project, monkeypatch: pytest.MonkeyPatch, statement: str) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    project.write("shop.py", f"{CONTROLLER}\nimport json, os, library\n")
    project.write("site-packages/library.py", LIBRARY)
    with FreshModules(find("shop:controller")) as fresh:
        loaded = load(fresh)
        residue = Residue(loaded)
        assert residue.changed() == []
        within("a", lambda: exec(statement, vars(module(loaded))))
        try:
            assert residue.changed() == [SHARED[statement]]
            assert residue.changed() == []
        finally:
            for holder in (module(loaded).ConfigMap, module(loaded).json):
                if "seen_by_me" in vars(holder):
                    delattr(holder, "seen_by_me")


def test_what_belongs_to_the_process_is_not_told(project: Project) -> None:
    project.write("shop.py", f"{CONTROLLER}\nimport library\nSEEN = []\n")
    project.write("site-packages/library.py", LIBRARY)
    with FreshModules(find("shop:controller")) as fresh:
        loaded = load(fresh)
        residue = Residue(loaded)
        module(loaded).SEEN.append(1)
        load(fresh)
        assert residue.changed() == []
