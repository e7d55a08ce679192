"""The observer hears what happens: metrics, flight recorder and level checker are its listeners, and nothing else knows them.

Each room declares its own events, as subclasses of `Event`. Emitting one with no listener costs a comparison.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened. Subclasses say what."""


class Observer:
    """Passes events to listeners, in the order in which they subscribed. Listeners must not raise and must not wait."""

    __slots__ = ("_listeners",)

    def __init__(self) -> None:
        self._listeners: tuple[Callable[[Event], None], ...] = ()

    @property
    def heard(self) -> bool:
        """Whether anybody listens; ask before building a costly event."""
        return bool(self._listeners)

    def emit(self, event: Event) -> None:
        """Tells every listener."""
        for listener in self._listeners:
            listener(event)

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Adds a listener; the returned function takes it away again."""
        self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            self._listeners = tuple(kept for kept in self._listeners if kept is not listener)

        return unsubscribe
