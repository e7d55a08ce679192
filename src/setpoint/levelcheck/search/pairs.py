"""Pairs of faults that are worth a run together, and more of them by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import msgspec

from setpoint.levelcheck.case import Case
from setpoint.levelcheck.plan import Decision, Plan, Site
from setpoint.levelcheck.recording import Recording
from setpoint.levelcheck.search import variants
from setpoint.levelcheck.search.single import DOWN, OLD_AT_MOST, old_lists, singles
from setpoint.world import SeededChance

T = TypeVar("T")
Choose: TypeAlias = Callable[[Plan, Site], Sequence[Decision]]

FIRST_AT_MOST = 40
SECOND_AT_MOST = 12
"""Second faults are tried at the first so many places after the first fault."""
SECOND_IN_A_VARIANT = ("F1", "F5", "F6", "F7", "F8", "F9", "F13")


class Pairs:
    """The pairs of one case."""

    def __init__(self, case: Case, reference: Recording) -> None:
        self._case = case
        self._reference = reference
        self._singles = singles(case, reference).decisions

    def stages(self) -> Iterator[tuple[str, Plan, Choose]]:
        """What is tried together: a name for it, the plan of the trunk, and what branches off where."""
        crashes = [each for each in self._singles if each.fault == "F1" and each.site.where in ("write", "effect")][:FIRST_AT_MOST]
        lost = [each for each in self._singles if each.fault == "F3"][:FIRST_AT_MOST]
        late = [each for each in self._singles if each.fault == "F5" and each.how == "rest"][:FIRST_AT_MOST]
        if self._case.assumptions.own_writes == "late":
            yield "a late cache, and a write that fails", Plan(), self._then(late, self._failed)
        yield "a crash, and another one in the recovery", Plan(), self._then(crashes, self._crash)
        yield "a crash, and a change while down", Plan(), self._then(self._missed(), self._crash)
        steps = self._reference.last_step
        before_a_step = {wrote.site for wrote in self._reference.writes if wrote.at < steps}
        lasting = [
            msgspec.structs.replace(each, how="down", seconds=0.0) for each in crashes if each.how == "after" and each.site in before_a_step
        ]
        yield "a crash that lasts over the user's next step", Plan(), self._then(lasting, lambda site: ())
        yield "a lost reply, and a late cache", Plan(), self._then(lost, self._late)
        yield "a crash, and a late cache", Plan(), self._then(crashes, self._late)
        if self._case.assumptions.lists == "old":
            yield "a crash, and a list from before", Plan(), self._then(self._old(), lambda site: ())

    def _then(self, first: Sequence[Decision], second: Callable[[Site], Sequence[Decision]]) -> Choose:
        by_site: dict[Site, list[Decision]] = {}
        for decision in first:
            by_site.setdefault(decision.site, []).append(decision)
        counts: dict[Decision, int] = {}

        def choose(plan: Plan, site: Site) -> Sequence[Decision]:
            if not plan.decisions:
                return by_site.pop(site, ())
            if len(plan.decisions) > 1:
                return ()
            found = second(site)
            counted = counts.get(plan.decisions[0], 0)
            if not found or counted >= SECOND_AT_MOST:
                return ()
            counts[plan.decisions[0]] = counted + 1
            return found

        return choose

    def _crash(self, site: Site) -> Sequence[Decision]:
        return [Decision("F1", site, "after", DOWN)] if site.where in ("write", "effect") else ()

    def _failed(self, site: Site) -> Sequence[Decision]:
        return [Decision("F2", site, "500")] if site.where == "write" else ()

    def _late(self, site: Site) -> Sequence[Decision]:
        watched = site.where == "event" and site.what.partition(" ")[0] in self._reference.watched
        return [Decision("F5", site, "rest")] if watched else ()

    def _missed(self) -> list[Decision]:
        return [each for each in self._singles if each.fault == "F13"]

    def _old(self) -> list[Decision]:
        """A crash at a write, after which a list is old."""
        writes = [each.site for each in self._singles if each.fault == "F1" and each.how == "after" and each.site.where == "write"]
        old = list(dict.fromkeys((each.resource, each.object) for each in old_lists(self._reference)))
        made = [Decision("F6", site, "after", DOWN, resource=resource, object=object) for site in writes for resource, object in old]
        return made[: 4 * OLD_AT_MOST]

    def variants(self) -> Iterator[str]:
        """Variants of which single faults are tried, too."""
        for name in variants.names(self._case.workload, kinds=self._reference.kinds):
            if name.startswith(("recreate:", "undone:")) or name == "hasty":
                yield name

    def singles_of(self, reference: Recording) -> list[Decision]:
        """The single faults of a variant that are tried."""
        return [each for each in singles(self._case, reference).decisions if each.fault in SECOND_IN_A_VARIANT]

    def by_chance(self, seed: int) -> Iterator[Plan]:
        """Without end: other orders of events, each with up to four faults of a few classes."""
        chance = SeededChance(f"level-check/{seed}")
        classes = sorted({each.fault for each in self._singles})
        number = 100
        while True:
            number += 1
            chosen = set(_some(chance, classes, 1 + chance.below(3)))
            picked = _some(chance, [each for each in self._singles if each.fault in chosen], chance.below(5))
            yield Plan(tuple({each.site: each for each in picked}.values()), seed=number)


def _some(chance: SeededChance, of: Sequence[T], number: int) -> list[T]:
    """So many of them, none twice."""
    left = list(of)
    return [left.pop(chance.below(len(left))) for _ in range(min(number, len(left)))]
