"""Discovery: what a server calls the kinds that no class describes.

A manifest names its kind (`apps/v1`, `Deployment`), a URL its resource (`deployments`). The server tells one by the other, for each group
and version: https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api
"""

from __future__ import annotations

import msgspec

from setpoint.api import GroupVersionKind, Operation, Status
from setpoint.api.names import api_version
from setpoint.client.connection import Connection
from setpoint.client.errors import NotFound, NotServed
from setpoint.objects import KindInfo


class _Resource(msgspec.Struct, rename="camel"):
    name: str
    kind: str
    namespaced: bool = False
    singular_name: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


class _ResourceList(msgspec.Struct):
    resources: list[_Resource] = []


class Discovery:
    """The kinds of one server, read when they are first asked for and remembered.

    A kind that is not among what is remembered is looked for again: its CustomResourceDefinition may have been applied in between.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[GroupVersionKind, KindInfo] = {}

    async def find(self, kind: GroupVersionKind) -> KindInfo:
        """How the server serves a kind. Raises `NotServed` if it does not."""
        if kind not in self._known:
            self._known.update({info.group_version_kind: info for info in await self._read(kind)})
        if kind not in self._known:
            raise _not_served(kind)
        return self._known[kind]

    async def _read(self, kind: GroupVersionKind) -> list[KindInfo]:
        root = "/apis" if kind.group else "/api"
        try:
            answer = await self._connection.call(Operation(verb="get", path=f"{root}/{kind.api_version}"))
        except NotFound as error:
            raise _not_served(kind) from error
        resources = msgspec.json.decode(answer.body, type=_ResourceList).resources
        with_status = {resource.name.removesuffix("/status"): None for resource in resources if resource.name.endswith("/status")}
        return [
            KindInfo(
                group=kind.group,
                version=kind.version,
                kind=resource.kind,
                plural=resource.name,
                singular=resource.singular_name or resource.kind.lower(),
                list_kind=f"{resource.kind}List",
                scope="Namespaced" if resource.namespaced else "Cluster",
                short_names=resource.short_names,
                categories=resource.categories,
                has_status=resource.name in with_status,
            )
            for resource in resources
            if "/" not in resource.name
        ]


def _not_served(kind: GroupVersionKind) -> NotServed:
    where = api_version(kind.group, kind.version)
    error = NotServed(Status(code=404, reason="NotFound", message=f"the server does not serve the kind {kind.kind} of {where}"))
    error.remedy = "is its CustomResourceDefinition applied, and are apiVersion and kind spelled right? See `kubectl api-resources`"
    return error
