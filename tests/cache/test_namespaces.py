"""A manager of certain namespaces looks nowhere else; what comes is reconciled, what goes is let go."""

import asyncio
from collections.abc import Iterable

import pytest

from setpoint import Context, Controller, Owns, Request, Result
from setpoint.cache import Scope
from setpoint.k8s.core.v1 import ConfigMap, Namespace, Secret
from setpoint.manager import Manager, Options

from .plane import Plane, config_map, on_plane, secret


def recorder(runs: list[str], result: Result | None = None) -> Controller[ConfigMap]:
    controller = Controller(ConfigMap, owns=[Secret])

    @controller.reconciler
    async def record(ctx: Context, request: Request) -> Result | None:
        runs.append(str(request))
        return result

    return controller


def mine(runs: list[str]) -> list[str]:
    """Without what every namespace of a real cluster has."""
    return [run for run in runs if "kube-root-ca" not in run]


def test_a_fixed_set_is_all_that_is_asked_of_the_server_and_all_that_runs() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        await plane.namespaces("a", "b", "c")
        for name in "abc":
            await plane.other.create(config_map("x", name))
        plane.manager.add(recorder(runs))
        await plane.start()
        assert sorted(mine(runs)) == ["a/x", "b/x"]
        for plural in ("configmaps", "secrets"):
            asked = plane.line.of(plural, "list", "watch")
            assert {operation.namespace for operation in asked} == {"a", "b"}

    on_plane(main, namespaces=("a", "b"))


def test_an_empty_set_watches_nothing_until_there_is_one() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        await plane.namespaces("a")
        await plane.other.create(config_map("x", "a"))
        plane.manager.add(recorder(runs))
        await plane.start()
        assert (runs, plane.line.of("configmaps", "list", "watch")) == ([], [])
        plane.manager.set_namespaces(["a"])
        await asyncio.sleep(5)
        assert mine(runs) == ["a/x"]

    on_plane(main, namespaces=())


def test_all_namespaces_means_all_that_are_watched_from_the_cache_and_live() -> None:
    async def main(plane: Plane) -> None:
        seen: dict[str, list[str]] = {}
        await plane.namespaces("a", "b", "c")
        for name in "abc":
            await plane.other.create(config_map("x", name))
            await plane.other.create(secret("s", name))
        controller = Controller(ConfigMap)

        @controller.reconciler
        async def look(ctx: Context, request: Request) -> None:
            seen["cached"] = [str(found.key) for found in await ctx.list(ConfigMap)]
            seen["live"] = [str(found.key) for found in await ctx.list(ConfigMap, live=True)]
            seen["undeclared"] = [str(found.key) for found in await ctx.list(Secret)]
            seen["one"] = [str(found.key) for found in await ctx.list(ConfigMap, namespace="b")]

        plane.manager.add(controller)
        await plane.start()
        assert mine(seen["cached"]) == mine(seen["live"]) == ["a/x", "b/x"]
        assert seen["undeclared"] == ["a/s", "b/s"]
        assert mine(seen["one"]) == ["b/x"]
        assert all(operation.namespace for operation in plane.line.of("configmaps", "list") + plane.line.of("secrets", "list"))

    on_plane(main, namespaces=("a", "b"))


def test_a_read_outside_of_the_set_goes_live_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def main(plane: Plane) -> None:
        found: list[object] = []
        await plane.namespaces("a", "b")
        await plane.other.create(config_map("x", "a"))
        await plane.other.create(config_map("y", "b"))
        controller = Controller(ConfigMap)

        @controller.reconciler
        async def look(ctx: Context, request: Request) -> None:
            found.append(await ctx.get(ConfigMap, Request("b", "y")))

        plane.manager.add(controller)
        await plane.start()
        assert found
        assert all(found)

    on_plane(main, namespace="a")
    assert [r.message for r in caplog.records if "does not watch that namespace" in r.message and "'b'" in r.message]


