"""What a cache strips is known: reads lack it, and no write takes it from the server."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from setpoint import Context, Controller, Request
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.objects.strip import Strip

from .plane import Plane, config_map, on_plane

LAST = 'metadata.annotations["example.com/last"]'
ONE = Request("default", "one")


def stripped(data: object, *paths: str) -> object:
    return json.loads(Strip(paths).of(json.dumps(data).encode()))


def test_named_parts_go_and_the_rest_stays_as_it_is() -> None:
    whole = {"kind": "X", "metadata": {"name": "a", "annotations": {"a.b/c": "1", "d": "2"}, "managedFields": [{}]}, "data": {"k": "v"}}
    without = stripped(whole, "data", "metadata.managedFields")
    assert without == {"kind": "X", "metadata": {"name": "a", "annotations": {"a.b/c": "1", "d": "2"}}}
    assert stripped(whole, 'metadata.annotations["a.b/c"]') == {
        "kind": "X",
        "metadata": {"name": "a", "annotations": {"d": "2"}, "managedFields": [{}]},
        "data": {"k": "v"},
    }
    assert stripped(whole, "data.k.deeper", "spec.x", "kindly") == whole
    data = json.dumps(whole).encode()
    assert Strip(["spec"]).of(data) is data
    assert stripped(whole, "data.k", "data") == stripped(whole, "data")


@pytest.mark.parametrize("path", ["", ".", "a..b", "kind", "metadata", "metadata.name", "metadata.labels", "metadata.finalizers", "a[b]"])
def test_what_is_no_path_or_cannot_go_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"no path|cannot be stripped"):
        Strip([path])


def once(main: Callable[[Context], Awaitable[None]], *, strip: list[str], compress: bool = False) -> Plane:
    """Runs `main` as a reconciler on one ConfigMap that others have made; gives the plane."""

    async def body(plane: Plane) -> Plane:
        failures: list[BaseException] = []
        plane.manager.cache.configure(ConfigMap, strip=strip, compress=compress)
        controller = Controller(ConfigMap)
        done = False

        @controller.reconciler
        async def run(ctx: Context, request: Request) -> None:
            nonlocal done
            if request == ONE and not done:
                done = True
                try:
                    await main(ctx)
                except BaseException as error:
                    failures.append(error)

        plane.manager.add(controller)
        await plane.other.create(
            config_map("one", data={"a": "1", "b": "2"}, labels={"l": "m"}, annotations={"example.com/last": "x", "other": "y"})
        )
        await plane.start()
        assert done
        if failures:
            raise failures[0]
        live = await plane.other.get(ConfigMap, ONE)
        assert live is not None
        plane.live = live  # type: ignore[attr-defined]  # for the test that asked
        return plane

    return on_plane(body)


async def got(ctx: Context) -> ConfigMap:
    found = await ctx.get(ConfigMap, ONE)
    assert found is not None
    return found


def test_reads_lack_what_is_stripped() -> None:
    async def main(ctx: Context) -> None:
        for found in (await got(ctx), *[each for each in await ctx.list(ConfigMap) if each.name == "one"]):
            assert found.data == {}
            assert found.metadata.managed_fields == []
            assert found.metadata.annotations == {"other": "y"}
        live = await ctx.get(ConfigMap, ONE, live=True)
        assert live is not None
        assert live.data

    once(main, strip=["data", "metadata.managedFields", LAST])


def test_an_update_elsewhere_leaves_what_is_stripped_on_the_server() -> None:
    """https://github.com/operator-framework/operator-controller/issues/2328"""

    async def main(ctx: Context) -> None:
        found = await got(ctx)
        found.metadata.labels = {"l": "m", "new": "label"}
        await ctx.update(found)

    plane = once(main, strip=["data", LAST])
    assert plane.live.metadata.labels == {"l": "m", "new": "label"}
    assert plane.live.metadata.annotations == {"example.com/last": "x", "other": "y"}
    assert plane.live.data == {"a": "1", "b": "2"}
    assert plane.line.of("configmaps", "get") == []


def test_removing_all_that_is_seen_leaves_what_is_not() -> None:
    async def main(ctx: Context) -> None:
        found = await got(ctx)
        found.metadata.annotations = {}
        await ctx.update(found)

    assert once(main, strip=[LAST]).live.metadata.annotations == {"example.com/last": "x"}


