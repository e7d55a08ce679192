"""The edge cases of server-side apply (`listed`) end on our server as they were recorded from a real kube-apiserver 1.37."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.patches.test_recorded_patches import comparable
from tests.server.structured.listed import GADGETS, cases
from tests.server.structured.listed_steps import MERGE, NAMESPACE, changed, name_of, request_of
from tests.server.talk import CRDS, NAMESPACES, Refused, Talk, talk

from setpoint.api import GroupVersionResource

RECORDED: dict[str, Any] = json.loads(gzip.decompress(Path(__file__).with_name("listed.json.gz").read_bytes()))


def test_all_cases_are_recorded() -> None:
    assert sorted(RECORDED) == sorted(cases())


@pytest.mark.parametrize("case", cases())
def test_case(case: str) -> None:
    kind, definition, steps = cases()[case]
    name, expected = name_of(case), iter(RECORDED[case])

    async def main(t: Talk) -> None:
        await t.do("create", NAMESPACES, "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        if definition is not None or kind == "Gadget":
            await t.do("create", CRDS, "", definition or GADGETS)
        live = None
        for number, step in enumerate(steps):
            if step[0] in ("schema", "versions"):
                assert definition is not None
                await t.do("patch", CRDS, definition["metadata"]["name"], changed(step, definition), content_type=MERGE)
                continue
            request = request_of(step, kind, definition, name, live)
            resource = GroupVersionResource(request.group, request.version, request.resource)
            where = f"{NAMESPACE}/" + ("" if request.verb == "create" else name)
            try:
                body = await t.do(
                    request.verb, resource, where, request.body, sub=request.sub, content_type=request.media, **request.options
                )
                answer = {"code": t.last.status, "body": body, "warnings": list(t.warnings)}
            except Refused as refused:
                answer = {"code": refused.code, "body": refused.status, "warnings": []}
            recorded = next(expected)
            # What a kind warns of is not what is asked about here.
            recorded["warnings"] = [text for text in recorded["warnings"] if "hides previous definition" not in text]
            answer["warnings"] = [text for text in answer["warnings"] if "hides previous definition" not in text]
            assert comparable(answer) == comparable(recorded), f"step {number}"
            if answer["code"] < 300 and not step[3].get("dry"):
                live = body if request.sub != "scale" else await t.do("get", resource, where)
                both = [{"code": 200, "body": each, "warnings": []} for each in (live, recorded["live"])]
                assert comparable(both[0]) == comparable(both[1]), f"what is stored after step {number}"

    talk(main)
