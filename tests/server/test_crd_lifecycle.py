"""Custom kinds, from the write that defines them to the one that takes them away."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest
from tests.server.talk import CRDS, WIDGET_CRD, WIDGETS, Refused, Talk, names, talk, widget

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.cluster.server import ApiServer


def test_a_kind_is_there_with_its_definition() -> None:
    async def main(t: Talk) -> None:
        made = await t.create(CRDS, WIDGET_CRD)
        assert [(condition["type"], condition["status"]) for condition in made["status"]["conditions"]] == [
            ("NamesAccepted", "True"),
            ("Established", "True"),
        ]
        assert names(await t.do("list", WIDGETS)) == []

    talk(main)


def test_before_and_after_it_there_is_no_page() -> None:
    async def main(t: Talk) -> None:
        for _ in range(2):
            answer = await t.server.handle(Operation(verb="list", resource=WIDGETS))
            assert isinstance(answer, Answer)
            assert (answer.status, answer.body) == (404, b"404 page not found\n")
            await t.establish()
            await t.do("delete", CRDS, "widgets.example.com")
            await asyncio.sleep(0.1)

    talk(main)


def test_its_objects_go_with_it_and_watches_end() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("a"))
        watch = await t.watch(WIDGETS)
        marked = await t.do("delete", CRDS, "widgets.example.com")
        assert marked["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        with pytest.raises(Refused, match=r"403 .*create not allowed while custom resource definition is terminating"):
            await t.create(WIDGETS, widget("b"))
        await asyncio.sleep(0.1)
        assert await watch.told() == [("ADDED", "a"), ("DELETED", "a")]
        assert await watch.read() is None
        with pytest.raises(Refused, match="404"):
            await t.do("get", CRDS, "widgets.example.com")

    talk(main)


def test_an_object_that_is_held_holds_its_definition() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("a", finalizers=["example.com/hold"]))
        await t.do("delete", CRDS, "widgets.example.com")
        await asyncio.sleep(60)
        held = await t.do("get", WIDGETS, "default/a")
        assert "deletionTimestamp" in held["metadata"]
        await t.merge(WIDGETS, "default/a", {"metadata": {"finalizers": None}})
        await asyncio.sleep(0.1)
        with pytest.raises(Refused, match="404"):
            await t.do("get", CRDS, "widgets.example.com")

    talk(main)


def test_a_changed_schema_counts_from_that_write_on() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        with pytest.raises(Refused, match=r"spec\.replicas in body should be greater than or equal to 1"):
            await t.create(WIDGETS, widget("w", {"replicas": 0}))
        crd = await t.do("get", CRDS, "widgets.example.com")
        properties(crd)["spec"]["properties"]["replicas"]["minimum"] = 0
        await t.do("update", CRDS, "widgets.example.com", crd)
        assert (await t.create(WIDGETS, widget("w", {"replicas": 0})))["spec"] == {"replicas": 0}

    talk(main)


def test_versions_show_the_same_objects() -> None:
    async def main(t: Talk) -> None:
        crd = copy.deepcopy(WIDGET_CRD)
        old = copy.deepcopy(crd["spec"]["versions"][0])
        crd["spec"]["versions"].append({**old, "name": "v1beta1", "storage": False, "deprecated": True})
        await t.establish(crd)
        await t.create(WIDGETS, widget("w"))
        beta = GroupVersionResource("example.com", "v1beta1", "widgets")
        watch = await t.watch(beta)
        shown = await t.do("get", beta, "default/w")
        assert shown["apiVersion"] == "example.com/v1beta1"
        assert t.warnings == ("example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget",)
        await t.merge(beta, "default/w", {"spec": {"image": "b"}})
        assert (await t.do("get", WIDGETS, "default/w"))["apiVersion"] == "example.com/v1"
        events: list[Any] = await watch.read() or []
        assert [event["object"]["apiVersion"] for event in events] == ["example.com/v1beta1"] * 2

    talk(main)


def test_a_server_on_storage_that_has_definitions_serves_their_kinds() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))
        t.server.stop()
        t.server = ApiServer(t.world, storage=t.server.storage)
        assert names(await t.do("list", WIDGETS)) == ["w"]

    talk(main)


def test_a_name_that_is_taken_is_given_when_it_is_free() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        crd = copy.deepcopy(WIDGET_CRD)
        crd["metadata"]["name"] = "gadgets.example.com"
        crd["spec"]["names"] = {"plural": "gadgets", "kind": "Widget", "listKind": "GadgetList"}
        rival = await t.create(CRDS, crd)
        assert {condition["type"]: condition["status"] for condition in rival["status"]["conditions"]} == {
            "NamesAccepted": "False",
            "Established": "False",
        }
        await t.do("delete", CRDS, "widgets.example.com")
        await asyncio.sleep(0.1)
        rival = await t.do("get", CRDS, "gadgets.example.com")
        assert {condition["type"]: condition["status"] for condition in rival["status"]["conditions"]}["Established"] == "True"
        assert names(await t.do("list", GroupVersionResource("example.com", "v1", "gadgets"))) == []

    talk(main)


def properties(crd: Any) -> Any:
    """The properties of the first version's schema."""
    return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]


