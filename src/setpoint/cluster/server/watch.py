"""Watches: every change goes to every watcher whom it concerns, in the order of revisions.

Storage calls the hub as soon as a change is durable, so it is in the queues of its watchers before the write is answered, and nobody hears
of what could still be undone. What a watch starts with may not be durable yet: the server waits for that before it hands out the watch. A
frame is encoded once, however many watchers get it. A watcher that does not read is dropped rather than waited for.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import TypeAlias

from setpoint.api import ApiError
from setpoint.api.status import expired
from setpoint.api.watch import INITIAL_EVENTS_END, EventType, encode_frame
from setpoint.cluster.server.encoding import restamped
from setpoint.cluster.server.kinds import ServedKind
from setpoint.cluster.server.options import ListOptions
from setpoint.cluster.server.reading import too_large
from setpoint.cluster.server.schema import Json
from setpoint.cluster.server.selection import Selection
from setpoint.cluster.server.storage import Change, Compacted, Record, Storage
from setpoint.cluster.server.views import View
from setpoint.world import World

BOOKMARK_INTERVAL = 60.0
"""Seconds between bookmarks."""
LAST_BOOKMARK = 2.0
"""Seconds before its time-out that a watch gets another one."""
QUEUE_LIMIT = 20_000
"""Frames that may wait for a watcher, beyond those of its start."""
BYTES_LIMIT = 64 * 1024 * 1024
"""Bytes of such frames; those that others get too are counted for each."""
_SHORTEST, _LONGEST = 1800.0, 3600.0


Shape: TypeAlias = tuple[str, str]
"""What watchers have in common who get the same frames: the version and the view."""


class _Emission:
    """One change on its way to many watchers: what they get alike is made once."""

    __slots__ = ("_left", "_made", "change")

    def __init__(self, change: Change) -> None:
        self.change = change
        self._made: dict[EventType, dict[Shape, bytes]] = {"ADDED": {}, "MODIFIED": {}, "DELETED": {}}
        self._left: Record | None = None

    def frame(self, shape: Shape | None, kind: ServedKind, view: View, type: EventType, record: Record) -> bytes:
        if shape is None:
            return encode_frame(type, view.show(kind, record))
        made = self._made[type].get(shape)
        if made is None:
            made = self._made[type][shape] = encode_frame(type, view.show(kind, record))
        return made

    def left(self, previous: Record) -> Record:
        """The previous state under the revision of the change: what a watcher sees of an object that left its selection."""
        if self._left is None:
            revision = self.change.revision
            self._left = Record(previous.collection, previous.key, restamped(previous.value, revision), revision, previous.head)
        return self._left


class _Marks:
    """Bookmarks: all watchers of a kind get the same ones, and while nothing changes, the same again and again."""

    def __init__(self) -> None:
        self._revision = 0
        self._made: dict[tuple[str, str, str, bool], bytes] = {}

    def frame(self, kind: ServedKind, view: View, revision: int, *, initial: bool) -> bytes:
        """The frame that says: everything up to the revision has been told."""
        if revision != self._revision:
            self._revision = revision
            self._made.clear()
        key = (kind.collection, kind.api_version, view.shared, initial)
        if view.shared and key in self._made:
            return self._made[key]
        metadata: dict[str, Json] = {"resourceVersion": str(revision)}
        if initial:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        made = encode_frame("BOOKMARK", view.bookmark(kind, metadata))
        if view.shared:
            self._made[key] = made
        return made


class Watcher:
    """One open watch: a `ServedStream` whose frames wait in memory until they are read."""

    def __init__(self, hub: Hub, kind: ServedKind, selection: Selection, view: View, options: ListOptions) -> None:
        self.kind = kind
        self.selection = selection
        self.view = view
        self._shape = (kind.api_version, view.shared) if view.shared else None
        self._sees_all = selection.everything
        self.bookmarks = options.bookmarks
        self.started = 0
        self._after = options.resource_version or 0
        self._hub = hub
        self._frames: list[bytes] = []
        self._free = 0
        self._bytes = 0
        self._told: Callable[[], object] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._timers: list[asyncio.TimerHandle] = []

    # what the hub does

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self._ended

    def offer(self, emission: _Emission) -> None:
        """Queues what this change is to the watcher."""
        frame = self.frame(emission)
        if frame is not None:
            self._queue(frame)

    def frame(self, emission: _Emission) -> bytes | None:
        """What this change is to the watcher: entering, changing within or leaving its selection, or nothing."""
        change = emission.change
        if change.revision <= self._after:
            return None
        previous = change.previous
        was = previous is not None and (self._sees_all or self.selection.matches(previous))
        now = not change.deleted and (self._sees_all or self.selection.matches(change.record))
        if now:
            return emission.frame(self._shape, self.kind, self.view, "MODIFIED" if was else "ADDED", change.record)
        if was and previous is not None:
            record = change.record if change.deleted else emission.left(previous)
            return emission.frame(self._shape, self.kind, self.view, "DELETED", record)
        return None

    def starts_at(self, revision: int) -> None:
        """What it starts with has everything up to the revision; what becomes durable of that later is no news."""
        self.started = revision
        self._after = max(self._after, revision)

    def begin(self, frames: list[bytes]) -> None:
        """Puts the frames of the start before all others; they do not count towards the limit."""
        if frames and not self.view.tells:
            self.end()
            return
        self._frames[:0] = frames
        self._free += len(frames)
        self._wake()

    def bookmark(self, revision: int, *, initial: bool = False) -> None:
        """Queues a bookmark: everything up to the revision has been queued."""
        self._queue(self.bookmark_frame(revision, initial=initial))

    def bookmark_frame(self, revision: int, *, initial: bool = False) -> bytes:
        """The frame of a bookmark."""
        return self._hub.marks.frame(self.kind, self.view, revision, initial=initial)

    def fail(self, error: ApiError) -> None:
        """Queues an error, which is the last that the watcher gets."""
        self._frames.append(encode_frame("ERROR", error.status.encode()))
        self.end()

    def end(self) -> None:
        """Ends the stream: what is queued is still read, then it is over."""
        self._hub.forget(self)
        self._ended = True
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        self._wake()
        told, self._told = self._told, None
        if told is not None:
            told()

    def until(self, timer: asyncio.TimerHandle) -> None:
        """Keeps a timer that ends with the watch."""
        self._timers.append(timer)

    def _queue(self, frame: bytes) -> None:
        if self._ended:
            return
        if not self.view.tells:
            self.end()
            return
        self._bytes += len(frame)
        if len(self._frames) >= QUEUE_LIMIT + self._free or self._bytes > BYTES_LIMIT:
            self._frames.clear()
            self.end()
            return
        self._frames.append(frame)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # Stream

    async def read(self) -> list[bytes] | None:
        """See `Stream`."""
        while not self._frames:
            if self._ended:
                return None
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        frames, self._frames, self._free, self._bytes = self._frames, [], 0, 0
        return frames

    async def close(self) -> None:
        """See `Stream`."""
        self._frames.clear()
        self.end()

    def when_ended(self, told: Callable[[], object], /) -> None:
        """See `ServedStream`."""
        if self._ended:
            told()
        else:
            self._told = told


class Hub:
    """All open watches of a server."""

    def __init__(self, storage: Storage, world: World) -> None:
        self._storage = storage
        self._world = world
        self._context: Context = copy_context()
        self._watchers: dict[str, dict[Watcher, None]] = {}
        self.marks = _Marks()
        self._bookmarking: dict[Watcher, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._unsubscribe = storage.subscribe_durable(self._changed)

    def open(self, kind: ServedKind, selection: Selection, options: ListOptions, view: View) -> Watcher:
        """Starts a watch.

        An initial state that is asked for, or the events since a resourceVersion, are queued at once. A resourceVersion that is too old
        makes a stream with nothing but an error; that is how the real server says it too.
        """
        watcher = Watcher(self, kind, selection, view, options)
        storage, version = self._storage, options.resource_version
        if options.send_initial_events is None:
            initial = not version
        else:
            initial = options.send_initial_events
        if version and options.send_initial_events and version > storage.revision:
            watcher.fail(too_large(version, storage.revision))
            return watcher
        try:
            self._start(watcher, initial, version)
        except Compacted as error:
            watcher.fail(expired(f"too old resource version: {error.asked} ({error.oldest})"))
            return watcher
        if watcher.ended:
            return watcher
        watcher.starts_at(storage.revision)
        self._watchers.setdefault(kind.collection, {})[watcher] = None
        seconds = options.timeout or self._world.chance.uniform(_SHORTEST, _LONGEST)
        loop = asyncio.get_running_loop()
        # Timers are the server's own: a simulated client that is killed does not take them along.
        watcher.until(loop.call_later(seconds, watcher.end, context=self._context))
        if options.bookmarks:
            self._bookmarking[watcher] = None
            if seconds > LAST_BOOKMARK:
                watcher.until(loop.call_later(seconds - LAST_BOOKMARK, self._bookmark, watcher, context=self._context))
            if self._timer is None:
                self._timer = loop.call_later(BOOKMARK_INTERVAL, self._bookmark_all, context=self._context)
        return watcher

    def _start(self, watcher: Watcher, initial: bool, version: int | None) -> None:
        if not initial:
            if version:
                told = (watcher.frame(_Emission(change)) for change in self._storage.history(version, watcher.kind.collection))
                # However many they are: who is dropped for them would come back for the same ones.
                watcher.begin([frame for frame in told if frame is not None])
            return
        page = self._storage.list(watcher.kind.collection, prefix=watcher.selection.prefix)
        frames = [
            encode_frame("ADDED", watcher.view.show(watcher.kind, record)) for record in page.records if watcher.selection.matches(record)
        ]
        if watcher.bookmarks:
            frames.append(watcher.bookmark_frame(self._storage.revision, initial=True))
        watcher.begin(frames)

    def _changed(self, change: Change) -> None:
        watchers = self._watchers.get(change.collection)
        if watchers:
            emission = _Emission(change)
            for watcher in list(watchers):
                watcher.offer(emission)

    def _bookmark(self, watcher: Watcher) -> None:
        watcher.bookmark(max(self._storage.durable, watcher.started))

    def _bookmark_all(self) -> None:
        for watcher in list(self._bookmarking):
            self._bookmark(watcher)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(BOOKMARK_INTERVAL, self._bookmark_all, context=self._context) if self._bookmarking else None

    def forget(self, watcher: Watcher) -> None:
        """Sends a watcher nothing more."""
        self._watchers.get(watcher.kind.collection, {}).pop(watcher, None)
        self._bookmarking.pop(watcher, None)
        if not self._bookmarking and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def end(self, collection: str) -> None:
        """Ends all watches of a collection, since its kind is no longer served."""
        for watcher in list(self._watchers.get(collection, {})):
            watcher.end()

    def stop(self) -> None:
        """Ends all watches."""
        for collection in list(self._watchers):
            self.end(collection)
        self._unsubscribe()

    def __len__(self) -> int:
        return sum(map(len, self._watchers.values()))
