"""What a patch leaves of an object is not read again: the outcome is as if it were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.talk import Talk, talk

from setpoint.api import GroupVersionResource
from setpoint.cluster.server.bodies import read_object
from setpoint.cluster.server.builtin import find
from setpoint.cluster.server.encoding import decode, encode, in_version, is_as_read
from setpoint.cluster.server.options import WriteOptions
from setpoint.cluster.server.write import Target

RECORDED = {case["body"]["kind"]: case for case in json.loads((Path(__file__).parent / "builtin" / "created.json").read_text())}


@pytest.mark.parametrize("case", [pytest.param(case, id=kind) for kind, case in RECORDED.items()])
def test_what_is_as_it_was_need_not_be_read_again(case: dict[str, Any]) -> None:
    body = case["body"]
    group, _, version = body["apiVersion"].rpartition("/")
    kind = find(group, version, body["kind"])
    assert kind is not None
    resource = GroupVersionResource(group, version, kind.plural)

    async def main(t: Talk) -> None:
        await t.do("create", resource, "default/" if kind.namespaced else "", body)
        served = t.server.kinds.find(resource)
        assert served is not None
        record = next(record for record in t.server.storage.list(served.collection).records if record.revision == t.server.storage.revision)
        if not is_as_read(record, served):
            return
        live = decode(in_version(record, served))
        target = Target(served, live["metadata"].get("namespace", ""), live["metadata"]["name"], "", WriteOptions())
        for applied in (False, True):
            again = read_object(target, dict(live), (), applied=applied, before=live)
            assert encode(again) == encode(read_object(target, decode(encode(live)), (), applied=applied)) == encode(live)
            for part, value in again.items():
                assert part in ("apiVersion", "kind", "metadata") or not isinstance(value, dict) or value is not live[part]
        assert encode(live) == record.value

    talk(main)
