"""Judgements of texts that come again and again: each text is judged once, unless it is so long that remembering it would cost too much."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

_Asked = TypeVarTuple("_Asked")
_Said = TypeVar("_Said")

LONGEST = 32 * 1024
"""Bytes. A body may have megabytes; specifications of pods and what is applied again and again have seldom more than a few kilobytes."""


def remembering(size: int) -> Callable[[Callable[[*_Asked], _Said]], Callable[[*_Asked], _Said]]:
    """Remembers the last `size` answers of a function of hashable values, but none about bytes that are longer than `LONGEST`.

    The answer must depend on the arguments alone, and nobody may change it.
    """

    def made(judge: Callable[[*_Asked], _Said]) -> Callable[[*_Asked], _Said]:
        kept = lru_cache(maxsize=size)(judge)

        @wraps(judge)
        def judged(*args: *_Asked) -> _Said:
            for arg in args:
                if type(arg) is bytes and len(arg) > LONGEST:
                    return judge(*args)
            return kept(*args)

        return judged

    return made
