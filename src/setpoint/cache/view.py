"""The view: the base plus what this process has written itself and the base does not show yet. Reads see it.

An own write stays until the base has reached its version: then the base shows it, or what somebody else made of it since. So a foreign
change is never hidden, and no event is ever swallowed, since events go to the base. A deletion has no version that the server tells; its
tombstone hides one UID, and ends when the base, being far enough, does not hold that UID.

Versions that are no integers have no order; then there are no own writes in the view, and it equals the base.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from setpoint.cache.entry import Change, Entry, Version, is_older
from setpoint.cache.form import WHOLE, Form
from setpoint.cache.indexes import Lookup, Values, by_index
from setpoint.cache.selection import Selection
from setpoint.cache.states import Advance, Found, Put, Remove, Replace
from setpoint.cache.store import Store
from setpoint.objects import Request
from setpoint.objects.indexes import Index


class Own(msgspec.Struct, frozen=True, gc=False):
    """Our write's answer: the object is like this, until the base has reached `version`."""

    entry: Entry
    version: int


class Left(msgspec.Struct, frozen=True, gc=False):
    """Our write took the object out of what the informer selects: it is not seen, until the base has reached `version`."""

    version: int


class Gone(msgspec.Struct, frozen=True, gc=False):
    """We deleted the object with that UID, which the view held at `version`.

    Nothing is seen until the base has reached that version, since what it has before that is older still, and does not hold that UID.
    (Under a selector, an object that leaves the selection is not held either; one that came back before its deletion is seen that long.)
    """

    uid: str
    version: int


Overlay: TypeAlias = Own | Left | Gone


class View:
    """What reads see of one informer. `report` is told which object an index failed for."""

    def __init__(self, selection: Selection, report: Callable[[Request, Exception], None], form: Form = WHOLE) -> None:
        self.base: Store = Store()
        self._selection = selection
        self._form = form
        self._overlay: dict[Request, Overlay] = {}
        self._due: list[tuple[int, Request]] = []
        """Overlays by the version that ends them, as a heap; those that have been replaced since are passed over."""
        self._report = report
        self._lookups: dict[Values | Index[Any], Lookup] = {}

    # reading

    def entry(self, key: Request) -> Entry | None:
        """The object's entry, or None."""
        match self._overlay.get(key):
            case None:
                return self.base.get(key)
            case Own(entry):
                return entry
            case Left() | Gone():
                return None

    def keys(self) -> Iterator[Request]:
        """The key of every object in it."""
        if not self._overlay:
            yield from self.base
            return
        for key in self.base:
            if key not in self._overlay or self.entry(key) is not None:
                yield key
        for key in self._overlay:
            if self.base.get(key) is None and self.entry(key) is not None:
                yield key

    def lookup(self, by: Values | Index[Any]) -> Lookup:
        """The lookup by that function or index; the first call builds it, from every object in the view."""
        lookup = self._lookups.get(by)
        if lookup is None:
            lookup = Lookup(by_index(by) if isinstance(by, Index) else by, self._report)
            for key in self.keys():
                lookup.set(key, self.entry(key))
            self._lookups[by] = lookup
        return lookup

    @property
    def own_writes(self) -> int:
        """How many own writes the base does not show yet."""
        return len(self._overlay)

    # own writes

    def wrote(self, data: bytes) -> None:
        """An own write was answered with this object. Raises `DecodeError` if it is none."""
        key, entry = self._form.read(data)
        version = entry.version
        if not isinstance(version, int) or self.base.has_reached(version):
            return
        if self._selection.namespace and key.namespace != self._selection.namespace:
            return
        before = self._overlay.get(key)
        if before is not None and (before.version >= version or (isinstance(before, Gone) and before.uid == entry.uid)):
            return  # Answers may come out of order, and what is deleted does not come back.
        self._lay(key, Own(entry, version) if self._selection.selects(key, data) else Left(version))

    def deleted(self, key: Request, uid: str) -> None:
        """An own delete was answered, and the object with that UID is gone, not merely terminating. Nothing, if the view holds another."""
        held = self.entry(key)
        if held is not None and held.uid == uid and isinstance(held.version, int):
            self._lay(key, Gone(uid, held.version))

    # the base

    def apply(self, effect: Put | Remove | Advance | Replace) -> list[Change]:
        """Takes the base one step forward; gives the base's changes."""
        match effect:
            case Put(key, entry):
                made = self.base.put(key, entry)
                self._settle((key,))
            case Remove(key, entry):
                made = self.base.remove(key, entry.version)
                self._settle((key,))
            case Advance(version):
                self.base.advance(version)
                made = []
                self._settle(())
            case Replace(found, version, anew):
                unseen = [] if anew else self._came_and_went(found, version)
                made = [*unseen, *self.base.replace(found, version, anew=anew)]
                if anew:
                    self._forget()
                self._settle(tuple(dict.fromkeys(change.key for change in made)) if self._overlay or self._lookups else ())
        return made

    def _came_and_went(self, found: Found, version: Version) -> list[Change]:
        """What we have made, and somebody has deleted before the base could show it: a list that has come further lacks it.

        It is told of as what it was, a creation and a deletion: reads have shown it, so whoever relied on that has to hear that it is gone.
        """
        gone = [
            (key, own.entry)
            for key, own in self._overlay.items()
            if isinstance(own, Own)
            and not is_older(version, own.version)
            and self.base.get(key) is None
            and ((there := found.get(key)) is None or there.uid != own.entry.uid)
        ]
        return [change for key, entry in gone for change in (Change(key, None, entry), Change(key, entry, None))]

    def _lay(self, key: Request, overlay: Overlay) -> None:
        self._overlay[key] = overlay
        heapq.heappush(self._due, (overlay.version, key))
        self._reindex(key)

    def _settle(self, touched: tuple[Request, ...]) -> None:
        """Ends what the base has caught up with. `touched` are the keys that changed in it."""
        while self._due and self.base.has_reached(self._due[0][0]):
            key = heapq.heappop(self._due)[1]
            if self._end(key):
                self._reindex(key)
        for key in touched:
            if self._overlay:
                self._end(key)
            self._reindex(key)

    def _end(self, key: Request) -> bool:
        overlay = self._overlay.get(key)
        if overlay is None or not self.base.has_reached(overlay.version):
            return False
        if isinstance(overlay, Gone):
            base = self.base.get(key)
            if base is not None and base.uid == overlay.uid:
                return False
        del self._overlay[key]
        return True

    def clear(self) -> list[Change]:
        """Everything goes, the own writes too; gives the base's changes."""
        self._forget()
        made = self.base.clear()
        for change in made:
            self._reindex(change.key)
        return made

    def _forget(self) -> None:
        """Versions of another history mean nothing here."""
        forgotten = list(self._overlay)
        self._overlay.clear()
        self._due.clear()
        for key in forgotten:
            self._reindex(key)

    def _reindex(self, key: Request) -> None:
        if self._lookups:
            entry = self.entry(key)
            for lookup in self._lookups.values():
                lookup.set(key, entry)
