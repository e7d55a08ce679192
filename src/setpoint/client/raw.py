"""The verbs on bytes: what goes to the server and what comes back, not decoded.

A cache keeps bytes, and a context puts the answers to its own writes into the cache's view: both want them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from setpoint.api import Answer, Duplex, Operation, Stream
from setpoint.client import verbs
from setpoint.client.connection import Connection
from setpoint.client.errors import Conflict, Expired, NotFound, NotServed, unreadable
from setpoint.client.manifest import Apply
from setpoint.client.verbs import FieldValidation, Labels, PatchType, Propagation
from setpoint.objects import KindInfo, ListMeta, Request

Patch: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class _Page(msgspec.Struct):
    items: list[msgspec.Raw] | None  # stated by every list: what has none is another document, and must not pass for an empty list
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)


_OTHER_UID = re.compile(r"UID in (the )?precondition")
"""Said by the server's registry and by its storage, in two wordings."""
_page = msgspec.json.Decoder(_Page).decode


class RawVerbs:
    """The verbs on bytes. `run` names the reconciler's run that asks, for observers alone.

    With `dry_run`, writes are tried only. `field_validation` is what the server does about fields that it does not know; its warnings are
    logged.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        field_manager: str = "setpoint",
        run: str = "",
        dry_run: bool = False,
        field_validation: FieldValidation | None = None,
        namespace: str = "",
    ) -> None:
        self.namespace = namespace
        self.connection = connection
        self.field_manager = field_manager
        self.run = run
        self.dry_run = dry_run
        self.field_validation = field_validation

    async def call(self, operation: Operation) -> Answer:
        """Any operation, on behalf of this client's run; raises as `Connection.call` does."""
        if self.field_validation is not None and operation.verb in ("create", "update", "patch"):
            options = {**operation.options, "fieldValidation": self.field_validation}
            operation = msgspec.structs.replace(operation, options=options)
        if self.dry_run and operation.is_write:
            operation = verbs.on_trial(operation)
        return await self.connection.call(msgspec.structs.replace(operation, run=self.run) if self.run else operation)

    async def stream(self, operation: Operation) -> Stream:
        """What comes bit by bit: a watch, or a log. Whoever asked for it closes it. Raises as `Connection.watch` does."""
        return await self.connection.watch(msgspec.structs.replace(operation, run=self.run) if self.run else operation)

    async def connect(self, operation: Operation, protocols: tuple[str, ...]) -> Duplex:
        """A connection both ways, to a program or a port. Whoever asked for it closes it. Raises as `Connection.connect` does."""
        if self.dry_run:
            raise ValueError(f"{operation}: this cannot be tried only, and dry_run is set")
        return await self.connection.connect(msgspec.structs.replace(operation, run=self.run) if self.run else operation, protocols)

    def key(self, info: KindInfo, key: Request | str, namespace: str | None) -> Request:
        """Where an object is. Raises `ValueError` if its namespace is missing."""
        if isinstance(key, str):
            key = Request.parse(key)
        elif not isinstance(key, Request):
            raise TypeError(f"which {info.kind}? A Request or a name was expected, not {key!r}")
        if not key.name:
            raise ValueError(f"which {info.kind}? The name is empty")
        if not info.namespaced:
            return Request("", key.name)
        where = key.namespace or namespace or self.namespace
        if not where:
            raise ValueError(f"in which namespace is {info.kind} {key.name!r}? Give a Request, or namespace=")
        return key if key.namespace else Request(where, key.name)

    async def get_raw(self, info: KindInfo, key: Request) -> bytes | None:
        """The object, None if there is none. Raises `NotServed` if there is no such kind, which says nothing about the object."""
        try:
            return (await self.call(verbs.get(info, key))).body
        except NotServed:
            raise
        except NotFound:
            return None

    async def list_raw(
        self, info: KindInfo, namespace: str = "", *, labels: Labels = None, fields: str = "", limit: int = 500
    ) -> tuple[list[bytes], str]:
        """All objects of a collection as of one version, and that version; read in pages of `limit`, at once where it is 0.

        If the server forgets that version between two pages, everything is read again, in one go: half of one state and half of another
        is never given.
        """
        items: list[bytes] = []
        continue_ = ""
        while True:
            page = verbs.list_page(info, namespace, labels=labels, fields=fields, limit=limit, continue_=continue_)
            try:
                answer = await self.call(page)
            except Expired:
                if not continue_:
                    raise
                items, continue_, limit = [], "", 0
                continue
            try:
                read = _page(answer.body)
            except (msgspec.DecodeError, RecursionError) as error:
                raise unreadable(error, page) from error
            items += [bytes(item) for item in read.items or ()]
            continue_ = read.metadata.continue_ or ""
            if not continue_:
                return items, read.metadata.resource_version or ""

    async def create_raw(self, info: KindInfo, namespace: str, body: bytes) -> bytes:
        """The created object. Raises `AlreadyExists`."""
        return (await self.call(verbs.create(info, namespace, body, field_manager=self.field_manager))).body

    async def apply_raw(self, apply: Apply) -> bytes:
        """The object after a server-side apply."""
        operation = verbs.apply(
            apply.info, apply.key, apply.body, field_manager=self.field_manager, force=apply.force, subresource=apply.subresource
        )
        return (await self.call(operation)).body

    async def patch_raw(
        self,
        info: KindInfo,
        key: Request,
        patch: Patch,
        *,
        type: PatchType | None = None,
        subresource: str = "",
    ) -> bytes:
        """The object after a patch: a mapping is a JSON merge patch, a list a JSON Patch, unless `type` says otherwise.

        Raises `TypeError` for a list that is to be read as anything but JSON Patch, or the other way round.
        """
        if type is None:
            type = "merge" if isinstance(patch, Mapping) else "json"
        if isinstance(patch, Mapping) == (type == "json"):
            raise TypeError(f"a patch of type {type!r} is a {'list of operations' if type == 'json' else 'mapping'}")
        manager = self.field_manager
        match type:
            case "merge":
                operation = verbs.merge_patch(info, key, patch, field_manager=manager, subresource=subresource)
            case "json":
                operation = verbs.json_patch(info, key, patch, field_manager=manager, subresource=subresource)
            case "strategic":
                operation = verbs.strategic_patch(info, key, patch, field_manager=manager, subresource=subresource)
            case "apply":
                body = msgspec.json.encode(patch)
                operation = verbs.apply(info, key, body, field_manager=manager, force=True, subresource=subresource)
        return (await self.call(operation)).body

    async def delete_raw(
        self,
        info: KindInfo,
        key: Request,
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation = "Background",
        grace_seconds: int | None = None,
    ) -> bytes | None:
        """What the server says of the delete: the object if it waits for its finalizers, else a Status.

        None if it was gone already, or if `uid` is given and another object has that name now: done as well.
        """
        try:
            operation = verbs.delete(
                info, key, uid=uid, resource_version=resource_version, propagation=propagation, grace_seconds=grace_seconds
            )
            return (await self.call(operation)).body
        except NotServed:
            raise
        except NotFound:
            return None
        except Conflict as error:
            if uid and _OTHER_UID.search(error.message):
                return None
            raise