def test_a_namespace_that_comes_is_listed_and_one_that_goes_is_let_go_without_a_run() -> None:
    """https://github.com/kubernetes-sigs/controller-runtime/issues/2829, https://github.com/kubernetes-sigs/controller-runtime/issues/2585"""

    async def main(plane: Plane) -> None:
        runs: list[str] = []
        await plane.namespaces("a", "b")
        for name in ("a", "b"):
            await plane.other.create(config_map("x", name))
            await plane.other.create(config_map("y", name))
        plane.manager.add(recorder(runs, Result(requeue_after=3600.0)))
        await plane.start()
        assert sorted(mine(runs)) == ["a/x", "a/y"]
        informer = plane.manager.controllers[0].informers[0]

        runs.clear()
        plane.manager.set_namespaces(["a", "b"])
        await asyncio.sleep(5)
        assert sorted(mine(runs)) == ["b/x", "b/y"]
        assert informer.get(Request("b", "x")) is not None

        runs.clear()
        await plane.other.update(await _changed(plane, "a", "x"))
        plane.manager.set_namespaces(["b"])  # while that change is on its way
        await asyncio.sleep(5)
        assert mine(runs) == []
        assert informer.get(Request("a", "x")) is None
        assert informer.list(namespace="a") == []
        open_watches = len(plane.manager.cache._tasks)
        assert open_watches == 2  # configmaps and secrets of b
        await plane.other.update(await _changed(plane, "a", "y"))
        await asyncio.sleep(4000)  # its timers go off, and nothing runs
        assert {run.partition("/")[0] for run in runs} == {"b"}

        runs.clear()
        plane.manager.set_namespaces(["b", "a"])
        await asyncio.sleep(5)
        assert sorted(mine(runs)) == ["a/x", "a/y"]

    on_plane(main, namespaces=("a",))


async def _changed(plane: Plane, namespace: str, name: str) -> ConfigMap:
    found = await plane.other.get(ConfigMap, Request(namespace, name))
    assert found is not None
    found.data = {"n": str(len(found.data) + 1), **found.data}
    return found


def test_namespaces_can_be_followed_by_their_labels() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        await plane.namespaces("a", "b", team="blue")
        await plane.namespaces("c", team="red")
        for name in "abc":
            await plane.other.create(config_map("x", name))
        plane.manager.add(recorder(runs))
        await plane.start()
        assert plane.manager.namespaces == ("a", "b")
        assert sorted(mine(runs)) == ["a/x", "b/x"]

        runs.clear()
        for name, team in (("c", "blue"), ("a", "red")):
            space = await plane.other.get(Namespace, name)
            assert space is not None
            space.metadata.labels = {**space.metadata.labels, "team": team}
            await plane.other.update(space)
        await asyncio.sleep(5)
        assert sorted(plane.manager.namespaces or ()) == ["b", "c"]
        assert mine(runs) == ["c/x"]
        with pytest.raises(ValueError, match="labels team=blue"):
            plane.manager.set_namespaces(["a"])

    on_plane(main, namespace_labels="team=blue")


def test_without_a_namespace_that_is_selected_a_manager_starts_and_waits() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        plane.manager.add(recorder(runs))
        await plane.start()
        assert plane.manager.has_started
        await plane.namespaces("a", team="blue")
        await plane.other.create(config_map("x", "a"))
        await asyncio.sleep(5)
        assert mine(runs) == ["a/x"]

    on_plane(main, namespace_labels="team=blue")


def test_own_writes_are_seen_in_each_namespace() -> None:
    async def main(plane: Plane) -> None:
        seen: list[list[str]] = []
        await plane.namespaces("a", "b")
        controller = Controller(ConfigMap, owns=[Secret])

        @controller.reconciler
        async def write(ctx: Context, request: Request) -> None:
            if request.name == "x":
                await ctx.apply(secret("s", request.namespace, k="v"))
                seen.append([str(found.key) for found in await ctx.list(Secret)])

        plane.manager.add(controller)
        for name in ("a", "b"):
            await plane.other.create(config_map("x", name))
        await plane.start()
        assert seen == [["a/s"], ["a/s", "b/s"]]

    on_plane(main, namespaces=("a", "b"))


