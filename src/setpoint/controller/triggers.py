"""Triggers: from a change that an informer saw to the keys that it concerns.

Every watch of a controller has one. It hears the base's changes, the start-up listing as changes marked `initial`, asks its predicate,
maps, and adds to the queue. The queue learns keys and nothing else. Nothing is lost on the way: a predicate that raises enqueues, a mapper
that raises is tried again on what the object is by then, and of metadata that cannot be read as a whole what can be read is used.
"""

from __future__ import annotations

import asyncio
import contextvars
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from setpoint.cache import AnyInformer, Change
from setpoint.objects import DecodeError, KindInfo, Object, OwnerReference, Request, decode, decode_meta
from setpoint.world import Observer

from .backoff import Backoff
from .cause import Cause
from .events import MapperFailed, PredicateFailed
from .lanes import LOW_PRIORITY, NORMAL_PRIORITY
from .predicate import Predicate
from .queue import Queue
from .reads import Reader
from .said import in_words, log
from .signatures import Mapper, requests_of
from .tools import ends_the_caller

MAPPER_DEADLINE = 30.0
"""Seconds that an async mapper may take for one object. It reads a cache: one that takes so long waits for something that never comes."""

_STRIDE = 100
"""So many objects are mapped before others get a turn."""

_ADDED = 1000
"""So many keys of one object are enqueued before others get a turn."""


class Trigger(ABC):
    """What all triggers share: they listen to an informer, and ask a predicate."""

    def __init__(
        self,
        queue: Queue,
        informer: AnyInformer,
        predicate: Predicate[Any] | None,
        observer: Observer,
        *,
        read_as: type[Object] | None = None,
        priority: int = NORMAL_PRIORITY,
    ) -> None:
        self.queue = queue
        self.informer = informer
        self.kind: type[Object] = informer.kind
        self._read_as: type[Object] = read_as or informer.kind
        self._predicate = predicate
        self._changed = priority
        self._listed = min(priority, LOW_PRIORITY)
        self._observer = observer
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Hears from now on what changes, and at once what is there."""
        self._unsubscribe = self.informer.subscribe(self._hear)

    async def stop(self) -> None:
        """Hears nothing more."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def _hear(self, change: Change) -> None:
        if change.left:
            return  # its namespace is not looked at any more, which says nothing about the object
        if self._predicate is None or self._accepts(self._predicate, change):
            self._take(change)

    @abstractmethod
    def _take(self, change: Change) -> None:
        """Enqueues what an accepted change concerns."""

    def _priority(self, change: Change) -> int:
        return self._listed if change.initial else self._changed

    def _accepts(self, predicate: Predicate[Any], change: Change) -> bool:
        try:
            old, new = (None if data is None else decode(self._read_as, data) for data in (change.old, change.new))
            return predicate.accepts(old, new, first_sight=change.initial)
        except BaseException as error:
            if ends_the_caller(error):
                raise
            log.error(
                "a predicate of %s failed for %s, which is enqueued: %s",
                self.informer.info.kind,
                change.key,
                in_words(error),
                exc_info=None if isinstance(error, DecodeError) else error,
                extra={"controller": self.queue.name},
            )
            self._observer.emit(
                PredicateFailed(controller=self.queue.name, kind=self.informer.info.kind, key=change.key, error=in_words(error))
            )
            return True


class PrimaryTrigger(Trigger):
    """An object of the primary kind concerns its own key."""

    def _take(self, change: Change) -> None:
        self.queue.add(change.key, Cause("watch", self.informer.info, change), priority=self._priority(change))


