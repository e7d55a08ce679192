"""`SyncContext`: the verbs of `Context` for plain `def` reconcilers. They run in a thread, and each verb blocks it until it is done.

Every verb is the one of `Context`, awaited on the event loop; nothing is decided here.
"""

from __future__ import annotations

import builtins
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, ParamSpec, TypeVar, overload

from setpoint.client import SyncClient
from setpoint.client.verbs import PatchType, Propagation
from setpoint.objects import Object, Request, Untyped
from setpoint.objects.conditions import HasConditions
from setpoint.objects.indexes import IndexKey
from setpoint.world import Threads

from .context import Context, HasStatus
from .reads import Labels
from .signatures import check_effect, name_of

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", bound=Object)
S = TypeVar("S", bound=HasStatus)


class SyncContext:
    """See the module, and `Context` for what each verb promises and raises."""

    def __init__(self, context: Context, threads: Threads) -> None:
        self._context = context
        self._threads = threads
        self.log: logging.LoggerAdapter[Any] = context.log
        self.client: SyncClient = SyncClient(context.client, self._wait)

    def _wait(self, make: Callable[[], Awaitable[T]]) -> T:
        return self._threads.call(make)

    def now(self) -> datetime:
        """As `Context.now`."""
        return self._context.now()

    def get(self, kind: type[K], key: Request | str, /, *, namespace: str | None = None, live: bool = False) -> K | None:
        """As `Context.get`."""
        return self._wait(lambda: self._context.get(kind, key, namespace=namespace, live=live))

    def list(
        self,
        kind: type[K],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        owner: Object | None = None,
        index: IndexKey[K] | None = None,
        live: bool = False,
    ) -> builtins.list[K]:
        """As `Context.list`."""
        return self._wait(lambda: self._context.list(kind, namespace=namespace, labels=labels, owner=owner, index=index, live=live))

    @overload
    def apply(self, obj: K, /, *, owner: Object | None = None, force: bool = True, subresource: str | None = None) -> K: ...
    @overload
    def apply(
        self,
        obj: Mapping[str, Any],
        kind: type[K],
        /,
        *,
        owner: Object | None = None,
        force: bool = True,
        subresource: str | None = None,
    ) -> K: ...
    @overload
    def apply(
        self, obj: Mapping[str, Any], /, *, owner: Object | None = None, force: bool = True, subresource: str | None = None
    ) -> Untyped: ...
    def apply(
        self,
        obj: Any,
        kind: Any = None,
        /,
        *,
        owner: Object | None = None,
        force: bool = True,
        subresource: str | None = None,
    ) -> Any:
        """As `Context.apply`."""
        return self._wait(lambda: self._context.apply(obj, kind, owner=owner, force=force, subresource=subresource))

    def apply_all(self, objs: Iterable[K], /, *, owner: Object | None = None) -> builtins.list[K]:
        """As `Context.apply_all`."""
        return self._wait(lambda: self._context.apply_all(objs, owner=owner))

    def create(self, obj: K, /, *, owner: Object | None = None) -> K:
        """As `Context.create`."""
        return self._wait(lambda: self._context.create(obj, owner=owner))

    def update(self, obj: K, /) -> K:
        """As `Context.update`."""
        return self._wait(lambda: self._context.update(obj))

    def update_status(self, obj: S, /) -> S:
        """As `Context.update_status`."""
        return self._wait(lambda: self._context.update_status(obj))

    def patch(
        self,
        kind: type[K],
        key: Request | str,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        /,
        *,
        type: PatchType | None = None,
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> K:
        """As `Context.patch`."""
        return self._wait(lambda: self._context.patch(kind, key, patch, type=type, namespace=namespace, subresource=subresource))

    def delete(self, obj: Object, /, *, propagation: Propagation = "Background", grace_seconds: int | None = None) -> None:
        """As `Context.delete`."""
        return self._wait(lambda: self._context.delete(obj, propagation=propagation, grace_seconds=grace_seconds))

    def prune(
        self,
        kind: type[K],
        /,
        *,
        keep: Iterable[K],
        owner: Object | None = None,
        labels: Labels = None,
        index: IndexKey[K] | None = None,
        namespace: str | None = None,
    ) -> builtins.list[Request]:
        """As `Context.prune`."""
        return self._wait(lambda: self._context.prune(kind, keep=keep, owner=owner, labels=labels, index=index, namespace=namespace))

    def add_finalizer(self, obj: Object, finalizer: str, /) -> None:
        """As `Context.add_finalizer`."""
        return self._wait(lambda: self._context.add_finalizer(obj, finalizer))

    def remove_finalizer(self, obj: Object, finalizer: str, /) -> None:
        """As `Context.remove_finalizer`."""
        return self._wait(lambda: self._context.remove_finalizer(obj, finalizer))

    def effect(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """As `Context.effect`; the call is made in this thread."""
        check_effect(call, is_async=False)
        context = self._context
        watch = self._on_loop(lambda: context.begin_effect(call))
        try:
            result = call(*args, **kwargs)
            if inspect.iscoroutine(result):
                result.close()
                raise TypeError(f"ctx.effect: {name_of(call)} gave a coroutine that nobody awaits: call a function that is not async")
        except BaseException as error:
            raised = error
            self._on_loop(lambda: watch(raised))
            raise
        self._on_loop(lambda: watch(None))
        return result

    def set_condition(
        self, obj: HasConditions, type: str, status: bool | Literal["True", "False", "Unknown"], /, *, reason: str, message: str = ""
    ) -> bool:
        """As `Context.set_condition`."""
        return self._context.set_condition(obj, type, status, reason=reason, message=message)

    def event(
        self,
        obj: Object,
        reason: str,
        note: str,
        /,
        *,
        type: Literal["Normal", "Warning"] = "Normal",
        action: str = "Reconcile",
        related: Object | None = None,
    ) -> None:
        """As `Context.event`."""
        return self._on_loop(lambda: self._context.event(obj, reason, note, type=type, action=action, related=related))

    def _on_loop(self, function: Callable[[], T]) -> T:
        """Calls a function where observers and tasks live."""

        async def there() -> T:
            return function()

        return self._wait(there)