def test_kinds_without_namespaces_are_watched_as_ever() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        controller = Controller(Namespace, owns=[Owns(Secret)])

        @controller.reconciler
        async def record(ctx: Context, request: Request) -> None:
            runs.append(str(request))

        plane.manager.add(controller)
        await plane.namespaces("a", "z")
        await plane.start()
        assert {"a", "z"} <= set(runs)
        plane.manager.set_namespaces([])
        await plane.namespaces("y")
        await asyncio.sleep(5)
        assert "y" in runs

    on_plane(main, namespaces=("a",))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"namespaces": ("A",)}, "'A' is no name of a namespace"),
        ({"namespace": "a", "namespace_labels": "x=y"}, "exclude each other"),
        ({"namespace_labels": "x=="}, None),
        ({"namespace_labels": "=x"}, "no label selector"),
    ],
)
def test_what_makes_no_sense_is_said_at_once(options: dict[str, object], message: str | None) -> None:
    async def main(plane: Plane) -> None:
        if message is None:
            Manager(plane.other.connection, options=Options(**options))  # type: ignore[arg-type]  # as the parameters have it
        else:
            with pytest.raises(ValueError, match=message):
                Manager(plane.other.connection, options=Options(**options))  # type: ignore[arg-type]  # as above

    on_plane(main)


def test_a_manager_of_all_namespaces_stays_one() -> None:
    async def main(plane: Plane) -> None:
        assert plane.manager.namespaces is None
        with pytest.raises(ValueError, match="all namespaces, for good"):
            plane.manager.set_namespaces(["a"])

    on_plane(main)


def test_a_scope_tells_what_has_gone_and_what_has_come() -> None:
    scope = Scope(["a", "b", "a"])
    assert scope.names == ("a", "b")
    assert scope.set(["c", "b"]) == (["a"], ["c"])
    assert scope.holds("c")
    assert scope.holds("")
    assert not scope.holds("a")


def test_metadata_of_a_namespace_that_left_is_forgotten() -> None:
    async def main(plane: Plane) -> None:
        await plane.namespaces("a")
        await plane.other.create(config_map("x", "a", {"k": "v"}, labels={"l": "m"}))
        plane.manager.add(recorder([]))
        await plane.start()
        informer = plane.manager.controllers[0].informers[0]
        assert informer.objects >= 1
        assert informer.size > 0
        plane.manager.set_namespaces([])
        assert (informer.objects, informer.size, len(informer)) == (0, 0, 0)

    on_plane(main, namespaces=("a",))


def test_what_changes_about_a_namespace_that_is_followed_anyway_changes_no_watch() -> None:
    async def main(plane: Plane) -> None:
        await plane.namespaces("a", "b")
        for name in ("a", "b"):
            await plane.other.patch(Namespace, name, {"metadata": {"labels": {"team": "blue"}}})
        plane.manager.add(recorder([]))
        await plane.start()
        told: list[list[str]] = []
        forward = plane.manager.cache.set_namespaces

        def tell(names: Iterable[str]) -> None:
            told.append(sorted(names))
            forward(names)

        plane.manager.cache.set_namespaces = tell  # type: ignore[method-assign]  # to hear of it
        await plane.other.patch(Namespace, "a", {"metadata": {"annotations": {"seen": "often"}}})
        await asyncio.sleep(5)
        assert told == []
        await plane.other.patch(Namespace, "a", {"metadata": {"labels": {"team": "red"}}})
        await asyncio.sleep(5)
        assert told == [["b"]]

    on_plane(main, namespace_labels="team=blue")


def test_ten_thousand_namespaces_are_set_and_asked_without_looking_at_each_for_each() -> None:
    names = [Name(f"n-{number}") for number in range(10_000)]
    scope = Scope(names)
    Name.compared = 0
    scope.set([*names[1:], Name("other")])
    assert all(scope.holds(name) for name in names[1:])
    assert Name.compared < 100_000


class Name(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


def test_a_hundred_changes_at_once_end_at_the_last_one() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        names = [f"n{number}" for number in range(6)]
        await plane.namespaces(*names)
        for name in names:
            await plane.other.create(config_map("x", name))
        plane.manager.add(recorder(runs))
        await plane.start()
        for number in range(100):
            plane.manager.set_namespaces(names[number % 6 :][:2])
            if number % 7 == 0:
                await asyncio.sleep(0.0005)
        plane.manager.set_namespaces([])
        plane.manager.set_namespaces(["n1", "n4", "n1"])
        runs.clear()
        await asyncio.sleep(5)
        assert sorted(mine(runs)) == ["n1/x", "n4/x"]
        informer = plane.manager.controllers[0].informers[0]
        assert sorted(mine(list(map(str, informer.keys())))) == ["n1/x", "n4/x"]
        assert sum("configmaps" in task.get_name() for task in asyncio.all_tasks()) == 2

    on_plane(main, namespaces=("n0",))
