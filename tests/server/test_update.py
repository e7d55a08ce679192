"""Changing objects: by replacing, merging and applying them."""

from __future__ import annotations

import pytest
from tests.server.talk import CONFIGMAPS, WIDGETS, Refused, Talk, config_map, talk, widget

from setpoint.api.operation import STRATEGIC_MERGE_PATCH


def test_a_stale_version_conflicts() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("w"))
        await t.merge(WIDGETS, "default/w", {"spec": {"image": "b"}})
        with pytest.raises(Refused) as refused:
            await t.do("update", WIDGETS, "default/w", made)
        assert refused.value.code == 409
        assert refused.value.status["message"] == (
            'Operation cannot be fulfilled on widgets.example.com "w": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
        with pytest.raises(Refused, match="409"):
            await t.merge(WIDGETS, "default/w", {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"]}})

    talk(main)


def test_custom_resources_must_say_their_version_and_config_maps_need_not() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))
        with pytest.raises(Refused, match=r"metadata\.resourceVersion: Invalid value: 0: must be specified for an update"):
            await t.do("update", WIDGETS, "default/w", widget("w"))
        await t.create(CONFIGMAPS, config_map("c"))
        assert (await t.do("update", CONFIGMAPS, "default/c", config_map("c", data={"a": "b"})))["data"] == {"a": "b"}

    talk(main)


def test_the_uid_is_a_precondition_of_a_put_and_immutable_in_a_patch() -> None:
    async def main(t: Talk) -> None:
        made = await t.create(CONFIGMAPS, config_map("c"))
        with pytest.raises(
            Refused, match=f"409 .*Precondition failed: UID in precondition: x, UID in object meta: {made['metadata']['uid']}"
        ):
            await t.do("update", CONFIGMAPS, "default/c", config_map("c", uid="x"))
        with pytest.raises(Refused, match=r'metadata\.uid: Invalid value: "x": field is immutable'):
            await t.merge(CONFIGMAPS, "default/c", {"metadata": {"uid": "x"}})

    talk(main)


def test_a_write_that_changes_nothing_changes_nothing() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("w"))
        watch = await t.watch(WIDGETS, resourceVersion=str(t.revision))
        before = t.revision
        assert await t.do("update", WIDGETS, "default/w", made) == made
        assert await t.merge(WIDGETS, "default/w", {"spec": {"image": "a"}}) == made
        applied = await t.apply(WIDGETS, "default/w", widget("w"), force="true")
        assert t.revision == before + 1  # the applier became an owner
        assert await t.apply(WIDGETS, "default/w", widget("w")) == applied
        assert t.revision == before + 1
        assert await watch.told() == [("MODIFIED", "w")]

    talk(main)


def test_generation_counts_what_is_wanted() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))

        async def generation(patch: object, sub: str = "") -> int:
            number: int = (await t.merge(WIDGETS, "default/w", patch, sub=sub))["metadata"]["generation"]
            return number

        assert await generation({"metadata": {"labels": {"a": "b"}, "generation": 9}}) == 1
        assert await generation({"spec": {"image": "b"}}) == 2
        assert await generation({"status": {"replicas": 1}}, "status") == 2
        await t.merge(WIDGETS, "default/w", {"spec": {"replicas": 5}}, sub="scale")
        assert await generation({"metadata": {"labels": None}}) == 3

    talk(main)


def test_each_endpoint_changes_its_own_part() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("w"))
        status = await t.do("update", WIDGETS, "default/w", {**made, "spec": {"image": "z"}, "status": {"replicas": 3}}, sub="status")
        assert (status["spec"]["image"], status["status"]) == ("a", {"replicas": 3})
        main_part = await t.merge(WIDGETS, "default/w", {"spec": {"image": "b"}, "status": {"replicas": 9}})
        assert (main_part["spec"]["image"], main_part["status"]) == ("b", {"replicas": 3})
        scale = await t.do("get", WIDGETS, "default/w", sub="scale")
        assert (scale["kind"], scale["spec"], scale["status"]) == ("Scale", {"replicas": 2}, {"replicas": 3})
        with pytest.raises(Refused, match=r'404 widgets.example.com "w" not found'):
            await t.do("get", WIDGETS, "default/w", sub="log")

    talk(main)


def test_finalizers_cannot_be_added_to_what_is_going() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w", finalizers=["example.com/a"]))
        await t.do("delete", WIDGETS, "default/w")
        with pytest.raises(Refused) as refused:
            await t.merge(WIDGETS, "default/w", {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}})
        assert refused.value.status["message"].endswith(
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
            'found new finalizers []string{"example.com/b"}'
        )

    talk(main)


def test_apply_creates_owns_conflicts_and_is_forced() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.apply(WIDGETS, "default/w", widget("w", {"image": "a"}), "one")
        assert t.last.status == 201
        with pytest.raises(Refused) as refused:
            await t.apply(WIDGETS, "default/w", widget("w", {"image": "b"}), "two")
        assert refused.value.status["message"] == 'Apply failed with 1 conflict: conflict with "one": .spec.image'
        assert refused.value.status["details"]["causes"] == [
            {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".spec.image"}
        ]
        forced = await t.apply(WIDGETS, "default/w", widget("w", {"image": "b"}), "two", force="true")
        assert forced["spec"]["image"] == "b"
        released = await t.apply(WIDGETS, "default/w", widget("w", {}), "two")
        assert "image" not in released["spec"]

    talk(main)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "w"}}, "invalid object type: example.com/v1, Kind=Gadget"),
        ({**widget("w"), "metadata": {"name": "w", "managedFields": [{}]}}, "metadata.managedFields must be nil"),
        (widget("w", {"foo": 1}), ".spec.foo: field not declared in schema"),
        (widget("other"), r"the name of the object (other) does not match the name on the URL (w)"),
    ],
)
def test_an_apply_that_makes_no_sense_says_why(body: object, message: str) -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        with pytest.raises(Refused) as refused:
            await t.apply(WIDGETS, "default/w", body)
        assert message in refused.value.status["message"]

    talk(main)


def test_a_patch_of_a_kind_that_is_not_read_says_so() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(CONFIGMAPS, config_map("c"))
        await t.create(WIDGETS, widget("w"))
        await t.do("patch", CONFIGMAPS, "default/c", {}, content_type=STRATEGIC_MERGE_PATCH)
        with pytest.raises(Refused, match="415"):
            await t.do("patch", WIDGETS, "default/w", {}, content_type=STRATEGIC_MERGE_PATCH)

    talk(main)


@pytest.mark.parametrize("reset", [[], [{}]])
def test_empty_managed_fields_forget_all_owners(reset: list[object]) -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        for resource, obj in ((CONFIGMAPS, config_map("a", data={"k": "v"})), (WIDGETS, widget("a"))):
            made = await t.create(resource, obj)
            changed = await t.merge(resource, "default/a", {"metadata": {"managedFields": reset}})
            # A custom resource's metadata passes through a Go struct and back, which leaves out what is empty.
            kept = resource == WIDGETS and reset == []
            assert ("managedFields" in changed["metadata"]) == kept
            assert (changed["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]) == kept

    talk(main)
