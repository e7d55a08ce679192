"""Records one sequence for each kind, on which both servers agree: `golden/broad.json.gz`."""

from __future__ import annotations

import random

from .generate import Author
from .golden import Golden, keep_broad
from .kinds import KINDS, Kind
from .machine import Field, swept
from .session import FIRST, Different, Session

STEPS, WATCHES = 22, 2
"""Of a sequence."""
ATTEMPTS = 20
"""Sequences that are tried for a kind."""


def record_broad(common: Field) -> list[str]:
    """Writes the goldens of all kinds. Gives the differences that stood in the way of a sequence."""
    goldens: list[Golden] = []
    met: list[str] = []
    for kind in KINDS:
        for attempt in range(ATTEMPTS):
            session, problem = _sequence(common, kind, random.Random(f"{kind.plural} {attempt}"))
            if problem is None:
                goldens.append(Golden(kind.plural, tuple(session.steps), tuple(session.sides[0].told)))
                break
            met.append(f"{kind.plural}: {problem}")
    keep_broad(goldens)
    return met


def _sequence(common: Field, kind: Kind, chance: random.Random) -> tuple[Session, Different | None]:
    """A sequence about a kind, and what differed at its end, if anything did."""
    session = Session(common.sides())
    author = Author(kind, session.sides[0].memory, {})
    try:
        session.take(FIRST)
        while len(session.steps) < STEPS:
            step = author.write(chance.randrange)
            if step.what != "watch" or len(session.watching) < WATCHES:
                author.saw(step, session.take(step))
        for watching in session.watching:
            step = author.marker(watching.step)
            author.saw(step, session.take(step))
        for watching in session.watching:
            session.drain(watching)
    except Different as different:
        return session, different
    finally:
        session.close()
        swept(session, author)
    return session, None
