"""Discovery: what a server calls the kinds that no class describes.

A manifest names its kind (`apps/v1`, `Deployment`), a URL its resource (`deployments`). The server tells one by the other, for each group
and version: https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec

from setpoint.api import GroupVersionKind, GroupVersionResource, Operation, Status
from setpoint.api.names import api_version
from setpoint.client.connection import Connection
from setpoint.client.errors import NotFound, NotServed, unreadable
from setpoint.objects import KindInfo

T = TypeVar("T")


class Served(msgspec.Struct, frozen=True):
    """A kind as the server serves it, and the verbs that it takes."""

    info: KindInfo
    verbs: tuple[str, ...]


class _Resource(msgspec.Struct, rename="camel"):
    name: str
    kind: str
    verbs: tuple[str, ...] = ()
    namespaced: bool = False
    singular_name: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class _ResourceList(msgspec.Struct):
    resources: list[_Resource]


class _Version(msgspec.Struct, rename="camel"):
    group_version: str
    version: str


class _Group(msgspec.Struct, rename="camel"):
    name: str
    versions: list[_Version]
    preferred_version: _Version | None = None


class _GroupList(msgspec.Struct):
    groups: list[_Group]


class _CoreVersions(msgspec.Struct):
    versions: list[str]


class Discovery:
    """The kinds of one server, read when they are first asked for and remembered.

    A kind that is not among what is remembered is looked for again: its CustomResourceDefinition may have been applied in between. One that
    the server no longer serves is forgotten: it may come back under another name or scope.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[GroupVersionKind, KindInfo] = {}

    async def find(self, kind: GroupVersionKind) -> KindInfo:
        """How the server serves a kind. Raises `NotServed` if it does not."""
        if kind not in self._known:
            self._known.update({one.info.group_version_kind: one.info for one in await self._read(kind.group, kind.version)})
        if kind not in self._known:
            raise _not_served(kind)
        return self._known[kind]

    def forget(self, resource: GroupVersionResource) -> None:
        """What the server has just said that it does not serve is looked for again when it is next asked for."""
        for kind in [kind for kind, info in self._known.items() if info.group_version_resource == resource]:
            del self._known[kind]

    async def everything(self) -> list[Served]:
        """All that the server serves now, each kind once: in the version that its group prefers, or else the next that has it.

        Nothing of it is remembered. Raises `ApiError` if any part of it cannot be read: half an answer would say that kinds are gone.
        """
        found: dict[tuple[str, str], Served] = {}
        for group, version in await self._versions():
            for one in await self._read(group, version):
                found.setdefault((group, one.info.plural), one)
        return list(found.values())

    async def _versions(self) -> list[tuple[str, str]]:
        versions = [("", version) for version in (await self._document("/api", _CoreVersions)).versions]
        for group in (await self._document("/apis", _GroupList)).groups:
            preferred = [group.preferred_version] if group.preferred_version is not None else []
            versions += dict.fromkeys((group.name, version.version) for version in (*preferred, *group.versions))
        return versions

    async def _document(self, path: str, of: type[T]) -> T:
        return await self._read_with(lambda body: msgspec.json.decode(body, type=of), path)

    async def _read_with(self, read: Callable[[bytes], T], path: str) -> T:
        operation = Operation(verb="get", path=path)
        answer = await self._connection.call(operation)
        try:
            return read(answer.body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise unreadable(error, operation) from error

    async def _read(self, group: str, version: str) -> Sequence[Served]:
        """The kinds of one version of a group; none if it is not served."""
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        try:
            return await self._read_with(lambda body: _kinds_in(body, group, version), path)
        except NotFound:
            return ()


@lru_cache(256)
def _kinds_in(body: bytes, group: str, version: str) -> tuple[Served, ...]:
    """The kinds that a document tells of. Remembered, since simulations have thousands of servers with the same kinds."""
    resources = msgspec.json.decode(body, type=_ResourceList).resources
    with_status = {resource.name.removesuffix("/status"): None for resource in resources if resource.name.endswith("/status")}
    return tuple(
        Served(
            KindInfo(
                group=group,
                version=version,
                kind=resource.kind,
                plural=resource.name,
                singular=resource.singular_name or resource.kind.lower(),
                list_kind=f"{resource.kind}List",
                scope="Namespaced" if resource.namespaced else "Cluster",
                short_names=resource.short_names,
                categories=resource.categories,
                has_status=resource.name in with_status,
            ),
            resource.verbs,
        )
        for resource in resources
        if "/" not in resource.name
    )


def _not_served(kind: GroupVersionKind) -> NotServed:
    where = api_version(kind.group, kind.version)
    error = NotServed(Status(code=404, reason="NotFound", message=f"the server does not serve the kind {kind.kind} of {where}"))
    error.remedy = "is its CustomResourceDefinition applied, and are apiVersion and kind spelled right? See `kubectl api-resources`"
    return error
