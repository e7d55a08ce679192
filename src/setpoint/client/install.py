"""Installing custom kinds: their CustomResourceDefinitions are applied, and waited for until the server serves them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from setpoint.client.client import Client
from setpoint.client.errors import NotServed
from setpoint.objects import KindInfo, Object, Request, crd, kind_of

DEFINITION = KindInfo(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    singular="customresourcedefinition",
    list_kind="CustomResourceDefinitionList",
    scope="Cluster",
    has_status=True,
)
FIRST_WAIT, LONGEST_WAIT = 0.01, 1.0


class NotEstablished(Exception):
    """The server has taken a definition and does not serve it."""


def is_custom(kind: type[Object]) -> bool:
    """Whether a kind is the user's own, so that a server serves it only once it has its definition."""
    return not kind.__module__.startswith("setpoint.k8s.")


def definitions(kinds: Iterable[type[Object]]) -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of those kinds that are the user's own; several versions of one kind make one definition."""
    versions: dict[tuple[str, str], list[type[Object]]] = {}
    for kind in kinds:
        if is_custom(kind):
            info = kind_of(kind)
            versions.setdefault((info.group, info.kind), []).append(kind)
    return [crd(*classes) for classes in versions.values()]


async def install(client: Client, kinds: Iterable[type[Object]], *, patience: float = 30.0) -> list[str]:
    """Applies the definitions of the custom ones among the kinds, and returns their names once all are served.

    Raises `NotEstablished` after `patience` seconds, with the server's reason, and `ApiError` where a definition is refused.
    """
    names: list[str] = []
    kinds = [kind for kind in kinds if is_custom(kind)]
    for definition in definitions(kinds):
        applied = await client.apply(definition)
        names.append(applied.name)
    deadline = asyncio.get_running_loop().time() + patience
    for name in names:
        await _until_well(partial(_established, client, name), name, deadline)
    # An established kind is not there at once for everybody who asks: a real server publishes it a moment later.
    for info in (kind_of(kind) for kind in kinds):
        if info.served:
            await _until_well(partial(_published, client, info), str(info.group_version_kind), deadline)
    return names


async def _until_well(ask: Callable[[], Awaitable[str | None]], what: str, deadline: float) -> None:
    loop, wait = asyncio.get_running_loop(), FIRST_WAIT
    while (problem := await ask()) is not None:
        if loop.time() >= deadline:
            raise NotEstablished(f"the server does not serve {what}: {problem}")
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


async def _established(client: Client, name: str) -> str | None:
    return _problem(await client.get_raw(DEFINITION, Request("", name)))


async def _published(client: Client, info: KindInfo) -> str | None:
    try:
        await client.discovery.find(info.group_version_kind)
    except NotServed:
        return "its definition is established, and discovery does not list it yet"
    return None


def _problem(definition: bytes | None) -> str | None:
    if definition is None:
        return "its definition has been deleted"
    status = msgspec.json.decode(definition).get("status") or {}
    conditions = {c["type"]: c for c in status.get("conditions") or ()}  # null, until the server has looked at it
    if conditions.get("Established", {}).get("status") == "True":
        return None
    refused = conditions.get("NamesAccepted", {})
    return refused.get("message") if refused.get("status") == "False" else "it is not established yet"
