"""An informer: one kind under one selection, as a local copy that is kept in step."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from setpoint.api import LabelSelector
from setpoint.cache.entry import Change
from setpoint.cache.events import Delivered, HandlerFailed, IndexFailed, ObjectSkipped, Scanned
from setpoint.cache.form import WHOLE, Form
from setpoint.cache.indexes import Values, by_namespace, by_owner
from setpoint.cache.reflector import Reflector, Server
from setpoint.cache.selection import Selection
from setpoint.cache.states import Advance, Effect, Put, Remove, Replace, Skip, State
from setpoint.cache.view import View
from setpoint.objects import KindInfo, Object, Request, kind_of
from setpoint.objects.codec import decode_meta
from setpoint.objects.indexes import Index, IndexKey
from setpoint.world import World

Handler: TypeAlias = Callable[[Change], None]
Keys: TypeAlias = list[Request]
Objects: TypeAlias = list[bytes]

_log = logging.getLogger("setpoint.cache")
_WORTH_SAYING = 1000


class Informer:
    """Reads see the view; `subscribe` hears of the base's changes. Objects are bytes: whoever reads decodes a copy of its own."""

    def __init__(self, server: Server, kind: type[Object], selection: Selection, form: Form = WHOLE) -> None:
        self.kind = kind
        self.info: KindInfo = kind_of(kind)
        self.selection: Selection = selection
        self.form: Form = form
        self.world: World = server.world
        self._view = View(selection, self._index_failed, form)
        self._reflector = Reflector(server, self.info, selection, self._take, form)
        self._handlers: tuple[Handler, ...] = ()
        self._synced = asyncio.Event()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._waited = 0
        self._scan_said = False
        self._ended = False

    async def run(self) -> None:
        """Keeps the copy in step until cancelled."""
        await self._reflector.run()

    # how it is

    @property
    def has_synced(self) -> bool:
        """Whether the first complete list is in."""
        return self._view.base.has_synced

    @property
    def state(self) -> State:
        """The reflector's state; `state.name` is a word for people."""
        return self._reflector.state

    @property
    def reason(self) -> str:
        """Why it is in that state; empty where nothing went wrong."""
        return self._reflector.reason

    @property
    def last_contact(self) -> float | None:
        """The world's monotonic time when the server was last heard of this kind; None before the first time."""
        return self._reflector.last_contact

    @property
    def version(self) -> int:
        """How far the base has come; 0 before the first complete list, and where the server's versions are no integers."""
        version = self._view.base.version
        return version if isinstance(version, int) else 0

    @property
    def sees_own_writes(self) -> bool:
        """Whether own writes are visible at once. Not where the server's versions are no integers, since those cannot be ordered."""
        return not isinstance(self._view.base.version, str)

    @property
    def is_whole(self) -> bool:
        """Whether it holds now all that it is to hold."""
        return self.has_synced

    def become_whole(self, form: Form) -> None:
        """Somebody needs more than metadata, and says so before it has started."""
        self.form.become(form)

    @property
    def metadata_only(self) -> bool:
        """Whether it has nothing but metadata of its objects: then no typed read is served from it."""
        return self.form.metadata_only

    @property
    def objects(self) -> int:
        """How many objects the base holds."""
        return len(self._view.base)

    @property
    def size(self) -> int:
        """How many bytes it keeps of them, compressed or not; Python needs some 470 more an object."""
        return self._view.base.size

    @property
    def is_filtered(self) -> bool:
        """Whether what it lacks may exist all the same: then a missing object is "not seen", and no proof of absence."""
        return self.selection.is_filtered

    async def synced(self) -> None:
        """Waits for the first complete list."""
        await self._synced.wait()

    async def reached(self, version: int) -> None:
        """Waits until everything up to that version is in the base, or that history has ended: the server has another one now.

        Returns at once where versions have no order, since none is awaited.
        """
        if self._ended or self._view.base.has_reached(version) or not self.sees_own_writes:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waited += 1
        heapq.heappush(self._waiting, (version, self._waited, future))
        await future

    # reading

    def get(self, key: Request) -> bytes | None:
        """The object's bytes in the view, or None if it holds no such object."""
        entry = self._view.entry(key)
        return None if entry is None else entry.data

    def base(self, key: Request) -> bytes | None:
        """The object's bytes in the base: as the server had it, without our own writes since."""
        entry = self._view.base.get(key)
        return None if entry is None else entry.data

    def __bool__(self) -> bool:
        """It is one, also while it holds nothing: an empty copy is as certain as any."""
        return True

    def __len__(self) -> int:
        return len([*self._view.keys()])

    def keys_as_they_came(self) -> Keys:
        """The keys of all objects in the view, for whom the order does not matter: to sort 100,000 blocks for a tenth of a second."""
        return [*self._view.keys()]

    def keys(self) -> Keys:
        """The keys of all objects in the view, ordered by namespace and name."""
        return sorted(self._view.keys(), key=_place)

    def list(
        self,
        *,
        namespace: str | None = None,
        labels: LabelSelector | None = None,
        owner: str | None = None,
        index: IndexKey[Any] | None = None,
    ) -> Objects:
        """The view's objects, ordered by namespace and name. All that is given must hold.

        `namespace` is None for all. `owner` is the UID of the owner that controls them. What finds them by namespace, owner or index is
        built at its first use. Labels are compared object by object.
        """
        keys = self._candidates(namespace, owner, index)
        if labels:
            self._say_scan(len(keys), labels)
        found = []
        for key in keys:
            data = self.get(key)
            if data is not None and (not labels or labels.matches(decode_meta(data).labels)):
                found.append(data)
        return found

    def index(self, by: Index[Any] | Values) -> None:
        """Declares an index (or `by_owner`), so that it is there from the first sync and not built by the first read that needs it."""
        self._view.lookup(by)

    def _candidates(self, namespace: str | None, owner: str | None, index: IndexKey[Any] | None) -> Keys:
        wanted: dict[Values | Index[Any], str] = {}
        if owner is not None:
            wanted[by_owner] = owner
        if index is not None:
            wanted[index.index] = index.value
        if namespace is not None and namespace != self.selection.namespace:
            wanted[by_namespace] = namespace
        if not wanted:
            keys = [*self._view.keys()]
        else:
            (first, value), *more = [(self._view.lookup(by), value) for by, value in wanted.items()]
            keys = [key for key in first.keys(value) if all(lookup.holds(v, key) for lookup, v in more)]
        keys.sort(key=_place)
        return keys

    def _say_scan(self, objects: int, labels: LabelSelector) -> None:
        if self._scan_said or objects < _WORTH_SAYING:
            return
        self._scan_said = True
        _log.info("reading %s with labels %s looks at %d objects each time: an index would answer it", self.info.plural, labels, objects)
        if self.world.observer.heard:
            self.world.observer.emit(Scanned(kind=self.info.group_version_kind, objects=objects, asked=str(labels)))

    # own writes

    def wrote(self, answer: bytes) -> None:
        """Our own write was answered with this object: reads see it from now on, until the base has reached its version."""
        self._view.wrote(answer)

    def deleted(self, key: Request, uid: str) -> None:
        """Our own delete was answered, and the object is gone; one that only terminates goes to `wrote`.

        Nothing happens if the view holds no object with that UID.
        """
        self._view.deleted(key, uid)

    # changes

    def subscribe(self, handler: Handler) -> Callable[[], None]:
        """Calls the handler for each change of the base, in order; for what is there already at once, as initial changes.

        The returned function ends it. A handler must not wait; if it raises, that is logged and told to the observer.
        """
        for key in tuple(self._view.base):
            entry = self._view.base.get(key)
            if entry is not None:
                self._tell(handler, Change(key, None, entry, True))
        self._handlers = (*self._handlers, handler)
        return partial(self.unsubscribe, handler)

    def unsubscribe(self, handler: Handler) -> None:
        """Calls the handler no more."""
        self._handlers = tuple(kept for kept in self._handlers if kept is not handler)

    def end(self) -> None:
        """Holds nothing from now on. Whoever listens hears of each object that it has left, and then nothing more; nobody waits any more.

        Its `run` is to be cancelled as well.
        """
        self._ended = True
        for change in self._view.clear():
            for handler in self._handlers:
                self._tell(handler, change)
        self._handlers = ()
        self._wake(all=True)
        self._synced.set()

    def _take(self, effects: Sequence[Effect]) -> None:
        observed = self.world.observer.hears(Delivered)
        for effect in () if self._ended else effects:
            if isinstance(effect, Skip):
                self._skip(effect)
                continue
            made = self._view.apply(effect)
            if observed:
                self._observe(effect, made)
            self._wake(all=isinstance(effect, Replace) and effect.anew)
            for change in made:
                for handler in self._handlers:
                    self._tell(handler, change)
        if self.has_synced:
            self._synced.set()

    def _tell(self, handler: Handler, change: Change) -> None:
        try:
            handler(change)
        except Exception as error:
            _log.exception("a handler of changes of %s failed for %s", self.info.plural, change.key)
            self.world.observer.emit(HandlerFailed(kind=self.info.group_version_kind, key=change.key, error=error))

    def _wake(self, *, all: bool = False) -> None:
        while self._waiting and (all or self._view.base.has_reached(self._waiting[0][0])):
            future = heapq.heappop(self._waiting)[2]
            if not future.done():
                future.set_result(None)

    def _skip(self, skip: Skip) -> None:
        _log.error("an object of %s is passed over: %s", self.info.plural, skip.reason)
        self.world.observer.emit(ObjectSkipped(kind=self.info.group_version_kind, key=skip.key, reason=skip.reason))

    def _index_failed(self, key: Request, error: Exception) -> None:
        _log.error("an index of %s failed for %s, which it will not find", self.info.plural, key, exc_info=error)
        self.world.observer.emit(IndexFailed(kind=self.info.group_version_kind, key=key, error=error))

    def _observe(self, effect: Put | Remove | Advance | Replace, made: Sequence[Change]) -> None:
        kind, emit = self.info.group_version_kind, self.world.observer.emit
        match effect:
            case Put(key, entry, type):
                emit(Delivered(kind=kind, key=key, type=type, version=entry.version))
            case Remove(key, entry):
                emit(Delivered(kind=kind, key=key, type="DELETED", version=entry.version))
            case Replace(version=version):
                for change in made:
                    emit(Delivered(kind=kind, key=change.key, type="SYNC", version=version))
            case Advance():
                pass


def _place(key: Request) -> tuple[str, str]:
    return key.namespace, key.name
