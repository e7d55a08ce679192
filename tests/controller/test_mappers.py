"""Ready-made mappers: whom a change of a watched object concerns, before it and after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from setpoint.controller import Context, Controller, MapperFailed, mappers
from setpoint.objects import Index, OwnerReference, Request
from setpoint.world import World, simulate

from .fakes import Gadget, GadgetSpec, Part, Rig, Zone, gadget, part

NEEDS = "example.com/needs"
BY_NEED: Index[Gadget] = Index(Gadget, lambda obj: obj.metadata.annotations.get(NEEDS, "").split())


def zone(name: str, size: int = 1, **metadata: Any) -> Zone:
    from setpoint.objects import ObjectMeta

    return Zone(metadata=ObjectMeta(name=name, **metadata), spec=GadgetSpec(size=size))


def watching(watched: type[Any], mapper: Any, kind: type[Any] = Gadget, **declared: Any) -> tuple[Controller[Any], list[str]]:
    controller: Controller[Any] = Controller(kind, resync=None)
    controller.watch(watched, map=mapper, **declared)
    runs: list[str] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(str(request))

    return controller, runs


def story(
    controller: Controller[Any], runs: list[str], *steps: Callable[[Rig], Any], prepare: Callable[[Rig], Any] = lambda rig: None
) -> list[list[str]]:
    """What ran after each step, sorted; the gadgets `a` and `b` are there before, and what `prepare` makes."""

    async def main(world: World) -> list[list[str]]:
        rig = Rig(world)
        for name in "ab":
            rig.server.put(gadget(name, annotations={NEEDS: "ns/shared north" if name == "a" else "ns/shared"}))
        prepare(rig)
        found = []
        async with rig.running(controller):
            await asyncio.sleep(5)
            for step in steps:
                runs.clear()
                step(rig)
                await asyncio.sleep(5)
                found.append(sorted(runs))
        assert rig.heard(MapperFailed) == []
        return found

    return simulate(main)


def owned_by(*owners: Any, controlled: bool = False, uid: str = "") -> list[OwnerReference]:
    return [
        OwnerReference(
            api_version="test.example.com/v1",
            kind=type(owner).__name__,
            name=owner.name,
            uid=uid or owner.metadata.uid,
            controller=controlled or None,
        )
        for owner in owners
    ]


# ---- by owner


@pytest.mark.parametrize("metadata_only", [False, True])
def test_to_owner_concerns_every_owner_of_the_kind_and_not_only_the_one_that_controls(metadata_only: bool) -> None:
    controller, runs = watching(Part, mappers.to_owner(Gadget), metadata_only=metadata_only)

    def made(rig: Rig) -> None:
        owners = [rig.server.read(Gadget, name) for name in "ab"]
        rig.server.put(part("p", owner_references=[*owned_by(*owners), *owned_by(part("q", uid="other"))]))

    def handed_over(rig: Rig) -> None:
        rig.server.put(part("p", owner_references=owned_by(rig.server.read(Gadget, "b"))))

    def changed(rig: Rig) -> None:
        rig.server.put(part("p", size=5, owner_references=owned_by(rig.server.read(Gadget, "b"))))

    def gone(rig: Rig) -> None:
        rig.server.remove(part("p"))

    assert story(controller, runs, made, handed_over, changed, gone) == [["ns/a", "ns/b"], ["ns/a", "ns/b"], ["ns/b"], ["ns/b"]]


def test_to_owner_is_not_fooled_by_another_owner_under_the_same_name_but_tells_one_that_is_gone() -> None:
    controller, runs = watching(Part, mappers.to_owner(Gadget))

    def orphan(rig: Rig) -> None:
        rig.server.put(part("p", owner_references=owned_by(rig.server.read(Gadget, "a"), uid="an earlier one")))

    def owner_gone(rig: Rig) -> None:
        rig.server.put(part("q", owner_references=owned_by(gadget("c", uid="gone"))))

    assert story(controller, runs, orphan, owner_gone) == [[], ["ns/c"]]


def test_a_list_by_owner_goes_by_uid_so_that_a_child_of_an_earlier_owner_is_not_taken_for_the_new_ones() -> None:
    seen: list[list[str]] = []
    controller: Controller[Any] = Controller(Gadget, owns=[Part], resync=None)

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        obj = await ctx.get(Gadget, request)
        if obj is not None:
            seen.append([child.name for child in await ctx.list(Part, owner=obj)])

    async def main(world: World) -> None:
        rig = Rig(world)
        first = rig.server.put(gadget("a"))
        rig.server.put(part("p", owner_references=owned_by(first, controlled=True)))
        async with rig.running(controller):
            await asyncio.sleep(5)
            assert seen.pop() == ["p"]
            rig.server.remove(first)
            second = rig.server.put(gadget("a"))
            assert second.metadata.uid != first.metadata.uid
            rig.server.put(part("p", size=2, owner_references=owned_by(first, controlled=True)))
            await asyncio.sleep(5)
            assert seen.pop() == []

    simulate(main)


def test_the_owner_of_a_namespaced_object_may_be_cluster_scoped() -> None:
    controller, runs = watching(Part, mappers.to_owner(Zone), kind=Zone)

    def made(rig: Rig) -> None:
        rig.server.put(part("p", owner_references=owned_by(rig.server.read(Zone, "north", ""))))

    assert story(controller, runs, made, prepare=lambda rig: rig.server.put(zone("north"))) == [["north"]]


# ---- by label and annotation


def test_by_label_concerns_the_one_that_is_named_now_and_the_one_before() -> None:
    controller, runs = watching(Part, mappers.by_label("app.kubernetes.io/instance"))

    def to(name: str) -> Callable[[Rig], Any]:
        return lambda rig: rig.server.put(part("p", labels={"app.kubernetes.io/instance": name}))

    assert story(controller, runs, to("a"), to("b"), to("c")) == [["ns/a"], ["ns/a", "ns/b"], ["ns/b", "ns/c"]]


def test_by_label_looks_in_a_namespace_that_is_given_and_in_none_for_a_cluster_scoped_kind() -> None:
    elsewhere, runs = watching(Part, mappers.by_label("app", namespace="other"))
    assert story(elsewhere, runs, lambda rig: rig.server.put(part("p", labels={"app": "x"}))) == [["other/x"]]
    cluster_wide, runs = watching(Part, mappers.by_label("zone"), kind=Zone)
    assert story(cluster_wide, runs, lambda rig: rig.server.put(part("p", labels={"zone": "north"}))) == [["north"]]


def test_by_annotation_takes_a_name_or_a_namespace_and_a_name_and_leaves_out_what_names_nothing(caplog: pytest.LogCaptureFixture) -> None:
    controller, runs = watching(Part, mappers.by_annotation("example.com/of"))

    def to(text: str) -> Callable[[Rig], Any]:
        return lambda rig: rig.server.put(part("p", annotations={"example.com/of": text}))

    with caplog.at_level(logging.WARNING):
        found = story(controller, runs, to("a"), to("other/x"), to("a/b/c"), to("/b"), to("b/"), to(" b "))
    assert found == [["ns/a"], ["ns/a", "other/x"], ["other/x"], [], [], ["ns/b"]]
    assert "Part ns/p names no Gadget: example.com/of is 'a/b/c'" in caplog.text


def test_by_annotation_of_a_cluster_scoped_object_must_say_the_namespace() -> None:
    controller, runs = watching(Zone, mappers.by_annotation("example.com/of"))
    steps = [lambda rig, text=text: rig.server.put(zone("z", annotations={"example.com/of": text})) for text in ("a", "ns/a")]
    assert story(controller, runs, *steps) == [[], ["ns/a"]]
    cluster_wide, runs = watching(Part, mappers.by_annotation("example.com/of"), kind=Zone)
    steps = [lambda rig, text=text: rig.server.put(part("p", annotations={"example.com/of": text})) for text in ("north", "ns/north")]
    assert story(cluster_wide, runs, *steps) == [["north"], ["north"]]


# ---- all, and by index


def test_to_all_concerns_every_object_of_the_kind() -> None:
    controller, runs = watching(Zone, mappers.to_all(Gadget))
    assert story(controller, runs, lambda rig: rig.server.put(zone("north"))) == [["ns/a", "ns/b"]]


def test_to_all_of_many_lets_others_run_in_between() -> None:
    controller, runs = watching(Zone, mappers.to_all(Gadget))

    def many(rig: Rig) -> None:
        for number in range(3000):
            rig.server.put(gadget(f"n{number}"))

    assert len(story(controller, runs, lambda rig: rig.server.put(zone("north")), prepare=many)[0]) == 3002


def test_by_index_concerns_whoever_refers_to_the_object() -> None:
    controller, runs = watching(Part, mappers.by_index(BY_NEED))
    assert controller.indexes == (BY_NEED,)
    controller.watch(Zone, map=mappers.by_index(BY_NEED, lambda zone: zone.name))
    assert controller.indexes == (BY_NEED,)

    def refer_no_more(rig: Rig) -> None:
        rig.server.put(gadget("b", annotations={NEEDS: ""}))

    found = story(
        controller,
        runs,
        lambda rig: rig.server.put(part("shared")),
        lambda rig: rig.server.put(part("other")),
        lambda rig: rig.server.put(zone("north")),
        refer_no_more,
        lambda rig: rig.server.put(part("shared", size=2)),
        lambda rig: rig.server.remove(part("shared")),
    )
    assert found == [["ns/a", "ns/b"], [], ["ns/a"], ["ns/b"], ["ns/a"], ["ns/a"]]


def test_by_index_takes_several_values() -> None:
    controller, runs = watching(Part, mappers.by_index(BY_NEED, lambda obj: ["north", "", "ns/shared"]))
    assert story(controller, runs, lambda rig: rig.server.put(part("x"))) == [["ns/a", "ns/b"]]


@pytest.mark.parametrize("mapper", [mappers.to_all(Gadget), mappers.by_index(BY_NEED, lambda obj: "all")])
def test_a_controller_of_some_objects_is_not_led_to_others_also_where_another_controllers_cache_has_them(mapper: Any) -> None:
    controller: Controller[Any] = Controller(Gadget, labels="team=x", resync=None)
    everything: Controller[Any] = Controller(Gadget, name="everything", resync=None)
    controller.watch(Zone, map=mapper)
    runs: list[str] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(str(request))

    @everything.reconciler
    async def ignore(ctx: Context, request: Request) -> None:
        return None

    async def main(world: World, *others: Controller[Any]) -> None:
        runs.clear()
        rig = Rig(world)
        rig.server.put(gadget("ours", labels={"team": "x"}, annotations={NEEDS: "all"}))
        rig.server.put(gadget("theirs", labels={"team": "y"}, annotations={NEEDS: "all"}))
        async with rig.running(*others, controller):
            await asyncio.sleep(5)
            rig.server.put(zone("north"))
            await asyncio.sleep(5)
        assert runs == ["ns/ours", "ns/ours"]

    simulate(main)
    simulate(lambda world: main(world, everything))


# ---- what cannot work


@pytest.mark.parametrize(
    ("kind", "watched", "mapper", "error", "says"),
    [
        (Gadget, Part, mappers.to_owner(Part), TypeError, "requests are keys of Gadget, the controller's kind, and not of Part"),
        (Gadget, Zone, mappers.to_all(Zone), TypeError, "requests are keys of Gadget"),
        (Part, Zone, mappers.by_index(BY_NEED), TypeError, "use an index of that kind"),
        (Gadget, Zone, mappers.by_label("app"), ValueError, "with namespace="),
        (Zone, Part, mappers.by_label("app", namespace="ns"), ValueError, "Zone is in no namespace"),
    ],
)
def test_a_mapper_that_cannot_work_for_a_kind_is_refused_where_it_is_declared(
    kind: type[Any], watched: type[Any], mapper: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        Controller(kind).watch(watched, map=mapper)


def test_what_is_no_key_and_no_index_is_refused() -> None:
    with pytest.raises(ValueError, match="by_label takes a key"):
        mappers.by_label("")
    with pytest.raises(TypeError, match="by_index takes an Index"):
        mappers.by_index(lambda obj: [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is not a kind"):
        mappers.to_owner(int)  # type: ignore[arg-type]
