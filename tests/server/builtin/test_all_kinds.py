"""All kinds that a real server serves are served, or refused with the name of what is missing.

What a real server makes of objects of these is recorded in ``schema_kinds.json``: a ``body`` and what was ``stored``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.k8s.schemas import KINDS, holds_everything
from tests.server.talk import Refused, Talk, talk

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.cluster.server.builtin import find, groups, kinds
from setpoint.cluster.server.builtin.absent import ABSENT, ABSENT_SUBRESOURCES
from setpoint.cluster.server.builtin.groups import FILES, behaviour_of, stated_in
from setpoint.cluster.server.builtin.malformed import malformed
from setpoint.cluster.server.builtin.structs import as_go_writes

RECORDED = json.loads((Path(__file__).parent / "schema_kinds.json").read_text())
PLURALS = {(kind["group"], kind["version"], kind["kind"]): kind for kind in KINDS.values() if "resource" in kind}


def as_sent(sent: Any, given: Any) -> Any:
    """Of what is given, the fields that were sent."""
    if isinstance(sent, dict) and isinstance(given, dict):
        return {key: as_sent(value, given[key]) for key, value in sent.items() if key in given}
    if isinstance(sent, list) and isinstance(given, list) and len(sent) == len(given):
        return [as_sent(*pair) for pair in zip(sent, given, strict=True)]
    return given


def test_every_kind_of_a_real_server_is_served_or_named_as_missing() -> None:
    for group, version, kind in PLURALS:
        announced = PLURALS[group, version, kind]
        missing = (group, announced["resource"]) in ABSENT
        assert (find(group, version, kind) is None) == missing, (group, version, kind)
    assert len(kinds()) >= 57


def test_behaviours_are_of_kinds_that_are_served() -> None:
    stated = [name for names in FILES.values() for name in names]
    assert [name for name in stated if name not in {kind.kind for kind in kinds()}] == []
    assert len(dict.fromkeys(stated)) == len(stated), "two files state one"


def test_every_file_states_the_behaviours_that_it_is_known_for() -> None:
    folder = Path(groups.__file__).parent
    assert sorted(FILES) == sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__")
    assert {file: tuple(stated_in(file)) for file in FILES} == FILES


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in RECORDED])
def test_what_was_sent_comes_back_as_from_a_real_server(case: dict[str, Any]) -> None:
    body, stored = case["body"], case["stored"]
    group, _, version = body["apiVersion"].rpartition("/")
    kind = find(group, version, body["kind"])
    assert kind is not None

    async def main(t: Talk) -> None:
        resource = GroupVersionResource(group, version, kind.plural)
        made = await t.do("create", resource, "default/" if kind.namespaced else "", body, dryRun="All")
        assert as_sent(body, made) == as_sent(body, stored)
        said = f"{kind.kind}: the embedded server checks it by its schema alone, without the defaults and rules of a real cluster"
        assert (said in t.warnings) == (behaviour_of(kind.kind).support == "schema")

    talk(main)


@pytest.mark.parametrize("name", [pytest.param(name, id=name.rpartition(".")[2]) for name in KINDS])
def test_an_object_with_every_field_is_one_that_go_can_read_and_writes_the_same_twice(name: str) -> None:
    everything = {key: value for key, value in holds_everything(name).items() if key != "metadata"}
    assert malformed(name, everything) is None
    once = as_go_writes(name, everything)
    assert as_go_writes(name, once) == once
    assert set(once) >= {key for key, value in everything.items() if value}


@pytest.mark.parametrize(("group", "plural", "subresource"), [*((*key, "") for key in ABSENT), *ABSENT_SUBRESOURCES])
def test_what_is_not_served_is_refused_with_its_name(group: str, plural: str, subresource: str) -> None:
    async def main(t: Talk) -> None:
        with pytest.raises(Refused, match="is not supported by the embedded server yet") as refused:
            await t.do("create", GroupVersionResource(group, "v1", plural), "default/x", {}, sub=subresource)
        assert refused.value.code == 501
        path = f"/apis/{group}/v1" if group else "/api/v1"
        answer = await t.server.handle(Operation(verb="get", resource=None, path=path))
        assert isinstance(answer, Answer)
        assert f'"{plural}/{subresource}"'.replace('/"', '"').encode() not in answer.body

    talk(main)
