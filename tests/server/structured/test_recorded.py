"""What a real kube-apiserver 1.37 answered to the steps of `scenarios.py`, replayed here.

The replay starts every step from the real server's objects, so that defaulting, which is not this room's, comes from there.
"""

import gzip
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from setpoint.cluster.server.structured import ApplyConflict, ApplyInvalid, TypedSchema, apply, same_but_for_timestamps, track_update

HERE = Path(__file__).parent
Json = dict[str, Any]


def _load_scenarios() -> Any:
    spec = importlib.util.spec_from_file_location("scenarios", HERE / "scenarios.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCENARIOS = _load_scenarios()
RECORDED = json.loads(gzip.decompress((HERE / "recorded.json.gz").read_bytes()))
SUBRESOURCE_RESETS = {"": [["status"]], "status": [["spec"], ["metadata"]]}


def _schema(kind: str) -> TypedSchema:
    if kind == "Widget":
        return TypedSchema.from_openapi(SCENARIOS.CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"], None)
    return TypedSchema.from_openapi(RECORDED["schemas"][SCENARIOS.KINDS[kind][2]], RECORDED["schemas"])


def _managed(thing: Json | None) -> Any:
    return None if thing is None else thing["metadata"].get("managedFields")


def _reset(kind: str, subresource: str) -> list[list[str]]:
    return [] if kind == "ConfigMap" else SUBRESOURCE_RESETS[subresource]


def _assert_same_content(ours: Json, answer: Json, where: str) -> None:
    ours = json.loads(json.dumps(ours))
    for part in (ours.get("spec") or {}).get("parts") or []:
        part.setdefault("kind", "plain")
    assert (ours.get("spec"), ours.get("status")) == (answer.get("spec"), answer.get("status")), where
    assert (ours.get("data") or None) == answer.get("data"), where  # a built-in kind's empty map is not written
    for field in ("labels", "annotations", "finalizers", "ownerReferences"):
        # A real server leaves empty ones out of metadata.
        assert (ours["metadata"].get(field) or None) == answer["metadata"].get(field), where


@pytest.mark.parametrize("name", list(RECORDED["scenarios"]))
def test_managed_fields_are_those_of_the_real_server(name: str) -> None:
    scenario = RECORDED["scenarios"][name]
    kind = scenario["kind"]
    schema, api_version = _schema(kind), SCENARIOS.KINDS[kind][1]
    live: Json | None = None
    for number, step in enumerate(scenario["steps"]):
        code, answer, verb, body = step["code"], step["answer"], step["verb"], step["body"]
        where = f"{name}, step {number}: {verb} by {step['manager']}"
        subresource = step.get("subresource", "")
        times = [entry.get("time", "") for entry in _managed(answer) or []] if code < 300 else []
        common: Json = {
            "manager": step["manager"],
            "api_version": api_version,
            "subresource": subresource,
            "now": max(times, default="2000-01-01T00:00:00Z"),
            "reset": _reset(kind, subresource),
        }
        if verb == "apply":
            force = step.get("force", False)
            if code == 409:
                with pytest.raises(ApplyConflict) as conflict:
                    apply(live, body, schema, force=force, **common)
                assert conflict.value.message == answer["message"], where
                causes = [(cause["message"].removeprefix("conflict with "), cause["field"]) for cause in answer["details"]["causes"]]
                assert sorted(conflict.value.causes) == sorted(causes), where
                continue
            if code == 500:
                with pytest.raises(ApplyInvalid) as invalid:
                    apply(live, body, schema, force=force, **common)
                assert answer["message"] == str(invalid.value), where
                continue
            if code == 422:  # the merged object is refused by validation, which comes later
                apply(live, body, schema, force=force, **common)
                continue
            ours = apply(live, body, schema, force=force, **common)
            if kind in ("ConfigMap", "Widget"):  # those whose defaults are few
                _assert_same_content(ours, answer, where)
        else:
            assert code < 300, where
            # What the server stores, with the managedFields of the request, as they are when ownership is worked out.
            new = {**answer, "metadata": {**answer["metadata"]}}
            new["metadata"].pop("managedFields", None)
            sent = body["metadata"].get("managedFields") if verb in ("create", "put") else _managed(live)
            if kind == "Service" and verb == "create":
                for field in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):  # allocated later, and owned by nobody
                    new["spec"] = {key: value for key, value in new["spec"].items() if key != field}
            if sent is not None:
                new["metadata"]["managedFields"] = sent
            ours = track_update(live, new, schema, **common)
        # Custom objects are written with their keys sorted; for built-in ones the order inside an entry is to be the same, too.
        custom = kind == "Widget"
        assert json.dumps(_managed(ours), indent=1, sort_keys=custom) == json.dumps(_managed(answer), indent=1, sort_keys=custom), where
        if live is not None and live["metadata"]["resourceVersion"] == answer["metadata"]["resourceVersion"] and verb == "apply":
            assert same_but_for_timestamps(ours, live), where
        live = answer
