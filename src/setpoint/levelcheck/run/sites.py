"""Where something can go wrong, and what is decided there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from setpoint.levelcheck.plan import Decision, Site, Where

Fork = Callable[[Site], Decision | None]
"""Asked at each place that no decision is known for: it may split the run in two, and give the one half a decision."""


class Sites:
    """Counts places, and says what is decided at each."""

    def __init__(self, decisions: Sequence[Decision], fork: Fork | None = None) -> None:
        self._by_site: dict[Site, list[Decision]] = {}
        self.add(decisions)
        self._counts: dict[tuple[Where, str, str], int] = {}
        self.fork = fork

    def add(self, decisions: Sequence[Decision]) -> None:
        """These are to be taken, too."""
        for decision in decisions:
            self._by_site.setdefault(decision.site, []).append(decision)

    def site(self, where: Where, who: str = "", what: str = "") -> Site:
        """The next place of this sort."""
        key = (where, who, what)
        nth = self._counts[key] = self._counts.get(key, 0) + 1
        return Site(where, who, what, nth)

    def decided(self, site: Site) -> list[Decision]:
        """What goes wrong here."""
        found = self._by_site.pop(site, [])
        if self.fork is not None and (further := self.fork(site)) is not None:
            found = [*found, further]
        return found

    @property
    def unused(self) -> tuple[str, ...]:
        """The decisions whose place has not come."""
        return tuple(str(decision) for decisions in self._by_site.values() for decision in decisions)
