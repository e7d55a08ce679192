"""Selectors are asked of the server; a read is served by an informer that covers it, which then lacks nothing of it."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setpoint import Context, Controller, Owns, Request, mappers
from setpoint.api import LabelSelector
from setpoint.cache import Selection
from setpoint.client.errors import AlreadyExists
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.objects import Index

from .model import widget
from .plane import Plane, config_map, on_plane, secret


def options_of(plane: Plane, plural: str) -> set[tuple[str, str]]:
    return {(o.options.get("labelSelector", ""), o.options.get("fieldSelector", "")) for o in plane.line.of(plural, "list", "watch")}


def test_labels_and_fields_of_every_sort_of_watch_are_asked_of_the_server() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        controller = Controller(
            ConfigMap, labels="app=x", fields="metadata.namespace!=kube-system", owns=[Owns(Secret, labels={"app": "x"})]
        )

        @controller.reconciler
        async def record(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        @controller.watch(Secret, labels="tier=db", fields="metadata.name=z")
        def mapped(found: Secret) -> list[Request]:
            return [Request("default", f"for-{found.name}")]

        plane.manager.add(controller)
        for name, labels in (("one", {"app": "x"}), ("two", {})):
            await plane.other.create(config_map(name, labels=labels))
        for name in ("y", "z"):
            made = secret(name)
            made.metadata.labels = {"tier": "db"}
            await plane.other.create(made)
        await plane.start()
        assert sorted(runs) == ["for-z", "one"]
        assert options_of(plane, "configmaps") == {("app=x", "metadata.namespace!=kube-system")}
        assert options_of(plane, "secrets") == {("app=x", ""), ("tier=db", "metadata.name=z")}

    on_plane(main)


@pytest.mark.parametrize("bad", [{"fields": "spec.nodeName"}, {"labels": "=x"}])
def test_a_selector_that_is_none_is_refused_where_it_is_declared(bad: dict[str, str]) -> None:
    declarations = [
        lambda: Controller(ConfigMap, **bad),  # type: ignore[arg-type]  # as the parameters have it
        lambda: Owns(ConfigMap, **bad),  # type: ignore[arg-type]  # as above
        lambda: Controller(ConfigMap).watch(Secret, map=lambda s: [], **bad),  # type: ignore[call-overload]  # as above
    ]
    for declare in declarations:
        with pytest.raises(ValueError, match=r"is no (label|field) selector"):
            declare()


def test_a_read_is_served_by_the_informer_that_covers_it_and_else_by_the_server() -> None:
    async def main(plane: Plane) -> None:
        counts: dict[str, int] = {}
        controller = Controller(ConfigMap, labels="app=x", owns=[Owns(Secret, fields="metadata.name=z")])

        @controller.reconciler
        async def read(ctx: Context, request: Request) -> None:
            if request.name != "one":
                return
            for name, reading in (
                ("list of what is selected", lambda: ctx.list(ConfigMap, labels="app=x,tier=db")),
                ("list of more", lambda: ctx.list(ConfigMap)),
                ("get of what is there", lambda: ctx.get(ConfigMap, request)),
                ("get of what is not selected", lambda: ctx.get(ConfigMap, Request("default", "two"))),
                ("get of the one by its name", lambda: ctx.get(Secret, Request("default", "z"))),
                ("get of another", lambda: ctx.get(Secret, Request("default", "y"))),
            ):
                before = len(plane.line.of("configmaps", "get", "list") + plane.line.of("secrets", "get", "list"))
                await reading()
                counts[name] = len(plane.line.of("configmaps", "get", "list") + plane.line.of("secrets", "get", "list")) - before

        plane.manager.add(controller)
        await plane.other.create(config_map("one", labels={"app": "x"}))
        await plane.other.create(config_map("two"))
        await plane.start()
        assert counts == {
            "list of what is selected": 0,
            "list of more": 1,
            "get of what is there": 0,
            "get of what is not selected": 1,
            "get of the one by its name": 0,
            "get of another": 1,
        }

    on_plane(main)


NAMES = st.sampled_from(["a", "b"])
SPACES = st.sampled_from(["n", "m"])
LABELS = st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"]))
LABEL_SELECTORS = st.sampled_from(["", "app=x", "app!=x", "app", "!app", "app in (x,y)", "app=x,tier=y", "tier notin (x)"])
FIELD_SELECTORS = st.sampled_from(
    ["", "metadata.name=a", "metadata.name!=a", "metadata.namespace=n", "metadata.name=a,metadata.namespace=n", "spec.x=1"]
)


@settings(max_examples=1000, deadline=None)
@given(
    selection=st.tuples(LABEL_SELECTORS, FIELD_SELECTORS, st.sampled_from(["", "n", "m"])),
    read=st.tuples(LABEL_SELECTORS, st.sampled_from([None, "n", "m"]), st.sampled_from(["", "a", "b"])),
    objects=st.lists(st.tuples(NAMES, SPACES, LABELS), max_size=6),
)
def test_an_informer_that_covers_a_read_lacks_nothing_that_a_live_read_finds(selection, read, objects) -> None:
    labels, fields, namespace = selection
    wanted, where, name = read
    selected = Selection.parse(labels=labels, fields=fields, namespace=namespace)
    found = LabelSelector.parse(wanted)
    if selected.covers(namespace=where, labels=found, name=name):
        for named, space, labelled in objects:
            live = (where in (None, space)) and name in ("", named) and found.matches(labelled)
            if live:
                assert selected.selects(Request(space, named), widget(named, 1, namespace=space, labels=labelled))


def test_a_read_that_asks_for_less_than_is_held_is_covered() -> None:
    held = Selection.parse(labels="app=x", fields="metadata.name=a")
    labels = LabelSelector.parse("app=x,tier=y")
    assert held.covers(namespace="n", labels=labels, name="a")
    assert not held.covers(namespace="n", labels=labels, name="b")
    assert not held.covers(namespace="n", labels=labels)
    assert not held.covers(namespace="n", labels=LabelSelector(), name="a")


def test_an_undeclared_kind_is_read_live_and_opens_no_watch(caplog: pytest.LogCaptureFixture) -> None:
    """https://github.com/k8ssandra/k8ssandra-operator/issues/1752"""
    caplog.set_level("INFO")

    async def main(plane: Plane) -> None:
        controller = Controller(ConfigMap)

        @controller.reconciler
        async def read(ctx: Context, request: Request) -> None:
            await ctx.get(Secret, Request("default", "s"))
            await ctx.get(Secret, Request("default", "s"))

        plane.manager.add(controller)
        await plane.other.create(config_map("one"))
        await plane.start()
        assert len(plane.line.of("secrets", "get")) >= 2
        assert plane.line.of("secrets", "list", "watch") == []
        assert plane.manager.cache.informers_of(plane.manager.client.info_of(Secret)) == []

    on_plane(main)
    assert len([record for record in caplog.records if "reads of secrets" in record.message]) == 1


