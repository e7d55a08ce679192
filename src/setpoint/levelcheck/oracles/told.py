"""Recordings as oracles look at them: which run was for what, which process lives, who has made an object."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

from setpoint.levelcheck.oracles import generated
from setpoint.levelcheck.recording import AnyMoment, Died, Faulted, Key, Recording, Rested, RunBegan, RunEnded, Stepped


def asked_again(recording: Recording) -> list[AnyMoment]:
    """What happened when every key was asked once more, at the end, with nothing to do. Empty if it did not come to that."""
    if recording.joined or recording.end == "broken":
        return []
    rests = [place for place, moment in enumerate(recording.moments) if isinstance(moment, Rested)]
    if recording.rests:
        begins = recording.rests[-1].moments
    elif rests:
        begins = rests[-2 if len(rests) > 1 and rests[-1] == len(recording.moments) - 1 else -1] + 1
    else:
        return []
    window = recording.moments[begins:]
    return [] if any(isinstance(moment, Stepped | Faulted) for moment in window) else window


def runs(recording: Recording) -> Iterator[tuple[RunBegan, RunEnded]]:
    """Those that have ended, in the order in which they did."""
    begun: dict[tuple[str, str], RunBegan] = {}
    for moment in recording.moments:
        if isinstance(moment, RunBegan):
            begun[moment.process, moment.run] = moment
        elif isinstance(moment, RunEnded) and (began := begun.pop((moment.process, moment.run), None)) is not None:
            yield began, moment


def dead(recording: Recording) -> dict[str, Died]:
    """Processes that are no more."""
    return {moment.process: moment for moment in recording.moments if isinstance(moment, Died)}


def role_of(key: Key) -> str:
    """`default/shop`, or `node-1`: what stands for an object in a finding, beside its resource."""
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


T = TypeVar("T")


def remembered(recording: Recording, what: Hashable, make: Callable[[], T]) -> T:
    """What was made of a recording once is not made again: the reference is asked for with every run."""
    kept: dict[Hashable, T] = recording.__dict__.setdefault("remembered", {})
    if what not in kept:
        kept[what] = make()
    return kept[what]


def in_words(key: Key) -> str:
    """`deployments default/shop`: without the group, which nobody says."""
    resource = key.resource.partition(".")[0]
    return f"{resource} {role_of(key)}"


def run_in_words(began: RunBegan) -> str:
    """`webapp default/shop`."""
    return f"{began.site.who} {began.site.what}"


def canonical_key(key: Key, obj: dict[str, Any]) -> Key:
    """The object's key with a star for what was made up in its name."""
    pattern = generated.pattern(key.resource, obj)
    return Key(key.resource, key.namespace, pattern) if pattern else key


def is_of_controller(process: str) -> bool:
    """Whether that is a process of what is checked: they are called p1, p2 and so on."""
    return process[:1] == "p" and process[1:].isdigit()
