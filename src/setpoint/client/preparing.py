"""What is sent of an object, and where to: its kind, its place, and what of it is stated or has changed.

The typed verbs and the contexts of controllers both send what is prepared here; each does with the answer what it wants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from setpoint.api import Answer, GroupVersionKind, Operation
from setpoint.client.connection import Connection
from setpoint.client.discovery import Discovery
from setpoint.client.errors import NotServed
from setpoint.client.manifest import Apply, content_of, key_of
from setpoint.client.ownership import refuse_another_controller, with_owner
from setpoint.client.raw import RawVerbs
from setpoint.client.update import base_in_cache, base_on_server, version_of, visible_difference, whole_difference
from setpoint.client.verbs import FieldValidation
from setpoint.objects import KindInfo, Object, Request, Scheme, Untyped, decode, kind_of
from setpoint.objects.difference import adopt, difference
from setpoint.objects.strip import Strip

BaseLookup: TypeAlias = Callable[[KindInfo, Request], bytes | None]
"""The bytes of an object as a cache has them; None where it has none, and the server is asked."""
StripLookup: TypeAlias = Callable[[KindInfo], Strip]
"""What a cache leaves out of the objects of a kind."""


class PreparingVerbs(RawVerbs):
    """The verbs on bytes, for who has objects: of classes, or mappings whose kind the server is asked for."""

    def __init__(
        self,
        connection: Connection,
        *,
        scheme: Scheme | None = None,
        field_manager: str = "setpoint",
        base: BaseLookup | None = None,
        stripped: StripLookup | None = None,
        namespace: str = "",
        run: str = "",
        dry_run: bool = False,
        field_validation: FieldValidation | None = None,
    ) -> None:
        super().__init__(
            connection, field_manager=field_manager, run=run, dry_run=dry_run, field_validation=field_validation, namespace=namespace
        )
        self.scheme: Scheme = scheme if scheme is not None else Scheme()
        self.base = base
        self.stripped = stripped
        self.discovery: Discovery = Discovery(connection)

    async def call(self, operation: Operation) -> Answer:
        """Any operation, on behalf of this client's run; raises as `Connection.call` does."""
        try:
            return await super().call(operation)
        except NotServed:
            if operation.resource is not None:
                self.discovery.forget(operation.resource)
            raise

    # what is meant

    def info_of(self, kind: type[Object]) -> KindInfo:
        """What a class declares. Raises `TypeError` for one that is no kind, `Untyped` among them."""
        if kind is Untyped:
            raise TypeError("Untyped is no kind of its own: read with the class of the kind, or by get_raw and list_raw with find_kind")
        return kind_of(kind)

    async def kind_info(self, obj: Object | Mapping[str, Any]) -> KindInfo:
        """What kind an object is: its class declares it; a mapping says it, and the scheme or the server knows the rest.

        Raises `TypeError` for what is neither, `ValueError` for a mapping that does not say it, `NotServed` for a kind that the server does
        not have.
        """
        if isinstance(obj, Object) and not isinstance(obj, Untyped):
            return kind_of(type(obj))
        if not isinstance(obj, Mapping):
            raise TypeError(f"an object or a manifest, which is a mapping, was expected, not {obj!r}")
        content = obj.content if isinstance(obj, Untyped) else obj
        api_version, kind = content.get("apiVersion"), content.get("kind")
        if not (isinstance(api_version, str) and api_version and isinstance(kind, str) and kind):
            raise ValueError(f"an object needs apiVersion and kind; this one has {api_version!r} and {kind!r}")
        return await self.find_kind(api_version, kind)

    async def find_kind(self, api_version: str, kind: str) -> KindInfo:
        """What is known of a kind by its name: from the scheme, else from the server. Raises `NotServed`."""
        if (cls := self.scheme.find(api_version, kind)) is not None:
            return kind_of(cls)
        return await self.discovery.find(GroupVersionKind.parse(api_version, kind))

    # what is sent

    async def prepare_create(self, obj: Object, *, owner: Object | None = None) -> tuple[KindInfo, Request, bytes]:
        """What `create` sends, for `create_raw`; the key's name is empty if the server is to generate it."""
        info = await self.kind_info(obj)
        content = content_of(obj, info)
        key = self._place(content, info, owner)
        if not key.name and not content["metadata"].get("generateName"):
            raise ValueError(f"this {info.kind} needs metadata.name or metadata.generate_name")
        return info, key, msgspec.json.encode(content if owner is None else with_owner(content, owner, info, key))

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
        """What `apply` sends, for `apply_prepared`."""
        info = self.info_of(kind) if kind is not None else await self.kind_info(obj)
        content = content_of(obj, info, subresource=subresource or "")
        key = self._place(content, info, owner)
        if not key.name:
            raise ValueError(f"an apply names its object, and this {info.kind} has no metadata.name; to let the server name it, create it")
        if owner is not None:
            content = with_owner(content, owner, info, key)
        return Apply(info=info, key=key, body=msgspec.json.encode(content), force=force, subresource=subresource or "")

    async def apply_prepared(self, apply: Apply, owner: Object | None = None) -> bytes:
        """The object after it; raises `OwnerRefused` without a request where a cache knows that another owner controls the object."""
        if owner is not None and self.base is not None and (known := self.base(apply.info, apply.key)) is not None:
            refuse_another_controller(known, owner, apply.info, apply.key)
        return await self.apply_raw(apply)

    async def change_raw(self, obj: Object, *, subresource: Literal["", "status"] = "") -> bytes | None:
        """`update`, or `update_status`, in place; gives the answer, None where nothing had to be sent."""
        info = await self.kind_info(obj)
        if subresource and not info.has_status:
            raise TypeError(f"{info.kind} has no status subresource: use update")
        key = self.key(info, obj.key, None)
        version = version_of(obj, info, key)
        part: Literal["main", "status"] = "status" if subresource else "main"
        base = base_in_cache(obj, self.base(info, key), info, key, subresource=subresource) if self.base is not None else None
        if base is None:
            base = base_on_server(obj, await self.get_raw(info, key), info, key, subresource=subresource)
        strip = self.stripped(info) if self.stripped is not None else None
        if strip:
            found, touched = visible_difference(base, obj, strip, part=part)
            if touched:
                live = base_on_server(obj, await self.get_raw(info, key), info, key, subresource=subresource)
                found = whole_difference(live, obj, strip, touched, part=part)
        else:
            found = difference(base, obj, part=part)
        if found is None:
            return None
        answer = await self.patch_raw(info, key, found.at(version), subresource=subresource)
        adopt(obj, decode(type(obj), answer), part=part)
        return answer

    def _place(self, content: dict[str, Any], info: KindInfo, owner: Object | None) -> Request:
        """Where an object that is to be written belongs; one that does not say is put beside its owner. The content then says it."""
        beside = owner.namespace if owner is not None else ""
        key = key_of(content["metadata"], info, namespace=beside or self.namespace)
        if info.namespaced:
            content["metadata"]["namespace"] = key.namespace
        return key
