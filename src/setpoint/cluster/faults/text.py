"""Faults as text, for a command line: `429:verb=list,resource=pods,times=3`.

First the fault, then what it needs and whom it hits. Several verbs have `|` between them. Times are durations: `250ms`, `1h30m`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeAlias

import msgspec

from setpoint.cluster.faults.actions import CODES, Action, Cut, Delay, Drop, Late, Refuse, Stale
from setpoint.cluster.faults.rules import Match, Rule, verbs
from setpoint.objects.duration import Duration


class Setting(msgspec.Struct, frozen=True):
    """What is no rule, but holds for the server as a whole: how far its clock is ahead, and how long its disk takes."""

    clock: timedelta = timedelta()
    disk: float = 0.0


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError("a whole number is wanted")
    return int(text)


def _seconds(text: str) -> float:
    try:
        return float(text) if text.isascii() and text.replace(".", "", 1).isdigit() else Duration(text).seconds
    except ValueError as error:
        raise ValueError("a duration is wanted, such as 250ms or 1h30m") from error


def _probability(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise ValueError("a probability is wanted, such as 0.1 or 10%") from error


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("true or false is wanted")
    return text == "true"


def _words(text: str) -> tuple[str, ...]:
    return verbs(text.split("|"))


Read: TypeAlias = Callable[[str], Any]
_WHOM: dict[str, Read] = {"verb": _words, **dict.fromkeys(("resource", "subresource", "namespace", "name", "user", "agent"), str)}
_HOW_OFTEN: dict[str, Read] = {"nth": _whole, "times": _whole, "chance": _probability}
_REFUSED: dict[str, Read] = {"retry-after": _whole, "landed": _flag}
_FAULTS: dict[str, tuple[Callable[..., Action], dict[str, Read], tuple[str, ...]]] = {
    **{str(code): (lambda code=code, **rest: Refuse(code, **rest), _REFUSED, ()) for code in CODES},
    "drop": (Drop, {"before": _flag}, ()),
    "delay": (Delay, {"seconds": _seconds, "landed": _flag}, ("seconds",)),
    "late": (Late, {"seconds": _seconds}, ("seconds",)),
    "cut": (Cut, {"events": _whole, "seconds": _seconds, "cleanly": _flag}, ()),
    "stale": (Stale, {"behind": _whole, "always": _flag}, ()),
}
"""Each fault: what makes it, its own keys, and those of them that it cannot be without."""
_SETTINGS: dict[str, tuple[str, Read]] = {
    "clock": ("offset", lambda text: timedelta(seconds=_offset(text))),
    "slow-disk": ("seconds", _seconds),
}


def _offset(text: str) -> float:
    return -_seconds(text[1:]) if text.startswith("-") else _seconds(text.removeprefix("+"))


def parse_fault(text: str) -> Rule | Setting:
    """A fault from its text. Raises `ValueError`, which names what is wrong and what there is."""
    kind, _, rest = text.partition(":")
    pairs: dict[str, str] = {}
    for part in rest.split(",") if rest else ():
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not key:
            raise ValueError(f"{part!r} in the fault {text!r} is no key=value")
        if key in pairs:
            raise ValueError(f"the fault {text!r} says {key} twice; several verbs have | between them")
        pairs[key] = value
    if kind in _SETTINGS:
        return _setting(text, kind, pairs)
    if kind not in _FAULTS:
        raise ValueError(f"there is no fault {kind!r}; there are {', '.join((*_FAULTS, *_SETTINGS))}")
    make, own, needed = _FAULTS[kind]
    for key in needed:
        if key not in pairs:
            raise ValueError(f"the fault {text!r} needs {key}, as in {kind}:{key}=2s")
    given = _given(text, pairs, {**own, **_WHOM, **_HOW_OFTEN})
    try:
        action = make(**{key.replace("-", "_"): value for key, value in given.items() if key in own})
        match = Match(**{key: value for key, value in given.items() if key in _WHOM})
        return Rule(action, match, **{key: value for key, value in given.items() if key in _HOW_OFTEN})
    except ValueError as error:
        raise ValueError(f"the fault {text!r}: {error}") from error


def _given(text: str, pairs: Mapping[str, str], known: Mapping[str, Read]) -> dict[str, Any]:
    found = {}
    for key, value in pairs.items():
        if key not in known:
            raise ValueError(f"there is no key {key!r} in the fault {text!r}; there are {', '.join(known)}")
        try:
            found[key] = known[key](value)
        except ValueError as error:
            raise ValueError(f"{key}={value} in the fault {text!r}: {error}") from error
    return found


def _setting(text: str, kind: str, pairs: Mapping[str, str]) -> Setting:
    key, read = _SETTINGS[kind]
    if key not in pairs:
        raise ValueError(f"the fault {text!r} needs {key}, as in {kind}:{key}=2s")
    value = _given(text, pairs, {key: read})[key]
    return Setting(clock=value) if kind == "clock" else Setting(disk=value)
