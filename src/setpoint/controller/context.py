"""`Context`: what an `async def` reconciler sees of the world. Reads from the cache, writes to the server, and a clock.

It is made for one run and ends with it. Nothing in it tells what triggered the run or whether it is a retry: look at the state.
"""

from __future__ import annotations

import builtins
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, cast, overload

from setpoint.client import Client
from setpoint.client.errors import Conflict, NotFound
from setpoint.client.verbs import PatchType, Propagation
from setpoint.objects import Object, ObjectMeta, Request, Untyped, decode, decode_head, decode_meta
from setpoint.objects.conditions import HasConditions, set_condition
from setpoint.objects.indexes import IndexKey

from .events import ApplySkipped, EffectCalled
from .reads import CachedReader, Labels
from .run_client import RunClient
from .said import in_words, log
from .signatures import check_effect, name_of
from .tools import RunState, Tools

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", bound=Object)


class HasStatus(Protocol):
    """An object whose kind has a status."""

    @property
    def metadata(self) -> ObjectMeta: ...
    @property
    def status(self) -> Any: ...


S = TypeVar("S", bound=HasStatus)


class PruneRefused(Exception):
    """An apply failed in this run, so what is to be kept is not known, and nothing was deleted."""


class Context(CachedReader):
    """What a run reads, writes and asks; see the module. Errors of the server are `ApiError`s, and need no handling: raising is backoff.

    `log` is bound to the controller and the request, and to nothing else. `client` has all the verbs of the API: those that are not here
    are scale, eviction, logs, tokens, collections, trials and programs in containers. What it writes is a write of this run like any other,
    and seen by the reads that follow; what it reads, it reads from the server.
    """

    def __init__(self, tools: Tools, request: Request, run: RunState) -> None:
        super().__init__(tools.client, tools.view, tools.said, run)
        self._tools = tools
        self._request = request
        self._run: RunState = run
        # Most runs find all as it should be: they read, and neither write nor say anything.
        self._own: Client | None = None
        self._log: logging.LoggerAdapter[Any] | None = None

    @property
    def client(self) -> Client:
        """All the verbs of the API, on behalf of this run."""
        if self._own is None:
            self._own = RunClient(self._tools, self._run)
        return self._own

    @property
    def log(self) -> logging.LoggerAdapter[Any]:
        """Says something of this run, with its controller and request."""
        if self._log is None:
            self._log = logging.LoggerAdapter(log, {"controller": self._tools.controller, "request": str(self._request)})
        return self._log

    def now(self) -> datetime:
        """The time, in UTC. In tests it is simulated."""
        return self._tools.world.clock.now()

    # reading: see CachedReader

    # writing

    @overload
    async def apply(self, obj: K, /, *, owner: Object | None = None, force: bool = True, subresource: str | None = None) -> K: ...
    @overload
    async def apply(
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
    async def apply(
        self, obj: Mapping[str, Any], /, *, owner: Object | None = None, force: bool = True, subresource: str | None = None
    ) -> Untyped: ...
    async def apply(
        self,
        obj: Object | Mapping[str, Any],
        kind: type[Object] | None = None,
        /,
        *,
        owner: Object | None = None,
        force: bool = True,
        subresource: str | None = None,
    ) -> Object:
        """States what `obj` states, by server-side apply, and gives the object that results; it is created if there is none.

        `owner` becomes its controller: deleting the owner deletes it. Fields that another manager owns are taken over, or make a
        `Conflict` with `force=False`. The status is not sent. Nothing is sent at all if that would change nothing.

        Raises `OwnerRefused` for an owner in another namespace, or where another owner controls the object already.
        """
        wanted = kind or (type(obj) if isinstance(obj, Object) else Untyped)
        self._run.check_open()
        prepared = await self.client.prepare_apply(obj, kind, owner=owner, force=force, subresource=subresource)
        cached = self._view.get(prepared.info, prepared.key)
        memo, observer = self._tools.memo, self._tools.world.observer
        if cached is not None and memo.is_settled(prepared, cached):
            if observer.heard:
                observer.emit(
                    ApplySkipped(controller=self._tools.controller, request=self._request, kind=prepared.info.kind, key=prepared.key)
                )
            return decode(wanted, cached)
        answer = await self.client.apply_prepared(prepared, owner)
        memo.answered(prepared, answer, self._view.informers(prepared.info))
        return decode(wanted, self._view.stripped(prepared.info).of(answer))  # as it is where nothing had to be sent

    async def apply_all(self, objs: Iterable[K], /, *, owner: Object | None = None) -> builtins.list[K]:
        """Applies one after the other, in order; ends at the first that fails."""
        return [await self.apply(obj, owner=owner) for obj in objs]

    async def create(self, obj: K, /, *, owner: Object | None = None) -> K:
        """The object as the server created it; the argument is not touched, its status not sent. Raises `AlreadyExists`.

        Prefer `apply` where the name is known: it may be repeated.
        """
        self._run.check_open()
        return await self.client.create(obj, owner=owner)

    async def update(self, obj: K, /) -> K:
        """Writes what was changed in `obj` since it was read, brings it up to the answer and returns it. The status is left alone.

        Only the difference is sent; without one, nothing. Raises `Conflict` if the object has changed since it was read: let it pass, the
        key runs again at once and reads the newer one.
        """
        await self._change(obj)
        return obj

    async def update_status(self, obj: S, /) -> S:
        """As `update`, for the status alone; what was changed in the rest of `obj` is neither sent nor lost."""
        await self._change(cast(Object, obj), subresource="status")
        return obj

    async def patch(
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
        """The object after a patch, sent as it is: a mapping is a JSON merge patch, a list a JSON Patch, unless `type` says more."""
        self._run.check_open()
        return await self.client.patch(kind, key, patch, type=type, namespace=namespace, subresource=subresource)

    async def delete(self, obj: Object, /, *, propagation: Propagation = "Background", grace_seconds: int | None = None) -> None:
        """Asks for the deletion of just this object: if it is gone, or another one has its name now, it is done.

        It may stay for a while, terminating, until its finalizers are removed. A pod gets the seconds that it asks for to stop, unless
        `grace_seconds` says otherwise.
        """
        self._run.check_open()
        await self.client.delete(obj, propagation=propagation, grace_seconds=grace_seconds)

    async def prune(
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
        """Deletes those of `owner`, with `labels`, or found by `index`, that are not in `keep`, and gives their keys.

        At least one of the three must say whose they are; several must all hold. `keep` are objects, such as `apply` gave them. Raises
        `PruneRefused` if an apply or a create failed in this run, even if that was caught: what is to be kept is not known then.
        """
        if owner is None and index is None and not labels:
            raise ValueError(f"prune({kind.__name__}) needs owner=, labels= or index=: else it would delete every {kind.__name__} there is")
        if self._run.failed_applies:
            raise PruneRefused(
                f"prune({kind.__name__}) deletes nothing, because a write of this run failed, so what to keep is not known: "
                f"{self._run.failed_applies[0]}"
            )
        uids, keys = self._kept(kind, keep, namespace or (owner.namespace if owner is not None else ""))
        found = await self.list(kind, namespace=namespace, labels=labels, owner=owner, index=index)
        pruned = []
        for obj in found:
            if obj.metadata.uid not in uids and obj.key not in keys and not obj.is_terminating:
                await self.delete(obj)
                pruned.append(obj.key)
        return pruned

    async def add_finalizer(self, obj: Object, finalizer: str, /) -> None:
        """Makes the server keep `obj`, once deleted, until the finalizer is removed. Nothing is done if it is there, or `obj` terminates.

        Only this entry is touched, and `obj` brought up to the answer. So when it returns the finalizer is there, unless `obj` itself says
        that it terminates. Raises `Conflict` if the object has changed since it was read, `NotFound` if it is gone: let that pass, the key
        runs again at once, and what is made outside the cluster only after this is never left behind.
        """
        if obj.is_terminating or finalizer in obj.metadata.finalizers:
            return
        try:
            await self._set_finalizers(obj, [*obj.metadata.finalizers, finalizer])
        except (NotFound, Conflict):
            await self._live(obj)  # so that the next run sees what has become of it, be the watch as slow as it may
            raise

    async def remove_finalizer(self, obj: Object, finalizer: str, /) -> None:
        """Lets go of a terminating `obj`, as far as this finalizer goes. Does nothing if it is not there, or the object is gone.

        Only this entry is touched, and `obj` brought up to the answer. Raises `Conflict` if the object has changed since it was read.
        """
        if finalizer not in obj.metadata.finalizers:
            return
        try:
            await self._set_finalizers(obj, [entry for entry in obj.metadata.finalizers if entry != finalizer])
        except NotFound:
            return
        except Conflict:
            live = await self._live(obj)
            if live is not None and finalizer in decode_meta(live).finalizers:
                raise

    # the rest

    async def effect(self, call: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls something outside Kubernetes, and gives what it gives: `await ctx.effect(dns.ensure, name=...)`.

        Metrics, the flight recorder and the level checker hear of it. It may happen twice: make it repeatable. Raises `TypeError` for what
        cannot be awaited; a function that blocks belongs into a plain `def` reconciler, or ``asyncio.to_thread``.
        """
        check_effect(call, is_async=True)
        ended = self.begin_effect(call)
        try:
            made: Any = call(*args, **kwargs)
            if not inspect.isawaitable(made):
                raise TypeError(f"ctx.effect: {name_of(call)} gave {type(made).__name__}, which cannot be awaited: make it async")
            result: T = await made
        except BaseException as error:
            ended(error)
            raise
        ended(None)
        return result

    def begin_effect(self, call: Callable[..., Any]) -> Callable[[BaseException | None], None]:
        """For `effect`: a call to the outside begins; the function that this gives says that it has ended, and how."""
        self._run.check_open()
        world, controller, request = self._tools.world, self._tools.controller, self._request
        started = world.clock.monotonic()

        def ended(error: BaseException | None) -> None:
            if world.observer.heard:
                world.observer.emit(
                    EffectCalled(
                        controller=controller,
                        request=request,
                        call=getattr(call, "__qualname__", None) or type(call).__qualname__,
                        seconds=world.clock.monotonic() - started,
                        error="" if error is None else in_words(error),
                    )
                )

        return ended

    def set_condition(
        self, obj: HasConditions, type: str, status: bool | Literal["True", "False", "Unknown"], /, *, reason: str, message: str = ""
    ) -> bool:
        """Sets a condition in `obj`, for `update_status` to send, and tells whether that changed it. Its time moves with its status."""
        return set_condition(obj, type, status, reason=reason, message=message, now=self.now())

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
        """Records an Event about `obj`, for `kubectl describe`: why (`reason`, in CamelCase), and a sentence. `action` is what was done or
        failed, `related` a second object that has a part in it.

        It is sent beside the run; if it cannot be, that is logged. One that differs from an earlier one in nothing but its note is counted
        there, as a series. Events are for people, are not kept for long, and must never be what a reconciler depends on.

        Raises `ValueError` for an empty reason or action, or another type.
        """
        self._run.check_open()
        self._tools.events.record(obj, reason, note, type=type, action=action, related=related)

    # inside

    def _asked_live(self) -> Client:
        return self.client

    async def _change(self, obj: Object, subresource: Literal["", "status"] = "") -> None:
        self._run.check_open()
        info = await self.client.kind_info(obj)
        key = self.client.key(info, obj.key, None)
        if not subresource and self._tools.memo.knows(info, key):
            self._said.once(
                "applied and updated",
                info.plural,
                f"this controller both applies and updates {info.plural}: Kubernetes keeps two ownership entries then, and a field "
                "that was updated does not go away when it is no longer applied. Use one of the two",
                level=logging.WARNING,
            )
        await self.client.change_raw(obj, subresource=subresource)

    async def _set_finalizers(self, obj: Object, finalizers: builtins.list[str]) -> None:
        self._run.check_open()
        info = await self.client.kind_info(obj)
        key = self.client.key(info, obj.key, None)
        version = obj.metadata.resource_version
        if not version or not obj.metadata.uid:
            raise ValueError(f"{info.kind} {key} was not read from a server: finalizers are set on what ctx.get, apply or create gave")
        # The version as precondition: so the list that is sent is the server's own but for our entry.
        metadata = {"uid": obj.metadata.uid, "resourceVersion": version, "finalizers": finalizers}
        answer = await self.client.patch_raw(info, key, {"metadata": metadata})
        now, version = decode_meta(answer).finalizers, decode_head(answer).resource_version
        if isinstance(obj, Untyped):  # whose metadata are a view to read from
            obj.content["metadata"] |= {"finalizers": now, "resourceVersion": version}
        else:
            obj.metadata.finalizers, obj.metadata.resource_version = now, version

    async def _live(self, obj: Object) -> bytes | None:
        """The very object as the server has it; None if it is gone, or another one has its name."""
        info = await self.client.kind_info(obj)
        key = self.client.key(info, obj.key, None)
        live = await self.client.get_raw(info, key)
        if live is not None:
            self._view.wrote(info, live)
            if decode_head(live).uid == obj.metadata.uid:
                return live
        elif uid := obj.metadata.uid:
            self._view.deleted(info, key, uid)
        return None

    def _kept(self, kind: type[Object], keep: Any, namespace: str) -> tuple[dict[str, None], dict[Request, None]]:
        """The UIDs of what is to be kept, and the keys of what has none. One that does not say its namespace is where it was applied."""
        if isinstance(keep, Object | str | Mapping) or not isinstance(keep, Iterable):
            raise TypeError(f"prune({kind.__name__}): keep takes a list of objects, such as apply gave them, not {keep!r}")
        uids: dict[str, None] = {}
        keys: dict[Request, None] = {}
        info = self.client.info_of(kind)
        for obj in keep:
            if not isinstance(obj, Object):
                raise TypeError(f"prune({kind.__name__}): keep takes a list of objects, such as apply gave them, not {obj!r} in it")
            if uid := obj.metadata.uid:
                uids[uid] = None
            else:
                keys[self.client.key(info, obj.key, namespace or None)] = None
        return uids, keys


__all__ = ["Context", "HasStatus", "PruneRefused"]
