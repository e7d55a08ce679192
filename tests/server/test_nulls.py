"""Nulls in objects of built-in kinds: Go reads a null field as one left out, and a null in a list or a map as a zero of its own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.talk import CONFIGMAPS, Talk, config_map, talk

from setpoint.api import GroupVersionResource

DEPLOYMENTS = GroupVersionResource("apps", "v1", "deployments")


def resource(plural: str) -> GroupVersionResource:
    return GroupVersionResource("", "v1", plural)


def deployment(container: dict[str, Any], metadata: dict[str, Any], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}, **metadata}, "spec": {"containers": [{"name": "c", "image": "i", **container}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec},
    }


@pytest.mark.parametrize(
    ("plural", "sent", "kept"),
    [
        ("configmaps", {"data": {"a": None, "b": "x"}, "binaryData": {"c": None}}, {"data": {"a": "", "b": "x"}, "binaryData": {"c": ""}}),
        ("configmaps", {"data": None, "immutable": None}, {}),
        ("secrets", {"stringData": {"a": None, "b": "x"}}, {"data": {"a": "", "b": "eA=="}, "type": "Opaque"}),
        ("secrets", {"data": None, "type": None}, {"type": "Opaque"}),
        ("serviceaccounts", {"secrets": [None], "imagePullSecrets": None}, {"secrets": [{}]}),
    ],
)
def test_a_null_field_is_left_out_and_a_null_inside_is_empty(plural: str, sent: dict[str, Any], kept: dict[str, Any]) -> None:
    async def main(t: Talk) -> None:
        made = await t.do("create", resource(plural), "default/", {"metadata": {"name": "n"}, **sent})
        assert {key: value for key, value in made.items() if key not in ("apiVersion", "kind", "metadata")} == kept

    talk(main)


def test_what_go_clients_send_as_null_is_neither_kept_nor_owned() -> None:
    async def main(t: Talk) -> None:
        sent = deployment(
            {"resources": {}, "args": None, "command": [None, "a"]}, {"creationTimestamp": None}, replicas=None, strategy=None
        )
        made = await t.create(DEPLOYMENTS, sent)
        assert made["spec"]["replicas"] == 1
        assert made["spec"]["strategy"]["type"] == "RollingUpdate"
        assert made["spec"]["template"]["metadata"] == {"labels": {"a": "b"}}
        container = made["spec"]["template"]["spec"]["containers"][0]
        assert "args" not in container
        assert container["command"] == ["", "a"]
        owned = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:template"]
        assert list(owned["f:metadata"]) == ["f:labels"]
        assert "f:args" not in owned["f:spec"]["f:containers"]['k:{"name":"c"}']

    talk(main)


def test_a_null_finalizer_label_or_quantity_is_empty_too() -> None:
    async def main(t: Talk) -> None:
        made = await t.create(DEPLOYMENTS, deployment({"resources": {"limits": {"cpu": None}}}, {"labels": {"a": "b", "c": None}}))
        assert made["spec"]["template"]["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "0"}}
        assert made["spec"]["template"]["metadata"]["labels"] == {"a": "b", "c": ""}
        made = await t.create(CONFIGMAPS, config_map("l", labels={"a": None}))
        assert made["metadata"]["labels"] == {"a": ""}
        with pytest.raises(Exception, match=r'metadata\.finalizers: Invalid value: "": name part must be non-empty'):
            await t.create(CONFIGMAPS, config_map("f", finalizers=[None]))

    talk(main)
