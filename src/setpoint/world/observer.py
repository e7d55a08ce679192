"""The observer hears what happens: metrics, flight recorder and level checker are its listeners, and nothing else knows them.

Each room declares its own events, as subclasses of `Event`. Emitting one that nobody listens to costs a look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened. Subclasses say what."""


Listener: TypeAlias = Callable[[Event], None]


class _Subscription(msgspec.Struct, frozen=True, eq=False):
    """One listener, and the sorts of events that it hears; None for all."""

    listener: Listener
    sorts: tuple[type[Event], ...] | None

    def hears(self, sort: type[Event]) -> bool:
        return self.sorts is None or sort in self.sorts


class Observer:
    """Passes events to listeners, in the order in which they subscribed. Listeners must not raise and must not wait.

    What one hears within another, that one hears first.
    """

    __slots__ = ("_outer", "_subscriptions", "_who")

    def __init__(self, *, within: Observer | None = None) -> None:
        self._outer = within
        self._subscriptions: tuple[_Subscription, ...] = ()
        self._who: dict[type[Event], tuple[Listener, ...]] = {}  # worked out at the first event of each sort

    @property
    def heard(self) -> bool:
        """Whether anybody listens; ask before building a costly event."""
        return bool(self._subscriptions) or (self._outer is not None and self._outer.heard)

    def hears(self, sort: type[Event]) -> bool:
        """Whether anybody listens to events of that class; ask before building many."""
        return any(each.hears(sort) for each in self._subscriptions) or (self._outer is not None and self._outer.hears(sort))

    def emit(self, event: Event) -> None:
        """Tells every listener."""
        outer = self._outer
        if outer is not None and (outer._subscriptions or outer._outer is not None):
            outer.emit(event)
        sort = type(event)
        listeners = self._who.get(sort)
        if listeners is None:
            listeners = self._who[sort] = tuple(each.listener for each in self._subscriptions if each.hears(sort))
        for listener in listeners:
            listener(event)

    def subscribe(self, listener: Listener, sorts: Iterable[type[Event]] | None = None) -> Callable[[], None]:
        """Adds a listener, to events of just these classes, or to all; the returned function takes it away again."""
        subscription = _Subscription(listener, None if sorts is None else tuple(sorts))
        self._set((*self._subscriptions, subscription))

        def unsubscribe() -> None:
            self._set(tuple(kept for kept in self._subscriptions if kept is not subscription))

        return unsubscribe

    def _set(self, subscriptions: tuple[_Subscription, ...]) -> None:
        self._subscriptions = subscriptions
        self._who = {}  # another one: an event may be on its way through the old
