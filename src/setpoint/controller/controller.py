"""`Controller`: what to watch, and whom to call. A declaration: it registers nothing and holds nothing that changes while it runs.

So one controller may run in many managers at once, and at import nothing happens. What it lacks or mistakes is said where it is declared.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar, overload

from setpoint.api import LabelSelector
from setpoint.cache import Selection
from setpoint.objects import Index, Object, Request, kind_of

from .context import Context
from .lanes import NORMAL_PRIORITY
from .outside import Outside
from .owns import Labels, Owns, field_selector, label_selector, owned_kinds
from .predicate import Predicate
from .rate_limiters import RateLimiterFactory, checked_factory
from .reads import Reader
from .result import Result
from .signatures import Mapper, ReadyMapper, Reconciler, check_mapper, check_reconciler, checked_priority
from .sync_context import SyncContext

K = TypeVar("K", bound=Object)
W = TypeVar("W", bound=Object)

AsyncReconciler: TypeAlias = Callable[[Context, Request], Awaitable[Result | None]]
SyncReconciler: TypeAlias = Callable[[SyncContext, Request], Result | None]
# Bound to both callables instead of constrained to them: so a checker infers the function's own type, gives it back unchanged, and
# refuses a plain function that takes a Context as well as an async one that takes a SyncContext.
R = TypeVar("R", bound=AsyncReconciler | SyncReconciler)

AsyncMapper: TypeAlias = Callable[[W, Reader], Awaitable[Iterable[Request]]]
SyncMapper: TypeAlias = Callable[[W], Iterable[Request]]

RESYNC = 10 * 3600.0
"""Seconds after which an object runs again at the latest: controller-runtime's SyncPeriod."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class MapDecorator(Protocol[W]):
    """What `Controller.watch(Kind)` gives: it takes the mapper and gives it back."""

    @overload
    def __call__(self, fn: AsyncMapper[W], /) -> AsyncMapper[W]: ...
    @overload
    def __call__(self, fn: SyncMapper[W], /) -> SyncMapper[W]: ...


class Watch:
    """One declared watch: a kind, which of its objects, and which keys a change of one of them concerns."""

    __slots__ = ("fields", "kind", "labels", "mapper", "metadata_only", "predicate", "priority")

    def __init__(
        self,
        kind: type[Object],
        mapper: Mapper,
        *,
        labels: LabelSelector | None = None,
        fields: str = "",
        predicate: Predicate[Any] | None = None,
        metadata_only: bool = False,
        priority: int = NORMAL_PRIORITY,
    ) -> None:
        self.kind: type[Object] = kind
        self.fields: str = fields
        self.mapper: Mapper = mapper
        self.labels: LabelSelector = labels or LabelSelector()
        self.predicate: Predicate[Any] | None = predicate
        self.metadata_only: bool = metadata_only
        self.priority: int = priority


