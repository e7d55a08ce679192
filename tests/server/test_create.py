"""Creating objects."""

from __future__ import annotations

import re

import pytest
from tests.server.talk import CONFIGMAPS, WIDGETS, Refused, Talk, config_map, talk, widget


def test_a_created_object_has_identity_time_version_and_owner() -> None:
    async def main(t: Talk) -> None:
        made = (await t.create(CONFIGMAPS, config_map("a", data={"k": "v"})))["metadata"]
        assert t.last.status == 201
        assert re.fullmatch(r"[0-9a-f-]{36}", made["uid"])
        assert made["creationTimestamp"] == "2026-01-01T00:00:00Z"
        assert made["resourceVersion"] == str(t.revision)
        assert [(entry["manager"], entry["operation"]) for entry in made["managedFields"]] == [("tests", "Update")]
        assert "generation" not in made

    talk(main)


def test_what_the_server_sets_cannot_be_sent() -> None:
    async def main(t: Talk) -> None:
        sent = config_map("a", uid="mine", creationTimestamp="2001-01-01T00:00:00Z", deletionTimestamp="2001-01-01T00:00:00Z", generation=7)
        made = (await t.create(CONFIGMAPS, sent))["metadata"]
        assert made["uid"] != "mine"
        assert made["creationTimestamp"].startswith("2026")
        assert "deletionTimestamp" not in made
        assert made["generation"] == 7  # nobody counts the generations of a ConfigMap, so what was sent stays

    talk(main)


def test_a_resource_version_is_refused_on_create() -> None:
    async def main(t: Talk) -> None:
        with pytest.raises(Refused, match="500 resourceVersion should not be set on objects to be created"):
            await t.create(CONFIGMAPS, config_map("a", resourceVersion="5"))

    talk(main)


def test_a_second_object_of_that_name_is_refused() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w"))
        with pytest.raises(Refused) as refused:
            await t.create(WIDGETS, widget("w"))
        assert refused.value.status["message"] == 'widgets.example.com "w" already exists'
        assert refused.value.status["reason"] == "AlreadyExists"
        await t.merge(WIDGETS, "default/w", {"metadata": {"finalizers": ["example.com/hold"]}})
        await t.do("delete", WIDGETS, "default/w")
        with pytest.raises(Refused, match="object is being deleted: "):
            await t.create(WIDGETS, widget("w"))

    talk(main)


def test_a_name_is_generated_and_found_again_until_it_is_free() -> None:
    async def main(t: Talk) -> None:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "x" * 70}}
        made = await t.do("create", CONFIGMAPS, "default/", body)
        assert re.fullmatch("x{58}[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])
        with pytest.raises(Refused, match="name or generateName is required"):
            await t.do("create", CONFIGMAPS, "default/", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}})

    talk(main)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"labels": {"a b": "c"}}, 'metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters'),
        ({"labels": {"a": "c d"}}, 'metadata.labels: Invalid value: "c d": a valid label must be an empty string or consist of'),
        ({"annotations": {"/x": ""}}, 'metadata.annotations: Invalid value: "/x": prefix part must be non-empty'),
        ({"finalizers": ["a b/c"]}, 'metadata.finalizers: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain'),
        ({"ownerReferences": [{"kind": "A", "name": "a"}]}, "metadata.ownerReferences[0].apiVersion: Required value: must not be empty"),
        (
            {
                "ownerReferences": [
                    {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1", "controller": True},
                    {"apiVersion": "v1", "kind": "B", "name": "b", "uid": "2", "controller": True},
                ]
            },
            'Only one reference can have Controller set to true. Found "true" in references for A/a and B/b',
        ),
    ],
)
def test_bad_metadata_is_invalid(metadata: dict[str, object], message: str) -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        for resource, obj in ((WIDGETS, widget("w", **metadata)), (CONFIGMAPS, config_map("w", **metadata))):
            with pytest.raises(Refused) as refused:
                await t.create(resource, obj)
            assert refused.value.code == 422
            assert message in refused.value.status["message"]

    talk(main)


def test_an_unknown_field_warns_is_refused_or_passes() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, widget("warned", {"image": "a", "foo": 1}))
        assert "foo" not in made["spec"]
        assert t.warnings == ('unknown field "spec.foo"',)
        await t.create(WIDGETS, widget("ignored", {"foo": 1}), fieldValidation="Ignore")
        assert t.warnings == ()
        with pytest.raises(Refused) as refused:
            await t.create(WIDGETS, widget("strict", {"foo": 1}), fieldValidation="Strict")
        assert refused.value.status["message"] == (
            'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"'
        )
        twice = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{"a":"1","a":"2"}}'
        assert (await t.do("create", CONFIGMAPS, "default/", twice))["data"] == {"a": "2"}
        assert t.warnings == ('duplicate field "data.a"',)

    talk(main)


def test_a_dry_run_answers_and_changes_nothing() -> None:
    async def main(t: Talk) -> None:
        before = t.revision
        made = await t.create(CONFIGMAPS, config_map("dry"), dryRun="All")
        assert made["metadata"]["uid"]
        assert "resourceVersion" not in made["metadata"]
        assert t.revision == before
        with pytest.raises(Refused, match='dryRun: Unsupported value: \\["x"\\]: supported values: "All"'):
            await t.create(CONFIGMAPS, config_map("dry"), dryRun="x")

    talk(main)


def test_a_body_of_another_kind_or_place_is_refused() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        with pytest.raises(Refused, match="the namespace of the provided object does not match the namespace sent on the request"):
            await t.do("create", CONFIGMAPS, "default/", config_map("a", namespace="other"))
        with pytest.raises(Refused, match=r"the API version in the data \(v1\) does not match the expected API version \(example.com/v1\)"):
            await t.do("create", WIDGETS, "default/", config_map("a"))
        with pytest.raises(Refused, match='kind: Invalid value: "Gadget": must be Widget'):
            await t.create(WIDGETS, {**widget("a"), "kind": "Gadget"})
        with pytest.raises(Refused, match=r"400 the object provided is unrecognized \(must be of type ConfigMap\): empty body"):
            await t.do("create", CONFIGMAPS, "default/", b"k8s\0", content_type="application/vnd.kubernetes.protobuf")
        with pytest.raises(Refused, match="415 the body of the request was in an unknown format"):
            await t.do("create", CONFIGMAPS, "default/", b"k8s\0", content_type="application/x-www-form-urlencoded")

    talk(main)


def test_status_is_dropped_where_it_is_a_subresource() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        made = await t.create(WIDGETS, {**widget("w"), "status": {"replicas": 9}})
        assert "status" not in made
        assert made["spec"] == {"image": "a", "replicas": 2}
        assert made["metadata"]["generation"] == 1

    talk(main)
