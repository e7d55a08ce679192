"""Replay tokens: a plan as one printable word, which brings the same run back.

    lc1,0.1.0,random,0,,F1:after:write:webapp+default/shop:apply+deployments.apps+default/shop:1:seconds=5.0,k3jfqa2

Fields are divided by commas: the form, the version of Setpoint that made it, its hash seed, the plan's seed, its variant of the workload,
the decisions, and a check sum. People want to know what a token does before they run it, and to see in a list of them which fault is which;
so it is not packed but can be read, and is long. It needs no quotes in a shell and no care in a chat: spaces are `+`, and all but letters,
digits and `/ . - _` is written as `%XX`.
"""

from __future__ import annotations

import base64
import os
import zlib
from typing import get_args
from urllib.parse import quote_plus, unquote_plus

import msgspec

from setpoint import __version__
from setpoint.levelcheck.plan import Decision, Plan, Where

FORM = "lc1"
RANDOM = "random"
"""What stands for the hash seed of a process that has no fixed one."""


class BadToken(ValueError):
    """What was given is no token, or not the whole of one; the text says which."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What a token says: the plan, and what it was found with."""

    plan: Plan
    version: str
    hash_seed: str

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is otherwise here than where it was found, a sentence each: the run may come out differently, or its places may be gone."""
        said = []
        if self.version != __version__:
            said.append(f"the token was made by Setpoint {self.version}, and this is {__version__}: its places may be gone")
        if self.hash_seed not in (RANDOM, here := hash_seed()):
            said.append(f"the token was made with PYTHONHASHSEED={self.hash_seed}, and here it is {here}")
        return tuple(said)


def encode(plan: Plan) -> str:
    """The plan as a token, with this Setpoint's version and this process's hash seed."""
    decisions = [_decision(decision) for decision in plan.decisions]
    body = ",".join([FORM, _quoted(__version__), hash_seed(), str(plan.seed), _quoted(plan.variant), *decisions])
    return f"{body},{_check_sum(body)}"


def decode(text: str) -> Plan:
    """The plan of a token. Raises `BadToken`."""
    return read(text).plan


def read(text: str) -> Token:
    """All that a token says; one of another version is read as well, and `remarks` says so. Raises `BadToken`."""
    text = "".join(text.split())  # a terminal may have broken it
    body, _, said = text.rpartition(",")
    form = text.partition(",")[0]
    if not form.startswith("lc") or not body:
        raise BadToken(f"{_short(text)} is no replay token: one begins with {FORM}, and is printed with what was found")
    if form != FORM:
        raise BadToken(f"this token has the form {form}, and Setpoint {__version__} reads {FORM}: it is of a newer Setpoint")
    if said != _check_sum(body):
        raise BadToken("the replay token is cut off or was changed on its way: its check sum does not fit")
    try:
        _, version, seed_of_hashes, seed, variant, *decisions = body.split(",")
        plan = Plan(tuple(_decided(each) for each in decisions), unquote_plus(variant), int(seed))
    except ValueError as error:  # whoever makes a check sum by hand
        raise BadToken(f"the replay token is whole, but says nothing that can be done: {error}") from error
    return Token(plan=plan, version=unquote_plus(version), hash_seed=seed_of_hashes)


def hash_seed() -> str:
    """This process's PYTHONHASHSEED, or "random"."""
    return os.environ.get("PYTHONHASHSEED") or RANDOM


def _decision(decision: Decision) -> str:
    site = decision.site
    fixed = [decision.fault, decision.how, site.where, site.who, site.what, str(site.nth)]
    return ":".join([*map(_quoted, fixed), *(f"{name}={_quoted(str(value))}" for name, value in decision.further().items())])


def _decided(text: str) -> Decision:
    fixed, further = text.split(":")[:6], text.split(":")[6:]
    if len(fixed) < 6:
        raise ValueError(f"{unquote_plus(text)} is no decision")
    fault, how, where, who, what, nth = map(unquote_plus, fixed)
    if where not in get_args(Where):
        raise ValueError(f"there is no place called {where}")
    said = {name: unquote_plus(value) for name, _, value in (each.partition("=") for each in further)}
    site = {"where": where, "who": who, "what": what, "nth": int(nth)}
    return msgspec.convert({"fault": fault, "how": how, "site": site, **said}, Decision, strict=False)


def _quoted(text: str) -> str:
    return quote_plus(text, safe="/").replace("~", "%7E")


def _check_sum(body: str) -> str:
    return base64.b32encode(zlib.crc32(body.encode()).to_bytes(4, "big")).decode().rstrip("=").lower()[:7]


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
