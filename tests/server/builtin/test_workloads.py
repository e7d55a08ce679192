"""Workloads and what they stand on are treated as by a real kube-apiserver: its answers are in ``workloads/``.

`tools/record_workloads.py` records them.
"""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.server.talk import Refused, Talk, talk

from setpoint.api import GroupVersionResource
from setpoint.api.names import split_api_version
from setpoint.cluster.server import builtin

Json = dict[str, Any]

ASSIGNED = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
CASES = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "workloads").glob("*.json"))}
KINDS = {(kind.group, kind.version, kind.kind): kind for kind in builtin.kinds()}
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
OTHERWISE: dict[str, str] = {
    "daemonset-template-generation-bad": "an annotation that no client writes any more is not read as a number",
    "horizontalpodautoscaler-behavior-bad": "an empty list of policies is taken for none, which has defaults",
    "pod-annotations-seccomp": "annotations that fields have replaced long ago are not looked at",
}
"""Cases in which the embedded server answers otherwise, and why."""


def recorded() -> list[Any]:
    return [pytest.param(case, id=f"{kind}-{case['name']}") for kind, cases in CASES.items() for case in cases]


def cleaned(stored: Json) -> Json:
    """As in the recorded answers."""
    metadata = stored["metadata"]
    uid = metadata["uid"]
    kept = {**stored, "metadata": {key: value for key, value in metadata.items() if key not in ASSIGNED}}
    if "lastPhaseTransitionTime" in kept.get("status", {}):
        kept["status"]["lastPhaseTransitionTime"] = "<time>"
    for condition in kept.get("status", {}).get("conditions") or []:
        if condition.get("reason") == "SchedulingGated":
            condition["lastTransitionTime"] = "<time>"
    return dict(json.loads(json.dumps(kept).replace(uid, "<uid>")))


LONG = re.compile(r"\n|spec\.template(\.spec)?: Invalid value: \{.*field is immutable|[0-9a-f]{8}-|<uid>", re.DOTALL)
"""A refusal in which the real server prints a difference of its structs, or a whole one of them, which the embedded one has not."""


def said(causes: list[Json]) -> list[tuple[str, str, str]]:
    """Causes, but for identifiers and structs of the real server's own."""
    found = []
    for cause in causes:
        message = UID.sub("<uid>", cause["message"].partition("\n")[0])
        if cause["field"] in ("spec.template", "spec.template.spec") and message.endswith(": field is immutable"):
            message = "field is immutable"
        found.append((cause["reason"], cause["field"], message))
    return found


async def answer(say: Talk, case: Json) -> Json:
    """What the embedded server answers in a case: the object, or the Status of a refusal."""
    body = copy.deepcopy(case["body"])
    group, version = split_api_version(body["apiVersion"])
    kind = KINDS[group, version, body["kind"]]
    resource = GroupVersionResource(group, version, kind.plural)
    namespace = "default/" if kind.namespaced else ""
    where = f"{namespace}{body['metadata']['name']}"
    if "first" in case:
        old = await say.do("create", resource, namespace, case["first"])
        if "status" in case:
            old = await say.do("update", resource, where, {**old, "status": case["status"]}, sub="status")
        body["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    try:
        if "first" in case:
            return dict(await say.do("update", resource, where, body, sub=case.get("at", "")))
        return dict(await say.do("create", resource, namespace, body))
    except Refused as refused:
        return refused.status


@pytest.mark.parametrize("case", recorded())
def test_an_object_is_taken_or_refused_as_by_a_real_server(case: Json, request: pytest.FixtureRequest) -> None:
    if why := OTHERWISE.get(request.node.callspec.id):
        pytest.skip(why)

    async def main(say: Talk) -> None:
        found = await answer(say, case)
        if "stored" in case:
            assert found["kind"] != "Status", found
            assert cleaned(found) == case["stored"]
            # That budgets, autoscalers and such are not enforced is true of the embedded server alone.
            warnings = [text for text in say.warnings if " is kept but not enforced by the embedded server: " not in text]
            assert warnings == case.get("warnings", [])
            return
        assert found["kind"] == "Status", found
        assert (found["code"], found.get("reason")) == (case["code"], case["reason"])
        assert said(found.get("details", {}).get("causes", [])) == said(case["causes"])
        assert found["message"] == case["message"] or LONG.search(case["message"])

    talk(main)