def test_a_create_of_what_a_filtered_cache_does_not_show_explains_itself() -> None:
    """https://github.com/hashicorp/vault-secrets-operator/issues/1212"""

    async def main(plane: Plane) -> None:
        errors: list[AlreadyExists] = []
        adopted: list[object] = []
        controller = Controller(ConfigMap, owns=[Owns(Secret, labels="app=x")])

        @controller.reconciler
        async def make(ctx: Context, request: Request) -> None:
            if request.name != "one" or await ctx.list(Secret, labels="app=x"):
                return
            try:
                await ctx.create(secret("s"))
            except AlreadyExists as error:
                errors.append(error)
            mine = secret("s", k="v")
            mine.metadata.labels = {"app": "x"}
            adopted.append(await ctx.apply(mine))

        plane.manager.add(controller)
        await plane.other.create(secret("s"))
        await plane.other.create(config_map("one"))
        await plane.start()
        (error,) = errors
        assert "labelSelector=app=x" in str(error)
        assert "live=True" in str(error)
        assert "ctx.apply" in str(error)
        assert adopted

    on_plane(main)


def test_who_listens_late_hears_of_everything_that_is_there() -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        first, late = Controller(ConfigMap, name="first"), Controller(ConfigMap, name="late")

        @first.reconciler
        async def nothing(ctx: Context, request: Request) -> None: ...

        @late.reconciler
        async def record(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        plane.manager.add(first)
        for name in "abc":
            await plane.other.create(config_map(name))
        await plane.start()
        asked = len(plane.line.of("configmaps", "list", "watch"))
        plane.manager.add(late)
        await asyncio.sleep(5)
        assert {"a", "b", "c"} <= set(runs)
        assert len(plane.line.of("configmaps", "list", "watch")) == asked  # from what is there, not by another list

    on_plane(main)


def test_an_index_finds_what_is_held_own_writes_included() -> None:
    by_kind = Index(ConfigMap, lambda found: [found.data["kind"]] if "kind" in found.data else [])

    async def main(plane: Plane) -> None:
        found: list[list[str]] = []
        controller = Controller(ConfigMap, indexes=[by_kind])

        @controller.reconciler
        async def look(ctx: Context, request: Request) -> None:
            if request.name == "one":
                await ctx.apply(config_map("made", data={"kind": "k"}))
                found.append([each.name for each in await ctx.list(ConfigMap, index=by_kind("k"))])

        plane.manager.add(controller)
        await plane.other.create(config_map("one", data={"kind": "k"}))
        await plane.start()
        assert found[-1] == ["made", "one"]

    on_plane(main)


BY_SETTINGS = Index(ConfigMap, lambda found: [found.data.get("settings", "")])


@pytest.mark.parametrize("mapper", [mappers.to_all(ConfigMap), mappers.by_index(BY_SETTINGS, lambda secret: "one")])
def test_ready_made_mappers_concern_no_object_that_the_controller_does_not_look_after(mapper) -> None:
    async def main(plane: Plane) -> None:
        runs: list[str] = []
        controller = Controller(ConfigMap, fields="metadata.name=mine")
        controller.watch(Secret, map=mapper)

        @controller.reconciler
        async def look(ctx: Context, request: Request) -> None:
            runs.append(request.name)

        for name in ("mine", "other"):
            await plane.other.create(config_map(name, data={"settings": "one"}))
        plane.manager.add(controller)
        await plane.start()
        runs.clear()
        await plane.other.create(secret("s"))
        await asyncio.sleep(5)
        assert runs == ["mine"]

    on_plane(main)
