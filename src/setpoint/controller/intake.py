"""`Intake`: where requests from outside the watches come in. They are checked, and then they are keys in the queue like any other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from setpoint.api.paths import is_segment
from setpoint.cache import AnyInformer, Scope
from setpoint.objects import KindInfo, Request

from .lanes import LOW_PRIORITY
from .queue import Queue
from .said import Said

_STRIDE = 1000
"""So many keys are enqueued before others get a turn."""


class Intake:
    """The way into one running controller's queue, which takes keys in the namespaces of the `scope`."""

    def __init__(self, queue: Queue, primary: AnyInformer, said: Said, *, scope: Scope) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue = queue
        self._primary = primary
        self._said = said
        self._scope = scope

    @property
    def controller(self) -> str:
        """The controller's name."""
        return self._queue.name

    def check(self, request: Any) -> Request:
        """The request, if it can be the key of one of the controller's objects. Raises `TypeError` or `ValueError`, and says why not."""
        info: KindInfo = self._primary.info
        if not isinstance(request, Request):
            raise TypeError(f"controller {self.controller!r} takes a Request(namespace, name), not {request!r}")
        for text, what in ((request.name, "name"), (request.namespace, "namespace")):
            if not isinstance(text, str):
                raise TypeError(f"controller {self.controller!r} takes a Request of two texts, not {request!r}")
            if not is_segment(text) or not text.isprintable():
                raise ValueError(f"which {info.kind}? {text!r} is no {what}")
        if not request.name:
            raise ValueError(f"which {info.kind}? '' is no name")
        if info.namespaced and not request.namespace:
            raise ValueError(f"in which namespace is {info.kind} {request.name!r}? Give a Request(namespace, name)")
        if not info.namespaced and request.namespace:
            raise ValueError(f'{info.kind} is in no namespace: give Request("", {request.name!r}), not {request.namespace!r}')
        if not self._scope.holds(request.namespace):
            raise ValueError(f"{info.kind} {request} is in a namespace that is not watched here")
        return request

    def add(self, request: Request, reason: str) -> None:
        """Enqueues one. Raises as `check` does."""
        self._queue.add(self.check(request), reason)

    def add_threadsafe(self, request: Request, reason: str) -> None:
        """As `add`, from any thread. Raises `RuntimeError` where the event loop is no more."""
        self._loop.call_soon_threadsafe(self._queue.add, self.check(request), reason)

    def offer(self, request: Any, reason: str) -> None:
        """Enqueues one that others have named; if it is nobody's key, that is said, once for each reason, and it is left out.

        Raises `TypeError` for what is no request.
        """
        try:
            self._queue.add(self.check(request), reason)
        except ValueError as error:
            self._said.once("not a key", reason, f"{reason} gave a request that is left out: {error}", level=logging.WARNING)

    async def offer_all(self, requests: Iterable[Any], reason: str) -> None:
        """As `offer`, for each of them, and lets others run in between."""
        for number, request in enumerate(requests, 1):
            self.offer(request, reason)
            if number % _STRIDE == 0:
                await asyncio.sleep(0)

    async def all(self, reason: str) -> None:
        """Enqueues every object that is in the cache, behind what is fresh, and lets others run in between."""
        for number, key in enumerate(self._primary.keys(), 1):
            self._queue.add(key, reason, priority=LOW_PRIORITY)
            if number % _STRIDE == 0:
                await asyncio.sleep(0)
