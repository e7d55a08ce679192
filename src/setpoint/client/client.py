"""`Client`: reads and writes objects on a server, typed.

Kinds that no class describes go through the same verbs as mappings or YAML manifests; the server is asked what it calls them.
"""

from __future__ import annotations

import asyncio
import builtins
import copy
import inspect
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal, TypeVar, cast, overload

import msgspec

from setpoint.api.status import not_found
from setpoint.client import verbs
from setpoint.client.errors import Conflict, unreadable
from setpoint.client.pod_verbs import PodVerbs
from setpoint.client.preparing import BaseLookup, PreparingVerbs, StripLookup
from setpoint.client.raw import Patch
from setpoint.client.scale import ScaleState, read_scale
from setpoint.client.token import SERVICE_ACCOUNT, Token, read_token, token_request
from setpoint.client.verbs import FieldValidation, Labels, PatchType, Propagation
from setpoint.client.watching import Seen, levels, wait_until
from setpoint.objects import DecodeError, KindInfo, Object, Request, Untyped, decode, decode_meta
from setpoint.objects.indexes import IndexKey

K = TypeVar("K", bound=Object)
_EDITS = 10
"""How often an object is changed anew at most while others write it."""
_log = logging.getLogger("setpoint.client")


class Client(PreparingVerbs, PodVerbs):
    """Typed verbs over one connection.

    `field_manager` is the name under which writes own fields. `namespace` is where objects are whose request does not say. `base` gives
    the objects that a cache has, which spares `update` a read.

    Every verb may raise an `ApiError`: see `setpoint.client.errors`.
    """

    def bound(
        self,
        *,
        field_manager: str | None = None,
        base: BaseLookup | None = None,
        stripped: StripLookup | None = None,
        run: str | None = None,
        dry_run: bool | None = None,
        field_validation: FieldValidation | None = None,
    ) -> Client:
        """The same client on behalf of somebody else, or on trial; connection, scheme and what was discovered are shared."""
        other = copy.copy(self)
        other.field_manager = self.field_manager if field_manager is None else field_manager
        other.base = self.base if base is None else base
        other.stripped = self.stripped if stripped is None else stripped
        other.run = self.run if run is None else run
        other.dry_run = self.dry_run if dry_run is None else dry_run
        other.field_validation = self.field_validation if field_validation is None else field_validation
        return other

    # reading

    async def get(self, kind: type[K], key: Request | str, /, *, namespace: str | None = None, live: bool = False) -> K | None:
        """The object, None if there is none. A name alone is looked for in `namespace`. This client always reads live.

        Raises `NotServed` if the server has no such kind, `DecodeError` if the object cannot be read.
        """
        info = self.info_of(kind)
        body = await self.get_raw(info, self.key(info, key, namespace))
        return None if body is None else decode(kind, body)

    async def list(
        self,
        kind: type[K],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: str = "",
        owner: Object | None = None,
        index: IndexKey[K] | None = None,
        limit: int = 500,
        live: bool = False,
    ) -> builtins.list[K]:
        """All objects of a kind as of one version, in the server's order: of one namespace, or of all of them where it is None.

        They are read in pages of `limit`. `owner` keeps those that it controls, `index` those that it gives that value to; both are
        applied here, after everything was read.
        """
        info = self.info_of(kind)
        items, _ = await self.list_raw(info, namespace or "", labels=labels, fields=fields, limit=limit)
        if owner is not None:
            uid = owner.uid
            items = [item for item in items if (controller := decode_meta(item).controller) is not None and controller.uid == uid]
        objects = [decode(kind, item) for item in items]
        if index is not None:
            objects = [obj for obj in objects if index.value in index.index.values_of(obj)]
        return objects

    # writing

    async def create(self, obj: K, /, *, owner: Object | None = None) -> K:
        """The created object; the argument is not touched, its status not sent. Raises `AlreadyExists`."""
        info, key, body = await self.prepare_create(obj, owner=owner)
        return decode(type(obj), await self.create_raw(info, key.namespace, body))

    @overload
    async def apply(self, obj: K, /, *, owner: Object | None = ..., force: bool = ..., subresource: str | None = ...) -> K: ...
    @overload
    async def apply(
        self, obj: Mapping[str, Any], kind: type[K], /, *, owner: Object | None = ..., force: bool = ..., subresource: str | None = ...
    ) -> K: ...
    @overload
    async def apply(
        self, obj: Mapping[str, Any], /, *, owner: Object | None = ..., force: bool = ..., subresource: str | None = ...
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
        """The object after a server-side apply of exactly what `obj` states, which is created if there is none.

        With `owner`, that object controls it from then on. `force` takes over fields that another manager owns; without it they make a
        `Conflict`. The argument is not touched, its status not sent (unless `subresource="status"`).

        Raises `OwnerRefused` for an owner in another namespace, or where another owner controls the object already.
        """
        prepared = await self.prepare_apply(obj, kind, owner=owner, force=force, subresource=subresource)
        return decode(kind or (type(obj) if isinstance(obj, Object) else Untyped), await self.apply_prepared(prepared, owner))

    async def apply_all(self, objs: Iterable[K], /, *, owner: Object | None = None) -> builtins.list[K]:
        """Applies one after the other; ends at the first that fails."""
        return [await self.apply(obj, owner=owner) for obj in objs]

    async def update(self, obj: K, /) -> K:
        """Writes what was changed in `obj` since it was read, brings it up to the answer and returns it; its status is left alone.

        Only the difference is sent, so what the class does not know survives. No difference, no request. Raises `Conflict` if the object
        has changed since, `NotFound` if it is gone.
        """
        await self.change_raw(obj)
        return obj

    async def update_status(self, obj: K, /) -> K:
        """As `update`, for the status alone; what was changed in the rest of `obj` is neither sent nor lost.

        Raises `TypeError` for a kind without a status.
        """
        await self.change_raw(obj, subresource="status")
        return obj

    async def edit(
        self,
        kind: type[K],
        key: Request | str,
        change: Callable[[K], None],
        /,
        *,
        subresource: Literal["", "status"] = "",
        namespace: str | None = None,
    ) -> K:
        """Reads the object live, has it changed, and writes the difference; all of it anew while somebody else writes in between.

        `change` may thus be called several times, each time with another object. Raises `NotFound`, and `Conflict` after ten times.
        """
        info = self.info_of(kind)
        where = self.key(info, key, namespace)
        chance, changing = self.connection.world.chance, cast("Callable[[K], Any]", change)
        for left in reversed(range(_EDITS)):
            obj = await self.get(kind, where, live=True)
            if obj is None:
                raise not_found(info.group_version_resource, where.name)
            _refuse_awaitable(changing(obj), "change")
            try:
                await self.change_raw(obj, subresource=subresource)
                return obj
            except Conflict:
                if not left:
                    raise
            await asyncio.sleep(chance.uniform(0, 0.01 * 2 ** (_EDITS - left)))
        raise AssertionError("the last try returns or raises")

    async def patch(
        self,
        kind: type[K],
        key: Request | str,
        patch: Patch,
        /,
        *,
        type: PatchType | None = None,
        namespace: str | None = None,
        subresource: str | None = None,
    ) -> K:
        """The object after a patch, which is sent as it is: a mapping as JSON merge patch, a list as JSON Patch, unless `type` says more.

        A patch of type "apply" states an object's apiVersion, kind and fields, and takes over those that another manager owns.
        """
        info = self.info_of(kind)
        where = self.key(info, key, namespace)
        return decode(kind, await self.patch_raw(info, where, patch, type=type, subresource=subresource or ""))

    @overload
    async def delete(self, obj: Object, /, *, propagation: Propagation = ..., grace_seconds: int | None = ...) -> None: ...
    @overload
    async def delete(
        self,
        kind: type[Object],
        key: Request | str,
        /,
        *,
        namespace: str | None = ...,
        propagation: Propagation = ...,
        grace_seconds: int | None = ...,
    ) -> None: ...
    async def delete(
        self,
        obj: Object | type[Object],
        key: Request | str | None = None,
        /,
        *,
        namespace: str | None = None,
        propagation: Propagation = "Background",
        grace_seconds: int | None = None,
    ) -> None:
        """Asks for an object to be deleted; returns when the server has noted it, which finalizers may still delay.

        An object that was read is deleted only if it is still that one: gone, or another one under its name, is done. A pod gets the
        seconds that it asks for to stop, unless `grace_seconds` says otherwise.
        """
        if isinstance(obj, Object):
            info, uid = await self.kind_info(obj), obj.metadata.uid or ""
            where = self.key(info, obj.key, None)
        elif key is None:
            raise TypeError("delete takes an object, or a kind and a key")
        else:
            info, uid = self.info_of(obj), ""
            where = self.key(info, key, namespace)
        await self.delete_raw(info, where, uid=uid, propagation=propagation, grace_seconds=grace_seconds)

    async def delete_collection(
        self,
        kind: type[Object],
        /,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: str = "",
        propagation: Propagation = "Background",
    ) -> None:
        """Asks for all objects of a kind in one namespace to be deleted, or for those that are selected.

        The API has no such verb for all namespaces at once: without one, `ValueError` is raised.
        """
        info = self.info_of(kind)
        where = (namespace or self.namespace) if info.namespaced else ""
        if info.namespaced and not where:
            raise ValueError(f"in which namespace is every {info.kind} to be deleted? Give namespace=")
        await self.call(verbs.delete_collection(info, where, labels=labels, fields=fields, propagation=propagation))

    # following

    async def watch(
        self, kind: type[K], /, *, namespace: str | None = None, labels: Labels = None, fields: str = ""
    ) -> AsyncGenerator[Seen[K], None]:
        """Each object that there is, then each that changes, as it is now; `obj` is None for one that is gone, or no longer selected.

        It goes on until it is closed (`contextlib.aclosing`), over cut connections and forgotten versions. It is no history: of several
        changes in quick succession, or during a cut, perhaps only the last is given. An object that cannot be read is left out, and logged.

        Raises `ApiError` where the first list fails, and later where a failure will not pass by itself.
        """
        async with aclosing(self._levels(self.info_of(kind), namespace or "", labels, fields)) as changes:
            async for changed in changes:
                for key, data in changed.items():
                    try:
                        seen = Seen(key, None if data is None else decode(kind, data))
                    except DecodeError as error:
                        _log.error("left out of a watch: %s", error)
                    else:
                        yield seen

    async def wait(
        self,
        kind: type[K],
        key: Request | str,
        /,
        until: Callable[[K], bool] = lambda obj: True,
        *,
        timeout: float = 60.0,
        namespace: str | None = None,
    ) -> K:
        """Waits until the object exists and `until` is true of it, and gives it as it is then. Raises `TimeoutError` after `timeout` s.

        It watches, so it asks the server no more often than something changes. Failures that pass by themselves are waited out.
        """
        info = self.info_of(kind)
        where = self.key(info, key, namespace)
        changes = self._levels(info, where.namespace, None, f"metadata.name={where.name}", patient=True)

        def holds(data: bytes | None) -> bool:
            if data is None:
                return False
            answer: Any = until(decode(kind, data))
            _refuse_awaitable(answer, "until")
            return bool(answer)

        found = await wait_until(changes, where, holds, info, timeout)
        assert found is not None
        return decode(kind, found)

    async def wait_gone(self, kind: type[Object], key: Request | str, /, *, timeout: float = 60.0, namespace: str | None = None) -> None:
        """Waits until there is no such object. Raises `TimeoutError` after `timeout` seconds."""
        info = self.info_of(kind)
        where = self.key(info, key, namespace)
        changes = self._levels(info, where.namespace, None, f"metadata.name={where.name}", patient=True)
        await wait_until(changes, where, lambda data: data is None, info, timeout)

    def _levels(
        self, info: KindInfo, namespace: str, labels: Labels, fields: str, *, patient: bool = False
    ) -> AsyncGenerator[dict[Request, bytes | None], None]:
        return levels(self, self.connection.world, info, namespace, labels=labels, fields=fields, patient=patient)

    # scale, and tokens

    async def get_scale(self, kind: type[Object], key: Request | str, /, *, namespace: str | None = None) -> ScaleState:
        """How many replicas are wanted, and how many there are. Raises `NotFound`."""
        info = self.info_of(kind)
        return read_scale((await self.call(verbs.get(info, self.key(info, key, namespace), subresource="scale"))).body)

    async def set_scale(self, kind: type[Object], key: Request | str, replicas: int, /, *, namespace: str | None = None) -> ScaleState:
        """Asks for that many replicas, and nothing else; whoever owns the number otherwise will set it back. Raises `NotFound`."""
        info = self.info_of(kind)
        patch = {"spec": {"replicas": replicas}}
        return read_scale(await self.patch_raw(info, self.key(info, key, namespace), patch, subresource="scale"))

    async def request_token(
        self,
        service_account: Object | Request | str,
        /,
        *,
        audiences: Sequence[str] = (),
        seconds: int = 3600,
        bound_to: Object | None = None,
        namespace: str | None = None,
    ) -> Token:
        """A token of a service account, for the API server itself or for those `audiences`, good for so many seconds.

        The server may choose another time. `bound_to` is a pod, secret or node with which it ends. Raises `NotFound`.
        """
        key = service_account.key if isinstance(service_account, Object) else service_account
        where = self.key(SERVICE_ACCOUNT, key, namespace)
        info = await self.kind_info(bound_to) if bound_to is not None else None
        operation = token_request(where, audiences=audiences, seconds=seconds, bound_to=bound_to, info=info)
        answer = await self.call(operation)
        try:
            return read_token(answer.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise unreadable(error, operation) from error


def _refuse_awaitable(answer: object, name: str) -> None:
    """A coroutine is true, and does nothing: who passes an `async def` would be told that all is well."""
    if inspect.isawaitable(answer):
        if inspect.iscoroutine(answer):
            answer.close()
        raise TypeError(f"{name} is called as a plain function and was given as `async def`")
