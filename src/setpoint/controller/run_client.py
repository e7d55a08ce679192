"""`RunClient`: the whole client, on behalf of one run. Every write of a run goes through here, be it a verb of its context or not.

So each passes the same door: it is not sent once the run has ended; one of unknown outcome makes the key's next run wait until the cache
has seen what came of it; and what a write has changed is seen by the reads that follow, also where the answer does not say it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from setpoint.api import Answer, ApiError, Duplex, Operation, Stream
from setpoint.api.operation import APPLY_PATCH
from setpoint.client import Apply, Client
from setpoint.client.errors import AlreadyExists, Conflict, NotFound, NotServed, OutcomeUnknown
from setpoint.objects import KindInfo, Object, Request, decode_head

from .said import in_words
from .tools import RunState, Tools, Written
from .view import is_a, is_status


class RunClient(Client):
    """A client whose writes belong to a run: see the module. Its reads go to the server."""

    def __init__(self, tools: Tools, run: RunState) -> None:
        # Everything is shared with the controller's client.
        self.__dict__.update(tools.client.__dict__)
        self.run = run.name
        self._tools = tools
        self._state = run

    async def prepare_apply(
        self,
        obj: Object | Mapping[str, Any],
        kind: type[Object] | None = None,
        /,
        *,
        owner: Object | None = None,
        force: bool = True,
        subresource: str | None = None,
    ) -> Apply:
        """As of any client; one that fails is a failed apply of this run."""
        try:
            return await super().prepare_apply(obj, kind, owner=owner, force=force, subresource=subresource)
        except BaseException as error:  # a cancelled one too: what it would have given to be kept is missing
            self._state.failed_applies.append(in_words(error))
            raise

    async def apply_prepared(self, apply: Apply, owner: Object | None = None) -> bytes:
        """As of any client, likewise."""
        failed = len(self._state.failed_applies)
        try:
            return await super().apply_prepared(apply, owner)
        except BaseException as error:
            if len(self._state.failed_applies) == failed:  # it failed before it was a call, which would have noted it
                self._state.failed_applies.append(in_words(error))
            raise

    async def call(self, operation: Operation) -> Answer:
        """Any operation; what a write has changed is in the view when it returns. Raises as `Connection.call` does."""
        self._state.check_open()
        if not operation.is_write or self.dry_run:
            return await super().call(operation)
        with self._state.writing():
            try:
                return await self._write(operation)
            except BaseException as error:
                # One that exists already may well be what is to be kept: the caller knows its name.
                created = operation.verb == "create" and not operation.subresource and not isinstance(error, AlreadyExists)
                if created or operation.content_type == APPLY_PATCH:
                    self._state.failed_applies.append(in_words(error))
                raise

    async def stream(self, operation: Operation) -> Stream:
        """As of any client."""
        self._state.check_open()
        return await super().stream(operation)

    async def connect(self, operation: Operation, protocols: tuple[str, ...]) -> Duplex:
        """As of any client; what a program in a container does is for nobody here to know."""
        self._state.check_open()
        return await super().connect(operation, protocols)

    async def _write(self, operation: Operation) -> Answer:
        info = None if operation.resource is None else self._tools.view.kind_at(operation.resource)
        if info is None:  # nothing of it is cached, so there is nothing to be kept in step
            return await super().call(operation)
        key = Request(operation.namespace, operation.name)
        # Before it is sent: what comes to be under this name meanwhile is another object.
        before = self._held(info, key)
        try:
            answer = await super().call(operation)
        except (OutcomeUnknown, asyncio.CancelledError):
            self._unknown(info, operation)
            raise
        except AlreadyExists as error:
            error.remedy = self._why_unseen(info, key if key.name else _named(error, key)) or error.remedy
            raise
        except (NotFound, Conflict) as error:
            if operation.verb == "delete":
                self._not_deleted(error, operation, info, key, before)
            raise
        try:
            await self._see(operation, answer, info, key, before)
        except BaseException:  # it was done, but what it has changed may not be seen
            self._unknown(info, operation)
            raise
        return answer

    async def _see(self, operation: Operation, answer: Answer, info: KindInfo, key: Request, before: str) -> None:
        """Puts into the view what a write has changed."""
        view, body = self._tools.view, answer.body
        if operation.verb == "deletecollection":
            await self._look_at_all(operation, info)
        elif operation.subresource == "token":
            pass  # it changes nothing
        elif is_status(body):
            status = msgspec.json.decode(body, type=_Status)
            if operation.verb == "delete" and (uid := status.details.uid or _precondition(operation)):
                view.deleted(info, key, uid)
            else:
                await self._look_at(info, key, operation, before)
        elif operation.subresource not in ("", "status") and not is_a(info, body):
            await self._look_at(info, key, operation, before)
        else:
            head = decode_head(body)
            if operation.verb == "delete" or head.is_terminating:
                view.wrote_or_deleted(info, key, body)
            else:
                view.wrote(info, body)

    async def _look_at(self, info: KindInfo, key: Request, operation: Operation, before: str) -> None:
        """For an answer that does not hold the object: it is read live. Where that fails, the key's next run waits for the cache."""
        try:
            live = await self._looking.get_raw(info, key)
        except ApiError:
            return self._unknown(info, operation)
        if live is not None:
            self._tools.view.wrote(info, live)
        if before and (live is None or decode_head(live).uid != before):
            self._tools.view.deleted(info, key, before)
        return None

    async def _look_at_all(self, operation: Operation, info: KindInfo) -> None:
        """After the deletion of a collection, which the answer does not tell: some may wait for their finalizers."""
        view, namespace = self._tools.view, operation.namespace
        held = {
            head.key: head.uid for informer in view.informers(info) for head in map(decode_head, informer.list(namespace=namespace or None))
        }
        try:
            items, _ = await self._looking.list_raw(info, namespace)
        except ApiError:
            return self._unknown(info, operation)
        live = {head.key: head.uid for head in map(decode_head, items)}
        for key, uid in held.items():
            if live.get(key) != uid:
                view.deleted(info, key, uid)
        for item in items:
            view.wrote(info, item)
        return None

    @property
    def _looking(self) -> Client:
        """What looks at the server also when the run has ended meanwhile: its next one must see what this one's last write did."""
        return self._tools.client.bound(run=self.run)

    def _not_deleted(self, error: ApiError, operation: Operation, info: KindInfo, key: Request, before: str) -> None:
        """A delete that came too late: what was to be deleted is gone."""
        if isinstance(error, NotServed):
            return
        uid = _precondition(operation) or (before if isinstance(error, NotFound) else "")
        if uid and (isinstance(error, NotFound) or "UID" in error.message):
            self._tools.view.deleted(info, key, uid)

    def _why_unseen(self, info: KindInfo, key: Request) -> str:
        """What to do about an object that exists though no read from the cache shows it; nothing, where the cache would show it."""
        hidden = self._tools.view.hidden(info)
        if not hidden or self._tools.view.get(info, key) is not None:
            return ""
        return (
            f"the cache of this controller holds only {info.plural} with {hidden[0].selection}, and this one is not among them: "
            "read it with live=True, or adopt it by ctx.apply, stating the labels too"
        )

    def _held(self, info: KindInfo, key: Request) -> str:
        found = self._tools.view.get(info, key) if key.name else None
        return "" if found is None else decode_head(found).uid

    def _unknown(self, info: KindInfo, operation: Operation) -> None:
        name = operation.name
        if not name and operation.verb == "create":
            name = msgspec.json.decode(operation.body, type=_Named).metadata.name
        self._state.unknown.append(Written(info, Request(operation.namespace, name)))


class _Details(msgspec.Struct):
    uid: str = ""


class _Status(msgspec.Struct):
    details: _Details = msgspec.field(default_factory=_Details)


class _Meta(msgspec.Struct):
    name: str = ""


class _Named(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Uid(msgspec.Struct):
    uid: str = ""


class _DeleteOptions(msgspec.Struct):
    preconditions: _Uid = msgspec.field(default_factory=_Uid)


def _named(error: ApiError, key: Request) -> Request:
    details = error.status.details
    return Request(key.namespace, "" if details is None else details.name)


def _precondition(operation: Operation) -> str:
    return msgspec.json.decode(operation.body or b"{}", type=_DeleteOptions).preconditions.uid
