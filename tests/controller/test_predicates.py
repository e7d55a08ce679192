"""Predicates: their truth tables, and what each of the ready-made ones looks at."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.controller import Context, Controller, Predicate
from setpoint.controller.predicate import Vote, voting
from setpoint.controller.predicates import (
    annotations_changed,
    changed,
    comparing,
    field_changed,
    finalizers_changed,
    generation_changed,
    ignoring_status,
    labelled,
    labels_changed,
    matching,
    version_changed,
)
from setpoint.k8s.apps.v1 import Deployment
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import Object, Request, Untyped, decode
from setpoint.world import World, simulate

from .fakes import Gadget, GadgetStatus, Rig, gadget

CHANGES = {
    "generation_changed": generation_changed,
    "labels_changed": labels_changed,
    "annotations_changed": annotations_changed,
    "finalizers_changed": finalizers_changed,
    "version_changed": version_changed,
    "ignoring_status": ignoring_status,
    "field_changed": field_changed("spec.size"),
    "changed": changed(lambda obj: obj.name),
    "comparing": comparing(lambda old, new: False),
}


# ---- the logic


YES, NO, NONE = True, False, None
AND = {(YES, YES): YES, (YES, NO): NO, (NO, YES): NO, (NO, NO): NO, (NONE, NO): NO, (NO, NONE): NO}
OR = {(YES, YES): YES, (YES, NO): YES, (NO, YES): YES, (NO, NO): NO, (NONE, YES): YES, (YES, NONE): YES}
NOT = {YES: NO, NO: YES, NONE: NONE}


def constant(vote: Vote) -> Predicate[Any]:
    return voting(lambda old, new, first_sight: vote)


def vote_of(predicate: Predicate[Any]) -> Vote:
    return predicate._vote(gadget(), gadget(), False)


@pytest.mark.parametrize(("a", "b"), list(itertools.product([YES, NO, NONE], repeat=2)))
def test_and_or_and_not_follow_their_tables_and_no_say_in_the_end_is_yes(a: Vote, b: Vote) -> None:
    assert vote_of(constant(a) & constant(b)) is AND.get((a, b))
    assert vote_of(constant(a) | constant(b)) is OR.get((a, b))
    assert vote_of(~constant(a)) is NOT[a]
    assert constant(a).accepts(gadget(), gadget()) is (a is not NO)


VOTES = st.sampled_from([YES, NO, NONE])


@given(VOTES, VOTES, VOTES)
def test_the_usual_laws_hold(a: Vote, b: Vote, c: Vote) -> None:
    p, q, r = constant(a), constant(b), constant(c)
    assert vote_of(~~p) is a
    assert vote_of(~(p & q)) is vote_of(~p | ~q)
    assert vote_of(~(p | q)) is vote_of(~p & ~q)
    assert vote_of(p & (q | r)) is vote_of((p & q) | (p & r))
    assert vote_of((p & q) & r) is vote_of(p & (q & r))
    assert vote_of(p & q) is vote_of(q & p)


# ---- first sight, creation, deletion


@pytest.mark.parametrize("name", list(CHANGES))
@pytest.mark.parametrize("inverted", [False, True])
def test_about_change_always_says_yes_at_first_sight_at_creation_and_at_deletion_also_under_not(name: str, inverted: bool) -> None:
    predicate = ~CHANGES[name] if inverted else CHANGES[name]
    obj = gadget(generation=1, uid="u", resource_version="5")
    assert predicate.accepts(None, obj, first_sight=True)
    assert predicate.accepts(None, obj)
    assert predicate.accepts(obj, None)


@pytest.mark.parametrize("name", list(CHANGES))
@pytest.mark.parametrize("inverted", [False, True])
def test_an_object_that_was_created_again_under_its_name_is_not_compared_with_its_predecessor(name: str, inverted: bool) -> None:
    """Both have generation 1, and a watch that was cut shows the one right after the other."""
    predicate = ~CHANGES[name] if inverted else CHANGES[name]
    first, second = (gadget(generation=1, uid=uid, resource_version="5") for uid in "ab")
    assert predicate.accepts(first, second)


def test_about_state_has_its_say_at_any_time() -> None:
    ours, other = gadget(labels={"team": "x"}), gadget(labels={"team": "y"})
    for predicate in (labelled("team=x"), labelled({"team": "x"}), matching(lambda obj: obj.metadata.labels.get("team") == "x")):
        assert predicate.accepts(None, ours, first_sight=True)
        assert not predicate.accepts(None, other, first_sight=True)
        assert not (predicate & generation_changed).accepts(None, other, first_sight=True)
        assert not (predicate & ~generation_changed).accepts(None, other)
        assert (predicate | generation_changed).accepts(None, other, first_sight=True)
        assert predicate.accepts(ours, other)
        assert predicate.accepts(other, ours)
        assert predicate.accepts(ours, None)
        assert not predicate.accepts(other, None)
    assert labelled("team").accepts(None, other)
    assert not labelled("!team").accepts(None, other)


def test_a_function_of_old_and_new_is_asked_about_creation_and_deletion_but_not_at_first_sight() -> None:
    asked: list[tuple[bool, bool]] = []

    def never(old: Gadget | None, new: Gadget | None) -> bool:
        asked.append((old is not None, new is not None))
        return False

    predicate = Predicate(never)
    one, two = gadget(uid="a"), gadget(uid="b")
    assert predicate.accepts(None, one, first_sight=True)
    assert asked == []
    assert not predicate.accepts(None, one)
    assert not predicate.accepts(one, None)
    assert not predicate.accepts(one, two)
    assert asked == [(False, True), (True, False), (True, False), (False, True)]


def test_every_object_runs_once_at_the_start_and_when_it_is_created_whatever_change_is_overlooked() -> None:
    controller: Controller[Any] = Controller(Gadget, predicate=~generation_changed & ~labels_changed)
    runs: list[str] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(request.name)

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget("old"))
        async with rig.running(controller):
            await asyncio.sleep(5)
            rig.server.put(gadget("new"))
            await asyncio.sleep(5)
            rig.server.put(gadget("new", size=7))
            await asyncio.sleep(5)

    simulate(main)
    assert runs == ["old", "new"]


# ---- what each looks at


NOW = datetime(2026, 1, 1, tzinfo=UTC)
TERMINATING = {"deletion_timestamp": NOW}


@pytest.mark.parametrize(
    ("predicate", "passes", "not_passes"),
    [
        (
            generation_changed,
            [{"generation": 2}, {**TERMINATING}, {"finalizers": ["a/b"]}],
            [{"labels": {"a": "b"}}, {"resource_version": "6"}],
        ),
        (labels_changed, [{"labels": {"a": "b"}}], [{"annotations": {"a": "b"}}, {"generation": 2}]),
        (annotations_changed, [{"annotations": {"a": "b"}}], [{"labels": {"a": "b"}}, {"generation": 2}]),
        (finalizers_changed, [{"finalizers": ["a/b"]}], [{"labels": {"a": "b"}}, {"generation": 2}]),
        (version_changed, [{"resource_version": "6"}], [{}]),
        (
            ignoring_status,
            [{"labels": {"a": "b"}}, {"annotations": {"a": "b"}}, {"finalizers": ["a/b"]}, {**TERMINATING}],
            [{"resource_version": "6"}, {"generation": 2}],
        ),
    ],
)
def test_ready_made_predicates_look_at_their_part(
    predicate: Predicate[Any], passes: list[dict[str, Any]], not_passes: list[dict[str, Any]]
) -> None:
    start = {"generation": 1, "resource_version": "5", "uid": "u"}
    before = gadget(**start)
    for change in passes:
        assert predicate.accepts(before, gadget(**{**start, **change})), change
        assert not (~predicate).accepts(before, gadget(**{**start, **change})), change
    for change in not_passes:
        assert not predicate.accepts(before, gadget(**{**start, **change})), change
        assert (~predicate).accepts(before, gadget(**{**start, **change})), change


def test_a_kind_without_generation_passes_generation_changed_and_its_opposite() -> None:
    before, after = gadget(), gadget(size=2)
    assert generation_changed.accepts(before, after)
    assert (~generation_changed).accepts(before, after)


@pytest.mark.parametrize("kind", [Gadget, Untyped])
def test_ignoring_status_passes_everything_but_the_status(kind: type[Object]) -> None:
    def made(size: int, seen: int, version: str) -> Object:
        text = (
            '{"apiVersion": "test.example.com/v1", "kind": "Gadget", "metadata": {"name": "a", "uid": "u", "resourceVersion": "%s",'
            '"managedFields": [{"manager": "m%s"}]}, "spec": {"size": %d}, "status": {"seen": %d}}'
        )
        return decode(kind, (text % (version, version, size, seen)).encode())

    assert not ignoring_status.accepts(made(1, 1, "5"), made(1, 2, "6"))
    assert ignoring_status.accepts(made(1, 1, "5"), made(2, 1, "6"))


def test_a_status_write_of_its_own_does_not_run_it_again_also_for_a_kind_without_generation() -> None:
    controller: Controller[Any] = Controller(Gadget, predicate=ignoring_status)
    runs: list[str] = []

    @controller.reconciler
    async def reconcile(ctx: Context, request: Request) -> None:
        runs.append(request.name)
        obj = await ctx.get(Gadget, request)
        assert obj is not None
        obj.status = GadgetStatus(seen=obj.status.seen + 1)
        await ctx.update_status(obj)

    async def main(world: World) -> None:
        rig = Rig(world)
        rig.server.put(gadget())
        async with rig.running(controller):
            await asyncio.sleep(60)

    simulate(main)
    assert runs == ["a"]


# ---- fields


def deployment(**template: Any) -> Deployment:
    content = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "uid": "u", "annotations": {"example.com/size": template.pop("size", "1")}},
        "spec": {
            "selector": {},
            "replicas": template.pop("replicas", 1),
            "template": {
                "spec": {"containers": [{"name": name, "image": image} for name, image in template.pop("images", {"a": "x"}).items()]},
            },
        },
        "status": {"readyReplicas": template.pop("ready", 0)},
    }
    import msgspec

    return decode(Deployment, msgspec.json.encode(content))


@pytest.mark.parametrize(
    ("path", "passes"),
    [
        ("spec.replicas", {"replicas": 2}),
        (".spec.replicas", {"replicas": 2}),
        ("status.readyReplicas", {"ready": 2}),
        ("status.ready_replicas", {"ready": 2}),
        ("spec.template.spec.containers[0].image", {"images": {"a": "y"}}),
        ("spec.template.spec.containers[1].image", {"images": {"a": "x", "b": "y"}}),
        ("spec.template.spec.containers[*].image", {"images": {"a": "x", "b": "y"}}),
        ("spec.template.spec.containers", {"images": {"b": "x"}}),
        ("spec", {"replicas": 2}),
        ('metadata.annotations["example.com/size"]', {"size": "2"}),
        ("metadata.annotations['example.com/size']", {"size": "2"}),
    ],
)
def test_a_field_that_changed_passes_and_others_do_not(path: str, passes: dict[str, Any]) -> None:
    predicate = field_changed(path)
    predicate.check(Deployment)
    before, after = deployment(), deployment(**passes)
    assert predicate.accepts(before, after)
    assert not predicate.accepts(before, deployment())
    others = {"replicas": 2} if "replicas" not in passes and path != "spec" else {"ready": 7} if "ready" not in passes else {"replicas": 2}
    assert not predicate.accepts(before, deployment(**others))
    assert field_changed("metadata.name", path).accepts(before, after)


def test_a_field_of_an_object_without_a_class_is_named_as_on_the_wire() -> None:
    one, two = (
        Untyped({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a"}, "spec": {"sizes": [{"max": size}]}}) for size in (1, 2)
    )
    assert field_changed("spec.sizes[0].max").accepts(one, two)
    assert field_changed("spec.sizes[*].max").accepts(one, two)
    assert not field_changed("spec.sizes[1].max").accepts(one, two)
    assert not field_changed("spec.sizes.max").accepts(one, two)
    field_changed("spec.whatever[0]").check(Untyped)


@pytest.mark.parametrize(
    ("kind", "path", "says"),
    [
        (Gadget, "spec.sise", "Gadget has no field 'sise' in 'spec'; did you mean 'size'?"),
        (Gadget, "spce", "Gadget has no field 'spce'; did you mean 'spec'?"),
        (Gadget, "spec.colour", "there are size"),
        (Gadget, "spec.size.max", "'spec.size' of Gadget is a int, and has no parts"),
        (Deployment, "spec.template.spec.containers.image", r"a list: write \[0\] or \[\*\]"),
        (Deployment, "metadata.labels[0]", "a map: write a key"),
        (Deployment, "spec.template.spec.containers[*].imge", "did you mean 'image'"),
    ],
)
def test_a_field_that_a_kind_does_not_have_is_refused_where_the_predicate_is_declared(kind: type[Any], path: str, says: str) -> None:
    for predicate in (field_changed(path), ~field_changed(path), labelled("x") & field_changed(path), field_changed(path) | labelled("x")):
        with pytest.raises(ValueError, match=says):
            Controller(kind, predicate=predicate)
        with pytest.raises(ValueError, match="the predicate cannot be asked about it"):
            Controller(ConfigMap).watch(kind, predicate=predicate)


def test_a_watch_of_metadata_alone_cannot_be_asked_about_a_field_of_the_spec() -> None:
    with pytest.raises(ValueError, match="Object has no field 'spec'; there are metadata"):
        Controller(ConfigMap).watch(Gadget, metadata_only=True, predicate=field_changed("spec.size"))
    Controller(ConfigMap).watch(Gadget, metadata_only=True, predicate=field_changed("metadata.labels.app"))


@pytest.mark.parametrize("path", ["", ".", "spec..size", "spec.", "spec[", "spec[x]", "spec size", "spec[0]size", '["a"', "a b"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        field_changed(path)


def test_no_path_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one path"):
        field_changed()