class OwnedTrigger(Trigger):
    """An object concerns the one of kind `owner` that controls it: the present one, and the one before the change."""

    def __init__(self, queue: Queue, informer: AnyInformer, owner: KindInfo, observer: Observer) -> None:
        super().__init__(queue, informer, None, observer)
        self._owner = owner

    def _take(self, change: Change) -> None:
        cause = Cause("owned", self.informer.info, change)
        for data in (change.old, change.new):
            if data is not None and (key := self._owner_of(data, change.key)) is not None:
                self.queue.add(key, cause, priority=self._priority(change))

    def _owner_of(self, data: bytes, child: Request) -> Request | None:
        controller, owner = self._controller_of(data, child), self._owner
        if controller is None or controller.kind != owner.kind or controller.api_version.rpartition("/")[0] != owner.group:
            return None
        return Request(child.namespace if owner.namespaced else "", controller.name)

    def _controller_of(self, data: bytes, child: Request) -> OwnerReference | _Controls | None:
        try:
            return decode_meta(data).controller
        except DecodeError as error:
            found = _readable_controller(data)
            log.error(
                "the metadata of %s %s cannot be read as a whole, %s: %s",
                self.informer.info.kind,
                child,
                "so whose it is is not known" if found is None else f"but that {found.kind} {found.name} controls it can",
                in_words(error),
                extra={"controller": self.queue.name},
            )
            return found


class _Controls(msgspec.Struct, rename="camel"):
    """What must be readable of an owner reference to tell the owner's key."""

    api_version: str
    kind: str
    name: str
    controller: bool | None = None


def _readable_controller(data: bytes) -> _Controls | None:
    """The owner that controls an object whose metadata cannot be read as a whole; None if just that cannot be read, or none does."""
    content = msgspec.json.decode(data)
    metadata = content.get("metadata") if isinstance(content, dict) else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    for owner in owners if isinstance(owners, list) else ():
        try:
            found = msgspec.convert(owner, _Controls)
        except msgspec.ValidationError:
            continue
        if found.controller:
            return found
    return None


class _Pending:
    """An object whose mapping is outstanding: the states that were seen and not mapped yet."""

    __slots__ = ("cause", "key", "levels", "priority")

    def __init__(self, key: Request, levels: list[bytes], cause: Cause, priority: int) -> None:
        self.key = key
        self.levels = levels
        self.cause = cause
        self.priority = priority


class MapperHangs(Exception):
    """An async mapper has not returned in time."""


def _passed_over(task: asyncio.Task[None]) -> None:
    """What comes of a task that was left behind matters to nobody."""
    if not task.cancelled():
        task.exception()


