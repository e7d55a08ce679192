"""Goldens: sequences, and what the real server has answered, normalised. They are replayed without it.

`found/` has a sequence for each sort of difference that there has been, as small as it could be made. `broad.json.gz` has one long sequence
for each kind. A step that gives no answer of its own (the events of a watch) comes after all steps, in the order of the watches.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .compare import Difference, differences
from .servers import Server
from .session import Session, Side
from .steps import Json, Step
from .waivers import explain

FOLDER = Path(__file__).parent / "golden"
FOUND = FOLDER / "found"
BROAD = FOLDER / "broad.json.gz"


@dataclass(frozen=True)
class Golden:
    """A sequence and the real server's answers to it, the events of its watches last."""

    name: str
    steps: tuple[Step, ...]
    told: tuple[Json, ...]

    def plain(self) -> dict[str, Json]:
        """As JSON."""
        return {"name": self.name, "steps": [step.plain() for step in self.steps], "told": list(self.told)}

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Golden:
        """The opposite of `plain`."""
        return cls(plain["name"], tuple(map(Step.of, plain["steps"])), tuple(plain["told"]))


def record(name: str, steps: Sequence[Step], real: Server, namespace: str) -> Golden:
    """What the real server answers to a sequence."""
    side = Side(real, namespace)
    Session([side]).perform(steps)
    return Golden(name, tuple(steps), tuple(json.loads(json.dumps(side.told))))


def replay(golden: Golden, ours: Server, namespace: str) -> Iterator[Difference]:
    """What the embedded server answers otherwise, and nothing explains."""
    side = Side(ours, namespace)
    session = Session([side])
    session.perform(golden.steps)
    watches = [watching for watching in golden.steps if watching.what == "watch"]
    asked = [*golden.steps, *watches]
    for at, (right, told) in enumerate(zip(golden.told, json.loads(json.dumps(side.told)), strict=False)):
        step = asked[min(at, len(asked) - 1)]
        left, _ = explain(step, differences(str(step), right, told))
        yield from left
    if len(golden.told) != len(side.told):
        yield Difference(golden.name, ("answers",), len(golden.told), len(side.told))


def found() -> list[Golden]:
    """The goldens of single differences."""
    return [Golden.of(json.loads(path.read_text())) for path in sorted(FOUND.glob("*.json"))]


def keep(golden: Golden) -> Path:
    """Writes the golden of a single difference."""
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"{golden.name}.json"
    path.write_text(json.dumps(golden.plain(), indent=1, ensure_ascii=False) + "\n")
    return path


def broad() -> list[Golden]:
    """The goldens of all kinds."""
    return [Golden.of(plain) for plain in json.loads(gzip.decompress(BROAD.read_bytes()))]


def keep_broad(goldens: Sequence[Golden]) -> None:
    """Writes the goldens of all kinds."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps([golden.plain() for golden in goldens], ensure_ascii=False, separators=(",", ":"))
    BROAD.write_bytes(gzip.compress(text.encode(), mtime=0))
