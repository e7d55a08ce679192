"""A folder of modules that a test writes, imports from, and leaves nothing of."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest


class Project:
    """The user's folder; it is on `sys.path`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        """Writes a file, in folders that are made for it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        importlib.invalidate_caches()
        return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project whose modules are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "site-packages"), *sys.path])
    before = dict(sys.modules)
    yield Project(tmp_path)
    made = {name: module for name, module in sys.modules.items() if name not in before}
    places = {name: [getattr(made[name], "__file__", None) or "", *getattr(made[name], "__path__", ())] for name in made}
    for name in made:
        if any(place.startswith(str(tmp_path)) for place in places[name]):
            del sys.modules[name]
