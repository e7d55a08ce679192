"""`Workload`: work that several programs do, each for itself and in turn, and what is read off it.

Each *side* is one way to do it: Setpoint, one of its peers, or Setpoint in another state. One round asks each side once, in their order, so
that with several rounds they take turns, A B A B: shared machines drift within minutes. A side gives figures by name; a *row* of the table
holds one of them against another side's, or stands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from benchmarks.figures import Goal, Spread

if TYPE_CHECKING:
    from benchmarks.servers import Servers


class Missing(Exception):
    """A server or a peer that is not on this machine; the message says which, and how to get it."""


class Failed(Exception):
    """A program that did not do its work; the message is the end of what it said."""


Figures: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class Setting:
    """What a side works on: the servers, and the number of objects."""

    servers: Servers
    objects: int


@dataclass(frozen=True)
class Side:
    """One of those that do the work. `work` raises `Missing` or `Failed`."""

    name: str
    work: Callable[[Setting], Figures]


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure of one side, beside that of another where there is one."""

    what: str
    figure: str
    unit: str
    ours: str = "setpoint"
    peer: str | None = None
    goal: Goal | None = None


@dataclass(frozen=True)
class Workload:
    """Work, who does it, and what is read off it.

    `objects` is how many there are unless the command line says otherwise, `quick` how many with `--quick`, and `of` says what they are.
    """

    name: str
    about: str
    objects: int
    sides: Sequence[Side]
    rows: Sequence[Row]
    of: str = "objects"
    quick: int = 200


@dataclass
class Outcome:
    """What the rounds of a workload gave: for each side the figures of its rounds, or why there are none."""

    workload: Workload
    objects: int
    figures: dict[str, list[Figures]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def spread(self, side: str | None, figure: str) -> Spread | None:
        """Of one figure of one side; None where it has none."""
        values = [each[figure] for each in self.figures.get(side or "", ()) if figure in each]
        return Spread.of(values) if values else None


def carry_out(workload: Workload, setting: Setting, rounds: int, begins: Callable[[str], None], ended: Callable[[], object]) -> Outcome:
    """Runs it, so many rounds; `begins` is called with a side's name before each of its turns, `ended` after it.

    A side that is missing, or fails, is left out from then on, and the others go on.
    """
    outcome = Outcome(workload, setting.objects)
    left = list(workload.sides)
    for _ in range(rounds):
        for side in list(left):
            begins(side.name)
            try:
                outcome.figures.setdefault(side.name, []).append(side.work(setting))
            except Missing as missing:
                outcome.missing[side.name] = str(missing)
                left.remove(side)
            except (Failed, OSError, EOFError) as failed:  # a server that goes away is a failure of those who ask it
                outcome.failed[side.name] = str(failed) or repr(failed)
                left.remove(side)
            ended()
    return outcome
