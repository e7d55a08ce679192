"""A watch of metadata asks for nothing else, holds nothing else, and no typed read is served from it."""

import asyncio

import pytest

from setpoint import Context, Controller, Object, Owns, Request
from setpoint.cache import Informer
from setpoint.k8s.core.v1 import ConfigMap, Pod, Secret

from .plane import Plane, config_map, on_plane, secret


def watching(controller: Controller[ConfigMap], seen: list[Object]) -> None:
    @controller.reconciler
    async def nothing(ctx: Context, request: Request) -> None: ...

    @controller.watch(Secret, metadata_only=True)
    def mapped(found: Object) -> list[Request]:
        seen.append(found)
        return []


def test_two_hundred_secrets_of_a_mebibyte_take_less_than_two_kilobytes_each() -> None:
    """https://github.com/prometheus-operator/prometheus-operator/issues/5410"""

    async def main(plane: Plane) -> None:
        controller, seen = Controller(ConfigMap), list[Object]()
        watching(controller, seen)
        plane.manager.add(controller)
        large = "x" * (1 << 20)
        for number in range(100):
            await plane.other.create(config_map(f"unrelated-{number}"))
        for number in range(200):
            await plane.other.create(secret(f"s-{number}", k=large))
        await plane.start()
        (informer,) = plane.manager.cache.informers_of(plane.manager.client.info_of(Secret))
        assert informer.objects == 200 == len(seen)
        assert informer.size / 200 < 2000
        asked = plane.line.of("secrets", "list", "watch")
        assert asked
        assert all("as=PartialObjectMetadata" in operation.accept for operation in asked)
        assert {found.name for found in seen} == {f"s-{number}" for number in range(200)}
        assert b"xxxx" not in b"".join(informer.list())

    on_plane(main)


def test_changes_trigger_as_of_the_whole_object() -> None:
    async def main(plane: Plane) -> None:
        controller, seen = Controller(ConfigMap), list[Object]()
        watching(controller, seen)
        plane.manager.add(controller)
        await plane.start()
        made = await plane.other.create(secret("s", k="v"))
        await asyncio.sleep(1)
        made.metadata.labels = {"l": "m"}
        await plane.other.update(made)
        await asyncio.sleep(1)
        await plane.other.delete(made)
        await asyncio.sleep(1)
        assert [found.metadata.labels for found in seen] == [{}, {}, {"l": "m"}, {"l": "m"}]

    on_plane(main)


def test_an_owned_kind_may_be_watched_by_metadata_and_triggers_its_owner() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        controller = Controller(ConfigMap, owns=[Owns(Secret, metadata_only=True)])

        @controller.reconciler
        async def make(ctx: Context, request: Request) -> None:
            owner = await ctx.get(ConfigMap, request)
            if owner is not None and owner.name == "one":
                runs.append("run")
                await ctx.apply(secret("s", k="v"), owner=owner)

        plane.manager.add(controller)
        await plane.other.create(config_map("one"))
        await plane.start()
        before = len(runs)
        await plane.other.delete(Secret, Request("default", "s"))
        await asyncio.sleep(1)
        assert len(runs) > before
        assert await plane.other.get(Secret, Request("default", "s")) is not None

    on_plane(main)


def test_a_typed_read_goes_live_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def main(plane: Plane) -> None:
        found: list[Secret | None] = []
        controller = Controller(ConfigMap)

        @controller.reconciler
        async def read(ctx: Context, request: Request) -> None:
            found.append(await ctx.get(Secret, Request("default", "s")))

        @controller.watch(Secret, metadata_only=True)
        def mapped(found: Object) -> list[Request]:
            return []

        plane.manager.add(controller)
        await plane.other.create(secret("s", k="v"))
        await plane.other.create(config_map("one"))
        await plane.start()
        assert found
        assert all(each is not None and each.data for each in found)

    on_plane(main)
    assert [record for record in caplog.records if "only their metadata are cached" in record.message]


def test_who_needs_metadata_alone_shares_what_is_held_whole() -> None:
    async def main(plane: Plane) -> None:
        cache = plane.manager.cache
        whole = cache.informer(Secret)
        assert cache.informer(Secret, metadata_only=True) is whole
        other = cache.informer(ConfigMap, metadata_only=True)
        assert cache.informer(ConfigMap, metadata_only=True) is other
        assert isinstance(other, Informer)
        assert other.metadata_only
        assert cache.holding(other.info) == []
        before_the_start = cache.informer(ConfigMap)
        assert before_the_start is other
        assert not other.metadata_only
        late = cache.informer(Pod, metadata_only=True)
        await plane.start()
        whole_pods = cache.informer(Pod)
        assert whole_pods is not late
        assert [informer.metadata_only for informer in cache.informers_of(late.info)] == [True, False]

    on_plane(main)
