"""Custom resources whose schema changes under them, or differs between versions: what is read is as the schema has it now."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from tests.server.talk import CRDS, WIDGET_CRD, WIDGETS, Refused, Talk, talk, widget

from setpoint.api import GroupVersionResource

WIDGETS2 = GroupVersionResource("example.com", "v2", "widgets")


def changed(spec: dict[str, Any], *, version: str = "v1", storage: bool = True) -> dict[str, Any]:
    """The version with other properties of the spec."""
    result: dict[str, Any] = deepcopy(WIDGET_CRD["spec"]["versions"][0])
    result["name"], result["storage"] = version, storage
    result["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = spec
    return result


IMAGE = {"type": "string"}
SIZE = {"type": "string", "default": "small"}


async def versions(t: Talk, *wanted: dict[str, Any]) -> None:
    await t.merge(CRDS, "widgets.example.com", {"spec": {"versions": list(wanted)}})


def test_a_new_default_shows_in_old_objects_and_what_is_no_longer_known_does_not() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))
        before = t.revision
        await versions(t, changed({"image": IMAGE, "size": SIZE}))
        wanted = {"image": "a", "size": "small"}
        assert (await t.do("get", WIDGETS, "default/w"))["spec"] == wanted
        assert (await t.do("list", WIDGETS))["items"][0]["spec"] == wanted
        assert (await (await t.watch(WIDGETS)).read() or [])[0]["object"]["spec"] == wanted
        assert t.revision == before + 1

    talk(main)


def test_what_a_schema_fills_in_is_no_change_of_whoever_writes_next() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))
        await versions(t, changed({"image": IMAGE, "size": SIZE}))
        touched = await t.merge(WIDGETS, "default/w", {"metadata": {"labels": {"a": "b"}}})
        assert touched["metadata"]["generation"] == 1
        assert "f:size" not in touched["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
        await t.apply(WIDGETS, "default/w", widget("w", {"size": "big"}))

    talk(main)


def test_versions_show_what_their_schemas_have_and_only_the_stored_one_keeps_it() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await versions(t, changed({"image": IMAGE}), changed({"image": IMAGE, "size": SIZE}, version="v2", storage=False))
        made = await t.do("create", WIDGETS2, "default/", {**widget("w", {"image": "a", "size": "big"}), "apiVersion": "example.com/v2"})
        assert made["spec"] == {"image": "a"}
        assert (await t.do("get", WIDGETS, "default/w"))["spec"] == {"image": "a"}
        assert (await t.do("get", WIDGETS2, "default/w"))["spec"] == {"image": "a"}

    talk(main)


def test_what_is_read_has_the_defaults_of_the_version_that_it_is_stored_in() -> None:
    """As the real server was seen to do it: a version's own defaults are for what is sent to it."""

    async def main(t: Talk) -> None:
        await t.establish()
        await versions(
            t, changed({"image": IMAGE, "size": SIZE}), changed({"image": IMAGE, "size": {"type": "string"}}, version="v2", storage=False)
        )
        await t.create(WIDGETS, widget("w"))
        assert (await t.do("get", WIDGETS2, "default/w"))["spec"] == {"image": "a", "size": "small"}
        await versions(t, changed({"image": IMAGE}, storage=False), changed({"image": IMAGE, "size": SIZE}, version="v2"))
        assert (await t.do("get", WIDGETS2, "default/w"))["spec"] == {"image": "a"}  # it is still stored in v1, which knows no size
        await t.merge(WIDGETS2, "default/w", {"metadata": {"labels": {"a": "b"}}})
        assert (await t.do("get", WIDGETS2, "default/w"))["spec"] == {"image": "a", "size": "small"}

    talk(main)


def test_a_default_of_the_status_is_there_from_the_start_though_no_status_was_taken() -> None:
    async def main(t: Talk) -> None:
        body = deepcopy(WIDGET_CRD)
        body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["default"] = {"replicas": 0}
        await t.establish(body)
        await t.create(WIDGETS, {**widget("w"), "status": {"replicas": 9}})
        assert (await t.do("get", WIDGETS, "default/w"))["status"] == {"replicas": 0}

    talk(main)


def test_the_metadata_of_an_embedded_resource_must_be_readable() -> None:
    async def main(t: Talk) -> None:
        body = deepcopy(WIDGET_CRD)
        template = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
        body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["template"] = template
        await t.establish(body)
        inside = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}
        why = "cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
        with pytest.raises(Refused, match=f"400 .*spec.template.metadata: Invalid value: .*{why}"):
            await t.create(WIDGETS, widget("w", {"template": inside}))
        made = await t.create(WIDGETS, widget("w", {"template": {**inside, "metadata": {"name": "", "labels": {"a": "1"}}}}))
        assert made["spec"]["template"]["metadata"] == {"labels": {"a": "1"}}

    talk(main)


def test_nothing_comes_to_be_while_the_definition_goes() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("held", finalizers=["example.com/hold"]))
        await t.do("delete", CRDS, "widgets.example.com")
        refused = '403 widgets.example.com "late" is forbidden: create not allowed while custom resource definition is terminating'
        with pytest.raises(Refused, match=refused):
            await t.create(WIDGETS, widget("late"))
        with pytest.raises(Refused, match=refused):
            await t.apply(WIDGETS, "default/late", widget("late"))
        assert (await t.apply(WIDGETS, "default/held", widget("held")))["spec"]

    talk(main)


def test_an_object_that_a_stricter_schema_refuses_can_be_let_go() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w", finalizers=["example.com/hold"]))
        await versions(t, changed({"image": {"type": "string", "minLength": 3}}))
        with pytest.raises(Refused, match=r"spec\.image in body should be at least 3 chars long"):
            await t.merge(WIDGETS, "default/w", {"spec": {"image": "b"}})
        await t.merge(WIDGETS, "default/w", {"status": {"replicas": 1}}, sub="status")
        await t.do("delete", WIDGETS, "default/w")
        await t.merge(WIDGETS, "default/w", {"metadata": {"finalizers": None}})
        with pytest.raises(Refused, match="404"):
            await t.do("get", WIDGETS, "default/w")

    talk(main)