def test_a_name_that_a_change_frees_goes_to_one_of_those_who_wait_for_it() -> None:
    async def main(t: Talk) -> None:
        for kind in ("Widget", "Gadget", "Thing"):
            crd = copy.deepcopy(WIDGET_CRD)
            crd["metadata"]["name"] = f"{kind.lower()}s.example.com"
            # The last is established, and asks for the name afterwards.
            crd["spec"]["names"] = {"plural": f"{kind.lower()}s", "kind": kind, **({} if kind == "Thing" else {"shortNames": ["wd"]})}
            await t.create(CRDS, crd)
        await t.merge(CRDS, "things.example.com", {"spec": {"names": {"shortNames": ["wd"]}}})
        owners = []
        for kind in ("widgets", "gadgets", "things"):
            owners.append([name for name, short in (await _short_names(t)).items() if short == ["wd"]])
            await t.merge(CRDS, f"{kind}.example.com", {"spec": {"names": {"shortNames": None}}})
            await asyncio.sleep(0.1)
        assert owners == [["widgets.example.com"], ["gadgets.example.com"], ["things.example.com"]]

    talk(main)


def test_who_overwrites_the_status_is_answered_with_it_and_the_server_says_its_own_again() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("a"))
        wiped = await t.merge(CRDS, "widgets.example.com", {"status": {"conditions": None, "acceptedNames": None}}, sub="status")
        assert (wiped["status"]["conditions"], wiped["status"]["acceptedNames"]) == (None, {"plural": "", "kind": ""})
        await asyncio.sleep(0.1)
        healed = await t.do("get", CRDS, "widgets.example.com")
        assert [condition["status"] for condition in healed["status"]["conditions"]] == ["True", "True"]
        assert healed["status"]["acceptedNames"]["shortNames"] == ["wd"]
        assert names(await t.do("list", WIDGETS)) == ["a"]

    talk(main)


def test_a_definition_whose_status_was_overwritten_right_before_a_restart_is_served_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("a"))
        monkeypatch.setattr(t.server.custom, "_soon", lambda *what: None)  # it does not come to that
        await t.merge(CRDS, "widgets.example.com", {"status": {"conditions": None, "acceptedNames": None}}, sub="status")
        t.server = ApiServer(t.world, storage=t.server.storage)
        await asyncio.sleep(0.1)
        assert names(await t.do("list", WIDGETS)) == ["a"]

    talk(main)


async def _short_names(t: Talk) -> dict[str, Any]:
    return {crd["metadata"]["name"]: crd["status"]["acceptedNames"].get("shortNames") for crd in (await t.do("list", CRDS))["items"]}
