"""Medians, spreads, ratios, and whether a goal is met."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Spread:
    """What several rounds gave: the median, the smallest and the largest. Raises `ValueError` for none."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of what each round gave."""
        if not values:
            raise ValueError("there is no figure of any round")
        return cls(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Goal:
    """A bound on a figure of ours (`value`), on ours divided by the peer's (`ratio`), or on ours less the peer's (`difference`)."""

    of: Literal["value", "ratio", "difference"]
    bound: float
    at_least: bool = False

    def reached(self, ours: float, peer: float | None) -> float | None:
        """What is held against the bound; None where there is no peer's figure to compare with, or it is nothing."""
        if self.of == "value":
            return ours
        if peer is None:
            return None
        return ours - peer if self.of == "difference" else ratio(ours, peer)

    def is_met(self, ours: float, peer: float | None) -> bool | None:
        """None where that cannot be said."""
        reached = self.reached(ours, peer)
        if reached is None:
            return None
        return reached >= self.bound if self.at_least else reached <= self.bound

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        if self.of == "difference":
            return f"{sign} {self.bound:+g}"
        return f"{sign} {as_ratio(self.bound) if self.of == 'ratio' else f'{self.bound:,g}'}"


def ratio(ours: float, peer: float) -> float | None:
    """None where there is nothing to divide by."""
    return ours / peer if peer else None


def as_ratio(value: float) -> str:
    """As people say it: 1/20, 0.6, 1.25."""
    return f"1/{1 / value:.3g}" if 0 < value <= 0.5 else f"{value:.3g}"


def number(value: float) -> str:
    """With three digits that mean something, and thousands set apart."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
