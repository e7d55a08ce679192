"""What the documentation shows is carried out, so that it stays true.

- A `python` block runs after those before it on its page, in one module. With a title it is a file that others can import; if that is
  called `test_*.py`, pytest runs it.
- `yaml` and `toml` blocks with a title are files.
- `console` blocks are commands and what they print: see `pages.Commands`.
- `sh` blocks are for the README alone, whose two commands have a test of their own.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .pages import Block, Commands, Python, blocks_of, imports_of

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
KNOWN = {"python", "yaml", "toml", "console", "sh", "text", "promql"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder, with the examples in it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    yield from (tmp_path for _ in imports_of(tmp_path))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows(page: Path, folder: Path) -> None:
    commands, python, tests = Commands(folder), Python(page), []
    try:
        for block in blocks_of(page):
            assert block.language in KNOWN, f"{page}:{block.line}: what is {block.language!r}?"
            if block.title:
                (folder / block.title).write_text(block.text)
                tests += [block.title] if block.title.startswith("test_") else []
            elif block.language == "python":
                python.run(block)
            elif block.language == "console":
                commands.carry_out(block)
        if tests:
            words = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", *tests]
            ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stdout
    finally:
        commands.end()


def _readme_commands() -> tuple[Block, Block]:
    first, second = (block for block in blocks_of(README) if block.language == "sh")
    return first, second


def test_the_readmes_first_command_makes_something_converge(folder: Path) -> None:
    command = _readme_commands()[0].text.strip()
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/setpoint ")
    shown = f"$ {command.rpartition('.venv/bin/')[2]}\nready {folder}/.setpoint/kubeconfig\n"
    steps = (
        "applied WebApp default/shop",
        "...created deployments.apps default/shop...",
        "...webapps.apps.example.com default/shop (status)...",
    )
    commands = Commands(folder)
    try:
        commands.carry_out(Block("console", "", shown + "".join(f"...{step}\n" for step in steps), 1))
    finally:
        commands.end()


def test_the_readmes_second_command_runs_the_tests() -> None:
    assert _readme_commands()[1].text == "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/pytest\n"


def test_what_judges_a_change_runs_the_readmes_own_command() -> None:
    (extraction,) = re.findall(r"^command=.*$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    words = ["bash", "-c", f'{extraction}; printf %s "$command"']
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found == _readme_commands()[1].text.strip()


def test_the_readme_shows_the_example() -> None:
    """The controller of the README is that of the example, so that what is read there is what runs."""
    shown = next(block for block in blocks_of(README) if block.title == "webapp.py").text
    example = (ROOT / "examples" / "webapp" / "webapp.py").read_text()
    body = re.compile(r"^@controller.reconciler\n.*", re.MULTILINE | re.DOTALL)
    shown_body, example_body = (re.sub(r" +#|  +|\"\"\".*\"\"\"\n", " ", body.findall(text)[0]) for text in (shown, example))
    assert re.sub(r"\s+", " ", shown_body) == re.sub(r"\s+", " ", example_body)


def test_links_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_in_the_index() -> None:
    listed = re.findall(r"\]\(([^)#]+\.md)", (ROOT / "docs" / "index.md").read_text())
    pages = [page.name for page in PAGES if page not in (README, ROOT / "docs" / "index.md")]
    assert sorted({name for name in listed if not name.startswith("..")}) == pages


def test_a_page_that_lies_is_found_out(tmp_path: Path) -> None:
    """The judge itself: wrong output, and a block that raises, are failures."""
    commands = Commands(tmp_path)
    try:
        commands.carry_out(Block("console", "", "$ setpoint --version\nsetpoint ...\n", 1))
        with pytest.raises(AssertionError, match="did not print"):
            commands.carry_out(Block("console", "", "$ setpoint --version\nsetpoint 99\n", 1))
    finally:
        commands.end()
    page = tmp_path / "page.md"
    page.write_text("```python\nassert 1 == 2\n```\n")
    with pytest.raises(AssertionError):
        Python(page).run(blocks_of(page)[0])
    page.write_text("```python\n")
    with pytest.raises(ValueError, match="does not end"):
        blocks_of(page)
