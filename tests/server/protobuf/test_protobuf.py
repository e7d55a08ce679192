"""Bodies in protobuf are read as Go reads them, and refused in its words.

What is compared with is recorded by ``tools/record_protobuf.py``.
"""

from __future__ import annotations

import base64
import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.talk import Refused, Talk, talk

from setpoint.api import GroupVersionKind, GroupVersionResource
from setpoint.api.operation import PROTOBUF
from setpoint.api.paths import from_http
from setpoint.cluster.server.builtin.go_types import registered
from setpoint.cluster.server.protobuf import MalformedProtobuf, UnreadableObject, decode_message, object_in, open_envelope

Json = dict[str, Any]
HERE = Path(__file__).parent
VECTORS = {each["name"]: each for each in json.loads(gzip.decompress((HERE / "vectors.json.gz").read_bytes()))}
REFUSED = json.loads((HERE / "refused.json").read_text())
UNKNOWN = GroupVersionKind("", "v1", "Unknown")


def body_of(name: str) -> bytes:
    return base64.b64decode(VECTORS[name]["protobuf"])


@pytest.mark.parametrize("name", VECTORS)
def test_an_object_with_every_field_is_read_as_its_json(name: str) -> None:
    envelope = open_envelope(body_of(name))
    *group, version, kind = name.partition("/")[2].split(".")
    content = decode_message(registered()["" if group == ["core"] else ".".join(group), version, kind], envelope.raw)
    expected = VECTORS[name]["json"]
    named = {key: expected[key] for key in ("apiVersion", "kind") if key in expected}
    assert {**content, **named} == expected


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in REFUSED])
def test_what_cannot_be_read_is_refused_in_the_words_of_the_real_server(case: Json) -> None:
    path, _, query = case["path"].partition("?")
    asked = from_http(case["method"], path, query, {"content-type": PROTOBUF})
    assert asked.resource is not None

    async def main(t: Talk) -> None:
        where = f"{asked.namespace}/{asked.name}" if asked.namespace else asked.name
        try:
            await t.do(
                asked.verb,
                asked.resource,
                where,
                bytes.fromhex(case["body"]),
                sub=asked.subresource,
                content_type=PROTOBUF,
                **asked.options,
            )
        except Refused as refused:
            found = (refused.code, refused.status["message"])
        else:
            found = (t.last.status, "")
        if case["code"]:
            assert found == (case["code"], case["message"])
        else:
            # There the real server falls over its own feet.
            assert found[0] == 400

    talk(main)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(name=st.sampled_from(sorted(VECTORS)), data=st.data())
def test_any_damage_is_read_or_refused(name: str, data: st.DataObject) -> None:
    body = bytearray(body_of(name))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        match data.draw(st.sampled_from(["flip", "cut", "insert"])):
            case "flip":
                body[at] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del body[at : at + data.draw(st.integers(1, 9))]
            case "insert":
                body[at:at] = data.draw(st.binary(min_size=1, max_size=9))
    with suppress(MalformedProtobuf, UnreadableObject):
        json.dumps(object_in(bytes(body), UNKNOWN))


def test_what_is_written_in_protobuf_is_kept_and_owned_as_if_it_had_been_json() -> None:
    deployments = GroupVersionResource("apps", "v1", "deployments")
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    sent = {"metadata": {"name": "one"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, "replicas": 0}}

    def field(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2, len(content)]) + content

    labels = field(1, b"a") + field(2, b"b")
    # Go writes what is empty, too: an image pull policy, a resource version, whether the network is the host's.
    container = field(1, b"c") + field(2, b"i") + field(14, b"")
    pods = field(3, field(11, labels)), field(2, field(2, container) + b"\x58\x00")
    template_bytes = field(1, field(11, labels)) + pods[1]
    spec = b"\x08\x00" + field(2, field(1, labels)) + field(3, template_bytes) + field(4, field(1, b""))
    raw = field(1, field(1, b"two") + field(6, b"") + field(8, b"")) + field(2, spec) + field(3, b"")
    body = b"k8s\x00" + field(1, field(1, b"apps/v1") + field(2, b"Deployment")) + field(2, raw)

    async def main(t: Talk) -> None:
        one = await t.do("create", deployments, "default/", sent)
        two = await t.do("create", deployments, "default/", body, content_type=PROTOBUF)
        for made in (one, two):
            for key in ("name", "uid", "resourceVersion"):
                made["metadata"].pop(key)
        assert two == one

    talk(main)


def test_a_custom_resource_has_no_form_in_protobuf() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        widgets = GroupVersionResource("example.com", "v1", "widgets")
        with pytest.raises(Refused, match="custom resources have no form in protobuf") as refused:
            await t.do("create", widgets, "default/", b"k8s\x00", content_type=PROTOBUF)
        assert refused.value.code == 415

    talk(main)
