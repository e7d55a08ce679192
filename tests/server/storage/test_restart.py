"""A server that is started again on its folder is the same server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.talk import CONFIGMAPS, CRDS, NAMESPACES, WIDGET_CRD, WIDGETS, Refused, Talk, config_map, widget

from setpoint.api import GroupVersionResource
from setpoint.client import Client, Connection
from setpoint.cluster import ControlPlane
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.storage import data_folder
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.world import World, simulate

SERVICES = GroupVersionResource("", "v1", "services")


def lives(folder: Path, *parts: Callable[[Talk], Awaitable[None]], window: int | None = None) -> None:
    """Each part talks to a server of its own, one after another on one folder."""

    async def run(world: World) -> None:
        for part in parts:
            async with data_folder(world, folder, window=window) as storage:
                t = Talk(world)
                t.server = ApiServer(world, storage=storage)
                await part(t)
                t.server.stop()

    simulate(run)


def service(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"type": "NodePort", "ports": [{"port": 80}]},
    }


def test_everything_is_there_again_under_its_revision(tmp_path: Path) -> None:
    before: dict[str, Any] = {}

    async def everything(t: Talk) -> dict[str, Any]:
        return {resource.resource: await t.do("list", resource) for resource in (NAMESPACES, CRDS, WIDGETS, SERVICES, CONFIGMAPS)}

    async def first(t: Talk) -> None:
        await t.create(CRDS, WIDGET_CRD)
        await t.create(WIDGETS, widget("w", labels={"a": "b"}))
        await t.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
        await t.create(CONFIGMAPS, config_map("c", "team"))
        for number in range(5):
            await t.create(SERVICES, service(f"s{number}"))
        before.update(await everything(t))

    async def second(t: Talk) -> None:
        assert await everything(t) == before
        selected = await t.do("list", WIDGETS, labelSelector="a=b")
        assert [item["metadata"]["name"] for item in selected["items"]] == ["w"]
        await t.merge(WIDGETS, "default/w", {"metadata": {"labels": {"a": "c"}}})
        made = await t.create(SERVICES, service("new"))
        for field in ("clusterIP", "ports"):
            assert made["spec"][field] not in [item["spec"][field] for item in before["services"]["items"]]
        with pytest.raises(Refused, match="409"):
            await t.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})

    lives(tmp_path, first, second)


def test_watches_go_on_at_any_revision_that_is_kept_and_older_ones_have_expired(tmp_path: Path) -> None:
    revisions: list[str] = []

    async def first(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("a"))
        revisions.append(str(t.revision))
        await t.merge(CONFIGMAPS, "default/a", {"metadata": {"labels": {"mine": "yes"}}})
        revisions.append(str(t.revision))
        t.server.compact()
        await t.merge(CONFIGMAPS, "default/a", {"metadata": {"labels": {"mine": None}}})
        await t.do("delete", CONFIGMAPS, "default/a")

    async def second(t: Talk) -> None:
        watch = await t.watch(CONFIGMAPS, resourceVersion=revisions[1])
        assert await watch.told() == [("MODIFIED", "a"), ("DELETED", "a")]
        # What an object was before a change is known again, too: it left this selection.
        watch = await t.watch(CONFIGMAPS, resourceVersion=revisions[1], labelSelector="mine=yes")
        assert await watch.told() == [("DELETED", "a")]
        ((error,),) = [await (await t.watch(CONFIGMAPS, resourceVersion=revisions[0])).read() or []]
        assert (error["type"], error["object"]["code"]) == ("ERROR", 410)
        past = await t.do("list", CONFIGMAPS, resourceVersion=revisions[1], resourceVersionMatch="Exact")
        assert [item["metadata"]["labels"] for item in past["items"]] == [{"mine": "yes"}]

    lives(tmp_path, first, second)


def test_a_definition_that_was_being_deleted_goes_on_with_that(tmp_path: Path) -> None:
    async def first(t: Talk) -> None:
        await t.create(CRDS, WIDGET_CRD)
        await t.create(WIDGETS, widget("w", finalizers=["example.com/held"]))
        await t.do("delete", CRDS, "widgets.example.com")

    async def second(t: Talk) -> None:
        with pytest.raises(Refused, match=r"^40[35] "):
            await t.create(WIDGETS, widget("more"))
        await t.merge(WIDGETS, "default/w", {"metadata": {"finalizers": None}})
        for _ in range(3):
            await t.do("list", NAMESPACES)
        assert t.server.storage.get("apiextensions.k8s.io/customresourcedefinitions", "widgets.example.com") is None

    lives(tmp_path, first, second)


def test_a_control_plane_takes_a_storage(tmp_path: Path) -> None:
    async def main(world: World) -> None:
        for number in range(2):
            async with data_folder(world, tmp_path) as storage, ControlPlane(world, storage=storage) as plane:
                client = Client(Connection(plane.transport(), world))
                assert len(await client.list(ConfigMap, labels={"mine": "yes"})) == number
                made = ConfigMap(metadata={"name": f"c{number}", "namespace": "default", "labels": {"mine": "yes"}})
                await client.create(made)

    simulate(main)