class Controller(Outside, Generic[K]):
    """Declares a controller of a kind: for each of its objects the reconciler is called, whenever something may have to be done.

    `kind` is the *primary* kind: a request is the key of one of its objects. All its changes trigger, unless a `predicate` says which.
    Kinds in `owns` trigger the primary object that controls them by owner reference; `watch` maps any other kind. `labels` and `fields`
    (`"spec.nodeName=worker-1"`) restrict the primary kind, on the server; `Owns(Kind, labels=...)` does so for an owned one.

    `name` (the kind in lower case unless given) appears in logs and metrics and is the field manager of what it writes; a manager takes
    each name once. At most `concurrency` keys run at a time, never one twice. A run that takes longer than `deadline` seconds is cancelled
    and counts as failed. `indexes` are kept by the cache, for `ctx.list(Kind, index=BY_SOURCE("a/b"))`.

    After a run that failed, or asked to run again at once, an object waits as a rate limiter says: `rate_limiter` makes one from the world
    of the manager that runs it (`lambda world: Backoff(world.chance, cap=60)`); by default `Backoff`. After a run that succeeded it rests
    for `min_interval` seconds, whatever asks for it; so it cannot run in a hot loop.

    An object that has not run for `resync` seconds, a tenth more or less, runs again, whatever the predicate says; None for never.

    Raises `TypeError` or `ValueError`, naming the controller and the remedy, for what cannot work.
    """

    def __init__(
        self,
        kind: type[K],
        /,
        *,
        name: str | None = None,
        owns: Sequence[type[Object] | Owns] = (),
        labels: Labels = None,
        fields: str = "",
        predicate: Predicate[K] | None = None,
        indexes: Sequence[Index[Any]] = (),
        reconciler: AsyncReconciler | SyncReconciler | None = None,
        concurrency: int = 1,
        deadline: float | None = None,
        resync: float | None = RESYNC,
        rate_limiter: RateLimiterFactory | None = None,
        min_interval: float = 0.0,
    ) -> None:
        super().__init__()
        info = kind_of(kind)
        self.kind = kind
        self.name: str = info.kind.lower() if name is None else name
        if not _NAME.fullmatch(self.name) or len(self.name) > 128:
            raise ValueError(f"controller name {self.name!r}: use lower-case letters, digits, '-' and '.', 128 at most")
        self.labels: LabelSelector = label_selector(labels, str(self))
        self.fields: str = field_selector(fields, str(self))
        self.predicate: Any = self._checked_predicate(predicate, kind)
        self.indexes: tuple[Index[Any], ...] = tuple(indexes)
        self.concurrency = concurrency
        self.deadline = deadline
        self.resync: float | None = resync
        self.rate_limiter: RateLimiterFactory | None = checked_factory(rate_limiter, str(self))
        self.min_interval: float = min_interval
        self.owned: tuple[Owns, ...] = owned_kinds(owns, str(self))
        self._watches: list[Watch] = []
        self._reconciler: Reconciler | None = None
        for index in self.indexes:
            if not isinstance(index, Index):
                raise TypeError(f"{self}: indexes takes Index(Kind, function), not {index!r}")
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
            raise ValueError(f"{self}: concurrency is the number of keys that run at a time, at least 1, not {concurrency!r}")
        if deadline is not None and not deadline > 0:
            raise ValueError(f"{self}: deadline is a number of seconds above 0, or None, not {deadline!r}")
        if resync is not None and (isinstance(resync, bool) or not isinstance(resync, int | float) or not 0 < resync < float("inf")):
            raise ValueError(f"{self}: resync is a number of seconds above 0, or None for never, not {resync!r}")
        if isinstance(min_interval, bool) or not isinstance(min_interval, int | float) or not 0 <= min_interval < float("inf"):
            raise ValueError(f"{self}: min_interval is a number of seconds, 0 for none, not {min_interval!r}")
        if reconciler is not None:
            self.reconciler(reconciler)

    def __repr__(self) -> str:
        return f"Controller {self.name!r}"

    def reconciler(self, fn: R, /) -> R:
        """Takes the reconciler, and gives it back: a decorator. `async def` ones get a `Context`, plain `def` ones a `SyncContext`."""
        if self._reconciler is not None:
            raise TypeError(f"{self} has a reconciler already, {self._reconciler.name}: declare another Controller for {fn!r}")
        self._reconciler = check_reconciler(fn, str(self))
        return fn

    @overload
    def watch(
        self,
        kind: type[W],
        /,
        *,
        labels: Labels = None,
        fields: str = "",
        predicate: Predicate[W] | None = None,
        metadata_only: bool = False,
        priority: int = NORMAL_PRIORITY,
    ) -> MapDecorator[W]: ...
    @overload
    def watch(
        self,
        kind: type[W],
        /,
        *,
        map: AsyncMapper[W] | SyncMapper[W] | ReadyMapper,
        labels: Labels = None,
        fields: str = "",
        predicate: Predicate[W] | None = None,
        metadata_only: bool = False,
        priority: int = NORMAL_PRIORITY,
    ) -> Self: ...
    def watch(
        self,
        kind: type[Any],
        /,
        *,
        map: Callable[..., Any] | ReadyMapper | None = None,
        labels: Labels = None,
        fields: str = "",
        predicate: Predicate[Any] | None = None,
        metadata_only: bool = False,
        priority: int = NORMAL_PRIORITY,
    ) -> Any:
        """Watches another kind. The mapper gives the requests that an object of it concerns; it is called with the object before and after.

        Use it as a decorator, or pass `map=` to get the controller back; `setpoint.mappers` has ready-made ones. An `async def` mapper gets
        a `Reader` of the cache as well. A mapper that raises is tried again on that object's current state, with backoff.

        `labels` and `fields` are asked of the server, which sends nothing else. With `metadata_only`, mapper and predicate get an `Object`
        that has its metadata and nothing else; nothing else is asked for and held, unless something else holds all of it.

        `priority` is that of the runs which its changes ask for: higher ones go first; 0 is normal. The start-up listing has -100 at most.
        """
        kind_of(kind)
        label_selector(labels, str(self))
        field_selector(fields, str(self))
        self._checked_predicate(predicate, Object if metadata_only else kind)

        def declare(fn: Any) -> Any:
            how: dict[str, Any] = {"labels": labels, "fields": fields, "predicate": predicate, "metadata_only": metadata_only}
            self._watches.append(self.new_watch(kind, fn, priority=priority, **how))
            if isinstance(fn, ReadyMapper):
                self.indexes += tuple(index for index in fn.indexes if index not in self.indexes)
            return fn

        if map is None:
            return declare
        declare(map)
        return self

    def new_watch(
        self,
        kind: type[W],
        /,
        map: AsyncMapper[W] | SyncMapper[W] | ReadyMapper,
        *,
        labels: Labels = None,
        fields: str = "",
        predicate: Predicate[W] | None = None,
        metadata_only: bool = False,
        priority: int = NORMAL_PRIORITY,
    ) -> Watch:
        """A watch as `watch` declares it, which the controller does not keep: for `Manager.add_watch`, while it runs."""
        kind_of(kind)
        checked = self._checked_predicate(predicate, Object if metadata_only else kind)
        field_selector(fields, str(self))
        selector = label_selector(labels, str(self))
        mapper = self._mapper(map, kind)
        return Watch(
            kind,
            mapper,
            labels=selector,
            fields=fields,
            predicate=checked,
            metadata_only=metadata_only,
            priority=checked_priority(priority, str(self)),
        )

    @property
    def owns(self) -> tuple[type[Object], ...]:
        """The kinds that it owns."""
        return tuple(owned.kind for owned in self.owned)

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The watches declared by `watch`."""
        return tuple(self._watches)

    @property
    def declared_reconciler(self) -> Reconciler:
        """The reconciler, and how it is called. Raises `TypeError` if none was declared."""
        if self._reconciler is None:
            raise TypeError(f"{self} has no reconciler: decorate a function with @controller.reconciler, or pass reconciler=")
        return self._reconciler

    @property
    def kinds(self) -> tuple[type[Object], ...]:
        """All kinds that it watches or indexes, the primary one first, each once."""
        watched = [self.kind, *self.owns, *(watch.kind for watch in self._watches), *(index.kind for index in self.indexes)]
        return tuple(dict.fromkeys(watched))

    def _mapper(self, fn: Any, kind: type[Object]) -> Mapper:
        if not isinstance(fn, ReadyMapper):
            return check_mapper(fn, kind, str(self))
        try:
            bound = fn.bound(self.kind, kind, Selection.parse(labels=str(self.labels), fields=self.fields))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self} cannot watch {kind.__name__} so: {error}") from error
        return Mapper(bound, inspect.iscoroutinefunction(bound), repr(fn))

    def _checked_predicate(self, predicate: Any, kind: type[Object]) -> Any:
        if predicate is not None and not isinstance(predicate, Predicate):
            raise TypeError(f"{self}: predicate takes a Predicate, such as setpoint.predicates.generation_changed, not {predicate!r}")
        if predicate is not None:
            try:
                predicate.check(kind)
            except ValueError as error:
                raise ValueError(f"{self}: the predicate cannot be asked about it: {error}") from error
        return predicate
