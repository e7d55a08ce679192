"""Names that were made up: by the server for `generateName`, by the simulated workloads, or by a controller itself."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

_MADE_UP = re.compile(
    r"[bcdfghjklmnpqrstvwxz2456789]{5}"  # the alphabet of generated names, which spells no words
    r"|(?=.*[a-z])[bcdfghjklmnpqrstvwxz2456789]{6,}"
    r"|(?=.*\d)(?=.*[a-f])[0-9a-f]{5,}"  # a hash, or the beginning of a UID
    r"|(?=.*[a-z]\d+[a-z])[a-z0-9]{8,}"
    r"|\d{8,}"  # a date, or the minute that it is for
)
_WORDS = ("https", "html5", "tmpfs", "grpcs")


def pattern(resource: str, obj: dict[str, Any]) -> str:
    """An object's name with a star for what was made up (`shop-*`), or empty for a name that somebody has given.

    A name with a UID in it is none of these: it says whose it is.
    """
    metadata = obj.get("metadata") or {}
    name: str = metadata.get("name", "")
    if UID.search(name):
        return ""
    if (given := metadata.get("generateName")) and name.startswith(given):
        return f"{made_up(given) or given}*"
    owners = metadata.get("ownerReferences") or ()
    if resource in ("replicasets.apps", "jobs.batch") and any(
        owner.get("kind") in ("Deployment", "CronJob") and owner.get("controller") for owner in owners
    ):
        # Named after a hash of their template, or the minute that they are for.
        return f"{name.rpartition('-')[0]}-*"
    return made_up(name)


def made_up(name: str, known: Collection[str] = ()) -> str:
    """As `pattern`, told from the name alone: `shop-x7k2p` looks made up, `shop-main`, `db-0` and `us-east1` do not.

    `known` are parts that were made up for something else: what is named after that has one in its name.
    """
    first, *parts = name.split("-")
    starred = ["*" if part in known or (_MADE_UP.fullmatch(part) and part not in _WORDS) else part for part in parts]
    return "-".join([first, *starred]) if starred != parts else ""


def parts(name: str, pattern: str) -> list[str]:
    """What was made up in a name of that pattern."""
    stars = pattern.split("-")
    given = name.split("-")
    found = [part for part, star in zip(given, stars, strict=False) if star == "*"]
    return found or given[-1:]
