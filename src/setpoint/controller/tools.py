"""`Tools`: what all runs of one running controller share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from setpoint.client import Client
from setpoint.objects import KindInfo, Request
from setpoint.world import World

from .memo import ApplyMemo
from .said import Said
from .view import View


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """`client` writes under the controller's name; `spawn` runs something beside the run, in a task of its own."""

    controller: str
    world: World
    client: Client
    view: View
    memo: ApplyMemo
    said: Said
    spawn: Callable[[Coroutine[Any, Any, None]], None]


class Written(msgspec.Struct, frozen=True):
    """A write whose outcome is unknown. The key's name is empty where the server would have made it up."""

    info: KindInfo
    key: Request


class RunState:
    """What is known of a run while it lasts, for the runtime alone."""

    __slots__ = ("ended", "failed_applies", "unknown")

    def __init__(self) -> None:
        self.ended = ""
        self.failed_applies: list[str] = []
        self.unknown: list[Written] = []
