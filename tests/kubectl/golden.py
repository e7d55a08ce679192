"""What the real control plane made each kubectl say: golden/1.N.json, one file for each minor version of kubectl."""

import json
from pathlib import Path
from typing import Any

from .runner import Said

FOLDER = Path(__file__).parent / "golden"


def path_of(minor: int) -> Path:
    """Where the record of a kubectl is."""
    return FOLDER / f"1.{minor}.json"


def load(minor: int) -> list[Said]:
    """The record of a kubectl. Raises `FileNotFoundError` where there is none."""
    return [Said(step["name"], step["code"], _text(step["out"]), _text(step["err"])) for step in json.loads(path_of(minor).read_text())]


def store(minor: int, said: list[Said]) -> None:
    """Writes a record, a line of output on a line of the file, so that a change can be read."""
    steps = [{"name": step.name, "code": step.code, "out": _lines(step.out), "err": _lines(step.err)} for step in said]
    FOLDER.mkdir(exist_ok=True)
    path_of(minor).write_text(json.dumps(steps, indent=1, ensure_ascii=False) + "\n")


def _lines(text: str) -> Any:
    return text.split("\n") if text else []


def _text(lines: list[str]) -> str:
    return "\n".join(lines)
