"""Leader election: of several processes one at most writes, whatever stands still, breaks or tells the wrong time; and soon one does again.

Each check is also run on something that is broken, so as to show that it can fail.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import pairwise

import msgspec
import pytest

from setpoint.manager.election.settings import JITTER
from setpoint.world import SeededChance, World, simulate

from .elections import ELECTION, Candidate, Stage, late_writes

RECOVERY = ELECTION.lease_duration + ELECTION.retry_period * (1 + JITTER) + 0.2  # the last for what is under way
SEEDS = 500


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="setpoint")


# Faults: what becomes of the holder, for longer than the lease or not so long, until all is well again. Each says what it was.


def a_while(stage: Stage) -> float:
    return stage.chance.uniform(1, 14) if stage.chance.below(2) else stage.chance.uniform(16, 40)


def lasting(seconds: float) -> str:
    return "beyond the lease" if seconds > ELECTION.lease_duration else "within the lease"


async def partition(stage: Stage, holder: Candidate, all_of_them: list[Candidate]) -> None:
    targets = (all_of_them, [holder], [one for one in all_of_them if one is not holder])[stage.chance.below(3)]
    seconds = a_while(stage)
    who = "everybody" if len(targets) > 1 else "the holder" if holder in targets else "a standby"
    stage.count(f"{who} cut off {lasting(seconds)}")
    healed = asyncio.Event()
    for target in targets:
        stage.cut[target.name] = healed
    await asyncio.sleep(seconds)
    stage.cut.clear()
    healed.set()


async def pause(stage: Stage, holder: Candidate, all_of_them: list[Candidate]) -> None:
    loop, seconds = asyncio.get_running_loop(), a_while(stage)
    what, who = ((holder.name, "the process"), (f"{holder.name}/election", "the election alone"))[stage.chance.below(2)]
    stage.count(f"{who} paused {lasting(seconds)}")
    loop.pause(what)
    await asyncio.sleep(seconds)
    loop.resume(what)


async def clock_jump(stage: Stage, holder: Candidate, all_of_them: list[Candidate]) -> None:
    target, seconds = all_of_them[stage.chance.below(len(all_of_them))], stage.chance.uniform(-100_000, 100_000)
    stage.count(f"the {'holder' if target is holder else 'standby'}'s clock jumps {'back' if seconds < 0 else 'forward'}")
    target.jump(seconds)
    await asyncio.sleep(stage.chance.uniform(1, 20))


async def errors(stage: Stage, holder: Candidate, all_of_them: list[Candidate]) -> None:
    targets = all_of_them if stage.chance.below(2) else [holder]
    code, seconds = (500, 503, 403, 429)[stage.chance.below(4)], a_while(stage)
    stage.count(f"{code} for {'everybody' if len(targets) > 1 else 'the holder'} {lasting(seconds)}")
    for target in targets:
        stage.failing[target.name] = code
    await asyncio.sleep(seconds)
    stage.failing.clear()


FAULTS = [partition, pause, clock_jump, errors]
Broken = Callable[[Candidate], None]


async def last_without_leader(stage: Stage, candidates: list[Candidate], seconds: float) -> float:
    """After how many of so many seconds somebody leads from then on."""
    began, last = stage.now, 0.0
    while stage.now < began + seconds:
        if not any(candidate.leads for candidate in candidates):
            last = stage.now - began
        await asyncio.sleep(0.25)
    return last


def story(seed: int | str, faults: list, broken: Broken = lambda candidate: None) -> tuple[Stage, float, float]:
    """Two candidates, faults, and a clean release: the stage, the longest time without a leader after a fault, and after the release."""

    async def main(world: World) -> tuple[Stage, float, float]:
        stage = Stage(world, SeededChance(f"{seed}/stage"))
        candidates = [Candidate(stage, name, broken=broken) for name in ("a", "b")]
        longest = await last_without_leader(stage, candidates, 5)
        for fault in faults:
            await asyncio.sleep(stage.chance.uniform(0, 5))
            await fault(stage, next((candidate for candidate in candidates if candidate.leads), candidates[0]), candidates)
            longest = max(longest, await last_without_leader(stage, candidates, RECOVERY + 10))
        holder, other = sorted(candidates, key=lambda candidate: not candidate.leads)
        stopping = asyncio.create_task(holder.stop())
        released = await stage.until(lambda: other.leads)
        await stopping
        await other.stop()
        stage.server.stop()
        return stage, longest, released

    return simulate(main, seed=seed)


OCCURS = [
    *(f"{who} cut off {lasts}" for who in ("the holder", "a standby", "everybody") for lasts in ("within the lease", "beyond the lease")),
    *(f"{who} paused {lasts}" for who in ("the process", "the election alone") for lasts in ("within the lease", "beyond the lease")),
    *(f"the {who}'s clock jumps {where}" for who in ("holder", "standby") for where in ("back", "forward")),
    *(
        f"{code} for {who} {lasts}"
        for code in (500, 503, 403, 429)
        for who in ("the holder", "everybody")
        for lasts in ("within the lease", "beyond the lease")
    ),
    "leadership lost",
    "not renewed in time",
    "a write held back",
    "a write on its way when it was cut off",
    "a write refused",
]
"""What the seeds must bring about for the checks below to mean anything."""


def test_no_write_leaves_after_the_deadline_and_soon_somebody_leads_again():
    happened: dict[str, int] = {}
    for seed in range(SEEDS):
        chance = SeededChance(f"{seed}/faults")
        faults = [FAULTS[chance.below(len(FAULTS))] for _ in range(1 if seed % 5 else 2)]
        stage, longest, released = story(seed, faults)
        told = f"seed {seed}: {', '.join(stage.happened)}"
        assert not late_writes(stage), f"{told}: {late_writes(stage)[0]}"
        assert longest <= RECOVERY, f"{told}: {longest} s without a leader"
        assert released < 2, f"{told}: {released} s from the release to the next leader"
        assert len(stage.writes) > 10, told
        for what in stage.happened:
            happened[what] = happened.get(what, 0) + 1
    never = [what for what in OCCURS if what not in happened]
    assert not never, f"in none of {SEEDS} seeds: {never}; {happened}"


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_does_take_the_leadership_from_its_holder(fault):
    """But for a clock that jumps: nobody compares clocks."""
    holders = [story(seed, [fault])[0].holders for seed in range(20)]
    lost = sum(1 for changes in holders if any(before and after for (_, before), (_, after) in pairwise(changes)))
    assert (lost == 0) == (fault is clock_jump)


# What is broken, and is noticed


def noticed(fault, broken: Broken, check: Callable[[Stage, float, float], bool], seeds: int = 20) -> bool:
    return any(check(*story(seed, [fault] if fault else [], broken)) for seed in range(seeds))


def is_late(stage: Stage, longest: float, released: float) -> bool:
    return bool(late_writes(stage))


def test_broken_a_write_after_a_pause_is_noticed():
    def no_fence(candidate: Candidate) -> None:
        candidate.connection.fence = lambda: None

    assert noticed(pause, no_fence, is_late)
    assert not noticed(pause, lambda candidate: None, is_late)


@pytest.mark.parametrize("fault", [partition, errors])
def test_broken_a_holder_that_gives_up_too_late_is_noticed(fault):
    def stubborn(candidate: Candidate) -> None:
        candidate.elect(renew_deadline=1000.0)

    assert noticed(fault, stubborn, is_late)


def test_broken_a_candidate_that_judges_by_the_time_of_day_is_noticed():
    def by_the_time_of_day(candidate: Candidate) -> None:
        candidate.clock.monotonic = lambda: candidate.clock.now().timestamp()

    assert noticed(clock_jump, by_the_time_of_day, is_late)


def test_broken_a_candidate_that_tries_too_seldom_is_noticed():
    def slow(candidate: Candidate) -> None:
        candidate.elect(retry_period=60.0)

    assert noticed(partition, slow, lambda stage, longest, released: longest > RECOVERY)


def test_broken_a_standby_that_does_not_watch_is_noticed():
    def blind(candidate: Candidate) -> None:
        candidate.network.blind = True

    assert noticed(None, blind, lambda stage, longest, released: released >= 2)


def test_broken_a_lease_that_is_not_given_back_is_noticed():
    def keeps_it(candidate: Candidate) -> None:
        candidate.network.no_release = True

    assert noticed(None, keeps_it, lambda stage, longest, released: released >= 2, seeds=2)


def test_the_same_seed_is_the_same_story():
    told = [[(write.at, write.by) for write in story("again", FAULTS)[0].writes] for _ in range(2)]
    assert told[0] == told[1]
    assert told[0]


def test_the_times_of_an_election_are_checked():
    for wrong, said in (
        ({"renew_deadline": 15}, "must be longer than renew_deadline"),
        ({"retry_period": 9}, "must be longer than 1.2 times retry_period"),
        ({"retry_period": 0}, "must be positive"),
        ({"lease_duration": 15.5}, "whole seconds"),
        ({"name": ""}, "name and the namespace"),
    ):
        with pytest.raises(ValueError, match=said):
            msgspec.structs.replace(ELECTION, **wrong)
