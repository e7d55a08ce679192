"""Every line of the page of capabilities names a test that exists, and how that test is shown to fail has not gone stale.

That it does fail is shown by `tools/take_out.py`, which takes as long as it takes to run each of these tests.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "capabilities.md"
COMING = {17, 89, 139, 150}
"""What is not there yet: sharding, webhooks, the level check. A line that is claimed leaves this set."""


class Line(NamedTuple):
    """One line of a table: its number, and its other cells."""

    number: int
    capability: str
    where: str
    shown_by: str

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`(tests/\S+::\w+)`", self.shown_by)


def lines() -> list[Line]:
    found = []
    for text in PAGE.read_text().splitlines():
        if text.startswith("| ") and not text.startswith(("| # ", "| --- ")):
            number, *cells = (cell.strip() for cell in text.removeprefix("|").removesuffix("|").split(" | "))
            found.append(Line(int(number), *cells))
    return found


@lru_cache
def defined_in(file: str) -> frozenset[str]:
    """The test functions that a file defines, as pytest would collect them."""
    tree = ast.parse((ROOT / file).read_text())
    return frozenset(
        each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name.startswith("test_")
    )


@pytest.fixture(scope="module")
def take_out() -> ModuleType:
    """The tool itself."""
    spec = importlib.util.spec_from_file_location("take_out", ROOT / "tools" / "take_out.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_every_line_has_a_number_of_its_own_and_no_cell_is_empty() -> None:
    found = lines()
    assert len(found) > 40
    numbers = [line.number for line in found]
    assert sorted(set(numbers)) == sorted(numbers)
    assert [line.number for line in found if not (line.capability and line.where and line.shown_by)] == []


def test_what_is_coming_is_named_and_not_claimed_and_all_else_names_page_module_and_test() -> None:
    for line in lines():
        if line.number in COMING:
            assert (line.where, line.shown_by) == ("*coming*", "*coming: nothing is claimed yet*")
            continue
        links = re.findall(r"\]\(([^)#]+)", line.where)
        assert [link.endswith(".md") for link in links] == [True, False], line
        assert all((PAGE.parent / link).is_file() for link in links), line
        assert line.tests, line
    assert {line.number for line in lines()} >= COMING


def test_every_heading_that_is_linked_to_is_there() -> None:
    for page, heading in re.findall(r"\]\(([\w-]+\.md)#([^)]+)\)", PAGE.read_text()):
        titles = re.findall(r"^#+ (.*)$", (PAGE.parent / page).read_text(), re.MULTILINE)
        assert heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_every_test_that_is_named_exists() -> None:
    for line in lines():
        for test in line.tests:
            file, _, name = test.partition("::")
            assert name in defined_in(file), f"line {line.number} names {test}"


def test_each_test_on_the_page_is_shown_to_fail_and_by_nothing_else_than_what_is_said(take_out: ModuleType) -> None:
    shown = {(part.row, part.test) for part in take_out.parts()}
    assert shown == {(line.number, test) for line in lines() for test in line.tests}


def test_what_is_taken_out_is_still_there_exactly_once(take_out: ModuleType) -> None:
    for part in take_out.parts():
        text = (ROOT / part.file).read_text()
        assert part.taken_out(text) != text
        ast.parse(part.taken_out(text))  # a file that is no Python fails every test, which shows nothing
