"""A controller is a declaration: it holds no run-time state, and says at once what cannot work."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest

from setpoint.controller import Context, Controller, Owns, Predicate, Result, SyncContext, predicates
from setpoint.objects import Object, Request
from setpoint.world import World, simulate

from .fakes import Gadget, Part, Rig, gadget


class AsyncReconciler:
    async def __call__(self, ctx: Context, request: Request) -> None: ...

    async def method(self, ctx: Context, request: Request) -> Result | None: ...


class BlockingReconciler:
    def __call__(self, ctx: SyncContext, request: Request) -> None: ...


async def with_a_setting(setting: str, ctx: Context, request: Request) -> None: ...


@pytest.mark.parametrize(
    ("reconciler", "is_async"),
    [
        (AsyncReconciler(), True),
        (AsyncReconciler().method, True),
        (BlockingReconciler(), False),
        (functools.partial(with_a_setting, "x"), True),
        (lambda ctx, request: None, False),
    ],
)
def test_functions_methods_instances_and_partials_are_reconcilers(reconciler: Any, is_async: bool) -> None:
    assert Controller(Gadget, reconciler=reconciler).declared_reconciler.is_async is is_async


def no_parameters() -> None: ...


def three(ctx: Any, request: Any, why: Any) -> None: ...


async def yields(ctx: Context, request: Request) -> Any:
    yield 1


def yields_plainly(ctx: SyncContext, request: Request) -> Any:
    yield 1


def plain_with_context(ctx: Context, request: Request) -> None: ...


async def async_with_sync_context(ctx: SyncContext, request: Request) -> None: ...


@pytest.mark.parametrize(
    ("reconciler", "says"),
    [
        (no_parameters, r"Controller 'gadget'.*no_parameters takes \(\).*called with \(ctx, request\)"),
        (three, "three takes"),
        (yields, "is a generator"),
        (yields_plainly, "is a generator"),
        (plain_with_context, 'plain "def" but takes a Context'),
        (async_with_sync_context, '"async def" but takes a SyncContext'),
        (AsyncReconciler, r"is a class: pass an instance of it, AsyncReconciler\(\.\.\.\)"),
        ("reconcile", "is not callable"),
    ],
)
def test_a_reconciler_that_cannot_be_called_is_refused_at_the_declaration(reconciler: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Controller(Gadget, reconciler=reconciler)


def test_a_second_reconciler_is_refused() -> None:
    controller = Controller(Gadget, reconciler=AsyncReconciler())
    with pytest.raises(TypeError, match="has a reconciler already"):
        controller.reconciler(BlockingReconciler())


def test_a_controller_without_a_reconciler_says_so_before_it_runs() -> None:
    with pytest.raises(TypeError, match=r"has no reconciler: decorate a function with @controller\.reconciler"):
        _ = Controller(Gadget).declared_reconciler


async def needs_reader(obj: Gadget) -> list[Request]:
    return []


def takes_reader(obj: Gadget, reader: Any) -> list[Request]:
    return []


@pytest.mark.parametrize(("mapper", "says"), [(needs_reader, r"with \(object, reader\)"), (takes_reader, 'make it "async def"')])
def test_a_mapper_that_cannot_be_called_is_refused_at_the_declaration(mapper: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Controller(Gadget).watch(Part)(mapper)


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        ({"name": "Web App"}, "controller name 'Web App'"),
        ({"concurrency": 0}, "at least 1"),
        ({"deadline": 0}, "above 0"),
        ({"labels": "a in b"}, "is no label selector"),
    ],
)
def test_settings_that_cannot_work_are_refused(declared: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Controller(Gadget, **declared)


def test_a_predicate_that_is_none_and_a_kind_that_is_none_are_refused() -> None:
    with pytest.raises(TypeError, match="predicate takes a Predicate"):
        Controller(Gadget, predicate=lambda old, new: True)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is not a kind of the API"):
        Controller(Object)


def test_the_name_is_the_kind_in_lower_case_and_the_kinds_are_each_named_once() -> None:
    controller = Controller(Gadget, owns=[Part])
    controller.watch(Part, map=lambda obj: [])
    assert controller.name == "gadget"
    assert controller.kinds == (Gadget, Part)


def test_one_controller_runs_twice_at_once_without_knowing() -> None:
    async def main(world: World) -> int:
        runs: list[Request] = []
        controller = Controller(Gadget)

        @controller.reconciler
        async def reconcile(ctx: Context, request: Request) -> None:
            runs.append(request)

        one, two = Rig(world), Rig(world)
        one.server.put(gadget())
        two.server.put(gadget("b"))
        async with one.running(controller), two.running(controller):
            await asyncio.sleep(1)
        return len(runs)

    assert simulate(main) == 2


def test_predicates_combine_and_no_say_counts_as_yes_at_first_sight_alone() -> None:
    yes, no = Predicate[Any](lambda old, new: True), Predicate[Any](lambda old, new: False)
    ours = predicates.labelled("team=x")
    obj, other = gadget(labels={"team": "x"}), gadget()
    assert (yes & yes).accepts(obj, obj)
    assert not (yes & no).accepts(obj, obj)
    assert (no | yes).accepts(obj, obj)
    assert not (~yes).accepts(obj, obj)
    assert (no & ours).accepts(None, obj, first_sight=True), "about state alone"
    assert not (yes & ours).accepts(None, other, first_sight=True)
    assert (no | ours).accepts(None, other, first_sight=True)
    assert ours.accepts(obj, other), "it left, which concerns whoever looked at it"


def test_generation_changed_lets_creation_deletion_and_kinds_without_generation_pass() -> None:
    changed = predicates.generation_changed
    one, two, none = gadget(generation=1), gadget(generation=2), gadget()
    assert changed.accepts(one, two)
    assert not changed.accepts(one, one)
    assert changed.accepts(None, one)
    assert changed.accepts(one, None)
    assert changed.accepts(none, none)


def test_an_owned_kind_outside_a_list_is_refused_with_the_list() -> None:
    for owns in (Part, Owns(Part)):
        with pytest.raises(TypeError, match=r"^Controller 'gadget': owns takes a list of kinds: owns=\[Part\]$"):
            Controller(Gadget, owns=owns)  # type: ignore[arg-type]  # that is the mistake