class MappedTrigger(Trigger):
    """An object concerns what a function says, before the change and after it.

    The function runs in a task of its own, so that the stream of changes is not held up. When it raises, that is logged, told to the
    observer, and tried again with backoff: what was not mapped, and what the object is by then. An async one that takes longer than
    `MAPPER_DEADLINE` counts as failed, and is left behind even if it does not end when it is cancelled: the others are mapped.
    """

    def __init__(
        self,
        queue: Queue,
        informer: AnyInformer,
        predicate: Predicate[Any] | None,
        mapper: Mapper,
        reader: Reader,
        backoff: Backoff,
        observer: Observer,
        *,
        read_as: type[Object] | None = None,
        priority: int = NORMAL_PRIORITY,
    ) -> None:
        super().__init__(queue, informer, predicate, observer, read_as=read_as, priority=priority)
        self._mapper = mapper
        self._reader = reader
        self._backoff = backoff
        self._pending: deque[_Pending] = deque()
        self._filled = asyncio.Event()
        self._retries: dict[Request, tuple[asyncio.TimerHandle, float, _Pending]] = {}  # each with its time
        self._task: asyncio.Task[None] | None = None
        self._mapping = False
        self._left_behind: dict[asyncio.Task[None], None] = {}  # else the garbage collector would find them, and complain
        self._context = contextvars.copy_context()

    def start(self) -> None:
        """Hears from now on what changes, and at once what is there."""
        self._start_mapping()
        super().start()

    def _start_mapping(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._map_all(), name=f"{self.queue.name}-mapper", context=self._context.copy())

    async def stop(self) -> None:
        """Hears and maps nothing more."""
        await super().stop()
        for retry, _, _ in self._retries.values():
            retry.cancel()
        self._retries.clear()
        task, self._task = self._task, None  # so that it ends after this object, also where the mapper does not let itself be cancelled
        if task is not None:
            task.add_done_callback(_passed_over)
            task.cancel()
            await asyncio.wait([task], timeout=1.0)  # a mapper that does not end is no reason for others not to

    @property
    def is_idle(self) -> bool:
        """Whether everything that was seen is mapped; retries may be pending."""
        return not self._pending and not self._mapping

    def _take(self, change: Change) -> None:
        levels = [data for data in (change.old, change.new) if data is not None]
        cause = Cause("mapped", self.informer.info, change, self._mapper.name)
        self._pending.append(_Pending(change.key, levels, cause, self._priority(change)))
        self._filled.set()

    async def _map_all(self) -> None:
        loop, mapped = asyncio.get_running_loop(), 0
        while True:
            if not self._pending:
                self._filled.clear()
                await self._filled.wait()
            pending = self._pending.popleft()
            self._mapping = True
            limit = loop.call_later(MAPPER_DEADLINE, self._overrun, pending) if self._mapper.is_async else None
            try:
                await self._map(pending)
            finally:
                if limit is not None:
                    limit.cancel()
            if self._is_left_behind:
                return
            self._mapping = False
            mapped += 1
            if mapped % _STRIDE == 0:
                await asyncio.sleep(0)

    def _overrun(self, pending: _Pending) -> None:
        """Leaves the task behind that hangs in the mapper, and goes on in another."""
        if self._task is None or self._unsubscribe is None:
            return
        hanging = self._task
        self._left_behind[hanging] = None
        hanging.add_done_callback(self._left_behind.pop)
        hanging.add_done_callback(_passed_over)
        hanging.cancel()
        self._mapping = False
        self._failed(pending, MapperHangs(f"it has not returned for {MAPPER_DEADLINE:g} s"))
        self._start_mapping()

    @property
    def _is_left_behind(self) -> bool:
        """Whether the task that asks has overrun, and another one maps in its place; or all mapping has been stopped."""
        return self._task is not asyncio.current_task()

    async def _map(self, pending: _Pending) -> None:
        left: list[bytes] = []
        failure: BaseException | None = None
        for level in pending.levels:
            try:
                try:
                    obj = decode(self._read_as, level)
                except DecodeError as error:
                    failure = error  # this state will never be mapped; what follows it may be
                    continue
                requests = await requests_of(self._mapper, obj, self._reader)
                if self._is_left_behind:
                    return
                for number, request in enumerate(requests, 1):
                    self.queue.add(request, pending.cause, priority=pending.priority)
                    if number % _ADDED == 0:
                        await asyncio.sleep(0)
            except BaseException as error:
                if ends_the_caller(error):
                    raise
                left.append(level)
                failure = error
        if self._is_left_behind:
            return
        if failure is None:
            self._backoff.forget(pending.key)
        else:
            pending.levels = left
            self._failed(pending, failure)

    def _failed(self, pending: _Pending, error: BaseException) -> None:
        seconds = self._try_again(pending)
        info = self.informer.info
        log.error(
            "the mapper %s failed for %s %s, and is tried again in %.3g s: %s",
            self._mapper.name,
            info.kind,
            pending.key,
            seconds,
            in_words(error),
            exc_info=None if isinstance(error, DecodeError) else error,
            extra={"controller": self.queue.name},
        )
        self._observer.emit(
            MapperFailed(
                controller=self.queue.name,
                kind=info.kind,
                key=pending.key,
                error=in_words(error),
                retry_after=seconds,
            )
        )

    def _try_again(self, pending: _Pending) -> float:
        """In how many seconds what was not mapped is tried again: with what of the same object waits already, however often it changes."""
        loop, key = asyncio.get_running_loop(), pending.key
        waiting = self._retries.get(key)
        if waiting is None:
            seconds = self._backoff.next(key)
            self._retries[key] = loop.call_later(seconds, self._retry, key), loop.time() + seconds, pending
            return seconds
        _, due, earlier = waiting
        earlier.levels += [level for level in pending.levels if level not in earlier.levels]
        earlier.priority = max(earlier.priority, pending.priority)
        return max(due - loop.time(), 0.0)

    def _retry(self, key: Request) -> None:
        *_, pending = self._retries.pop(key)
        current = self.informer.base(pending.key)
        if current is not None and current not in pending.levels:
            pending.levels.append(current)
        self._pending.append(pending)
        self._filled.set()