def test_an_update_inside_of_what_is_stripped_reads_live_and_refuses_to_remove_what_was_not_seen() -> None:
    async def main(ctx: Context) -> None:
        found = await got(ctx)
        found.data = {"c": "3"}
        with pytest.raises(ValueError, match="would remove what the server has in data"):
            await ctx.update(found)

    plane = once(main, strip=["data", LAST])
    assert plane.live.data == {"a": "1", "b": "2"}
    assert len(plane.line.of("configmaps", "get")) == 1


def test_an_object_that_was_read_live_can_be_changed_there() -> None:
    async def main(ctx: Context) -> None:
        found = await ctx.get(ConfigMap, ONE, live=True)
        assert found is not None
        found.data = {**found.data, "a": "changed", "c": "3"}
        await ctx.update(found)

    plane = once(main, strip=["data", LAST])
    assert plane.live.data == {"a": "changed", "b": "2", "c": "3"}
    assert plane.live.metadata.annotations == {"example.com/last": "x", "other": "y"}


def test_an_object_without_its_parts_cannot_be_written_back_whole() -> None:
    async def main(plane: Plane) -> None:
        errors: list[str] = []
        controller = Controller(Secret)

        @controller.reconciler
        async def nothing(ctx: Context, request: Request) -> None: ...

        @controller.watch(ConfigMap, metadata_only=True)
        async def mapped(found, reader) -> list[Request]:
            try:
                await plane.other.update(found)
            except TypeError as error:
                errors.append(str(error))
            return []

        plane.manager.add(controller)
        await plane.other.create(config_map("one", data={"a": "1"}))
        await plane.start()
        assert errors
        live = await plane.other.get(ConfigMap, ONE)
        assert live is not None
        assert live.data == {"a": "1"}

    on_plane(main)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize(
    ("strip", "sent_after_foreign_change"), [([LAST, "metadata.managedFields"], 0), (["data"], 1), (["metadata.managedFields"], 0)]
)
def test_an_apply_is_free_when_nothing_changes_and_goes_out_when_what_it_states_may_have(
    strip: list[str], sent_after_foreign_change: int, compress: bool
) -> None:
    async def main(plane: Plane) -> None:
        plane.manager.cache.configure(ConfigMap, strip=strip, compress=compress)
        sent: list[int] = []
        results: list[dict[str, str]] = []
        controller = Controller(Secret, owns=[ConfigMap])

        @controller.reconciler
        async def run(ctx: Context, request: Request) -> None:
            before = len(plane.line.of("configmaps", "patch"))
            results.append((await ctx.apply(config_map("one", data={"a": "1"}))).data)
            sent.append(len(plane.line.of("configmaps", "patch")) - before)

        plane.manager.add(controller)
        await plane.start()
        for _ in range(3):
            plane.manager.controllers[0].queue.add(ONE)
            await asyncio.sleep(1)
        assert sent == [1, 0, 0]
        assert results[0] == results[1] == ({} if "data" in strip else {"a": "1"})
        # Somebody else changes something that is not seen.
        await plane.other.patch(ConfigMap, ONE, {"metadata": {"annotations": {"example.com/last": "z"}}})
        await asyncio.sleep(1)
        plane.manager.controllers[0].queue.add(ONE)
        await asyncio.sleep(1)
        changed_in_sight = LAST not in strip
        assert sent[3:] == [1 if changed_in_sight else sent_after_foreign_change]
        # And what is stated.
        await plane.other.patch(ConfigMap, ONE, {"data": {"a": "theirs"}})
        await asyncio.sleep(1)
        plane.manager.controllers[0].queue.add(ONE)
        await asyncio.sleep(1)
        live = await plane.other.get(ConfigMap, ONE)
        assert live is not None
        assert live.data == {"a": "1"}

    on_plane(main)


def test_a_kind_is_configured_before_it_is_watched() -> None:
    async def main(plane: Plane) -> None:
        controller = Controller(ConfigMap, reconciler=_nothing)
        plane.manager.add(controller)
        with pytest.raises(RuntimeError, match="before controllers are added"):
            plane.manager.cache.configure(ConfigMap, strip=["data"])

    on_plane(main)


async def _nothing(ctx: Context, request: Request) -> None: ...
