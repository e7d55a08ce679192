"""Deleting objects."""

from __future__ import annotations

import pytest
from tests.server.talk import CONFIGMAPS, PODS, WIDGETS, Refused, Talk, config_map, names, talk, widget

from setpoint.api import GroupVersionResource


def test_what_nothing_holds_is_removed_at_once() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("w"))
        said = await t.do("delete", WIDGETS, "default/w")
        assert (said["kind"], said["status"]) == ("Status", "Success")
        assert said["details"] == {"name": "w", "group": "example.com", "kind": "widgets", "uid": made["metadata"]["uid"]}
        with pytest.raises(Refused, match="404"):
            await t.do("get", WIDGETS, "default/w")
        with pytest.raises(Refused, match="404"):
            await t.do("delete", WIDGETS, "default/w")

    talk(main)


def test_a_finalizer_holds_until_it_lets_go() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w", finalizers=["example.com/hold"]))
        marked = (await t.do("delete", WIDGETS, "default/w"))["metadata"]
        assert (marked["deletionTimestamp"], marked["deletionGracePeriodSeconds"]) == ("2026-01-01T00:00:00Z", 0)
        assert marked["generation"] == 2
        before = t.revision
        again = (await t.do("delete", WIDGETS, "default/w"))["metadata"]
        assert (again, t.revision) == (marked, before)
        watch = await t.watch(WIDGETS, resourceVersion=str(before))
        kept = await t.merge(WIDGETS, "default/w", {"metadata": {"deletionTimestamp": None}})
        assert kept["metadata"]["deletionTimestamp"] == marked["deletionTimestamp"]
        last = await t.merge(WIDGETS, "default/w", {"metadata": {"finalizers": None}})
        assert "finalizers" not in last["metadata"]
        events = await watch.read()
        assert events is not None
        assert [event["type"] for event in events] == ["DELETED"]
        assert events[0]["object"]["metadata"]["finalizers"] == ["example.com/hold"]  # the last state that was stored
        assert events[0]["object"]["metadata"]["resourceVersion"] == str(t.revision)

    talk(main)


def test_preconditions_are_checked() -> None:
    async def main(t: Talk) -> None:
        made = (await t.create(CONFIGMAPS, config_map("c")))["metadata"]
        with pytest.raises(Refused) as refused:
            await t.do("delete", CONFIGMAPS, "default/c", {"preconditions": {"uid": "x"}})
        assert refused.value.code == 409
        assert refused.value.status["message"].endswith(
            f"the UID in the precondition (x) does not match the UID in record ({made['uid']}). "
            "The object might have been deleted and then recreated"
        )
        with pytest.raises(Refused, match="the ResourceVersion in the precondition"):
            await t.do("delete", CONFIGMAPS, "default/c", {"preconditions": {"resourceVersion": "1"}})
        await t.do("delete", CONFIGMAPS, "default/c", {"preconditions": {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}})

    talk(main)


def test_a_dry_run_deletes_nothing() -> None:
    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("c"))
        before = t.revision
        await t.do("delete", CONFIGMAPS, "default/c", {"dryRun": ["All"]})
        await t.do("delete", CONFIGMAPS, "default/c", dryRun="All")
        await t.do("deletecollection", CONFIGMAPS, "default/", dryRun="All")
        assert t.revision == before

    talk(main)


def test_a_collection_is_deleted_as_far_as_it_is_selected() -> None:
    async def main(t: Talk) -> None:
        for name, labels in (("a", {"x": "1"}), ("b", {}), ("c", {"x": "1"})):
            await t.create(CONFIGMAPS, config_map(name, labels=labels))
        assert names(await t.do("deletecollection", CONFIGMAPS, "default/", labelSelector="x=1")) == ["a", "c"]
        assert names(await t.do("list", CONFIGMAPS)) == ["b"]

    talk(main)


def test_a_policy_is_a_finalizer_and_the_last_one_asked_for_counts() -> None:
    async def main(t: Talk) -> None:
        await t.create(CONFIGMAPS, config_map("c"))
        for policy, finalizer in (("Foreground", "foregroundDeletion"), ("Orphan", "orphan")):
            held = await t.do("delete", CONFIGMAPS, "default/c", {"propagationPolicy": policy})
            assert held["metadata"]["finalizers"] == [finalizer]
        with pytest.raises(Refused, match='propagationPolicy: Unsupported value: "Foo"'):
            await t.do("delete", CONFIGMAPS, "default/c", propagationPolicy="Foo")
        assert (await t.do("delete", CONFIGMAPS, "default/c", propagationPolicy="Background"))["status"] == "Success"

    talk(main)


def test_a_pod_on_a_node_gets_time_and_any_other_goes_at_once() -> None:
    async def main(t: Talk) -> None:
        spec = {"containers": [{"name": "c", "image": "i"}]}
        for name, more in (("free", {}), ("bound", {"nodeName": "n"})):
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {**spec, **more}}
            await t.create(PODS, pod)
            assert (await t.do("delete", PODS, f"default/{name}"))["kind"] == "Pod"
        pod = (await t.do("list", PODS))["items"][0]["metadata"]
        assert (pod["name"], pod["deletionTimestamp"], pod["deletionGracePeriodSeconds"]) == ("bound", "2026-01-01T00:00:30Z", 30)
        await t.do("delete", PODS, "default/bound", gracePeriodSeconds="0")
        assert names(await t.do("list", PODS)) == []

    talk(main)


def test_services_and_service_accounts_are_answered_with_as_they_were() -> None:
    async def main(t: Talk) -> None:
        for plural, body in (("services", {"spec": {"ports": [{"port": 80}]}}), ("serviceaccounts", {})):
            resource = GroupVersionResource("", "v1", plural)
            made = await t.do("create", resource, "default/", {"metadata": {"name": "x"}, **body})
            gone = await t.do("delete", resource, "default/x")
            assert gone["kind"] == made["kind"]
            assert gone["metadata"]["uid"] == made["metadata"]["uid"]

    talk(main)


def test_an_update_of_an_absent_service_creates_it() -> None:
    async def main(t: Talk) -> None:
        body = {"metadata": {"name": "1-x"}, "spec": {"ports": [{"port": 80}]}}
        await t.do("update", GroupVersionResource("", "v1", "services"), "default/1-x", body)
        assert t.last.status == 201

    talk(main)
