"""One rich custom resource, and what a real kube-apiserver 1.37 was seen to answer to many specs of it, strictly validated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from setpoint.cluster.server.schema import (
    apply_defaults,
    compile_schema,
    decode_json,
    drop_nulls,
    embedded_problem,
    prune,
    validate,
)

OBSERVED = json.loads((Path(__file__).parent.parent / "observed" / "custom_resources.json").read_text())
SCHEMA = compile_schema(OBSERVED["crd"]["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


@pytest.mark.parametrize("case", OBSERVED["cases"], ids=lambda case: json.dumps(case["spec"]))
def test_an_object_is_answered_as_by_the_real_server(case: dict[str, Any]) -> None:
    obj = {"apiVersion": "ex.dev/v1", "kind": "Rich", "metadata": {"name": "x"}, "spec": case["spec"]}
    obj, _ = decode_json(json.dumps(obj).encode())
    problem = embedded_problem(obj, SCHEMA)
    pruned, unknown = prune(obj, SCHEMA)
    if case["code"] == 400:
        said = (
            f"{problem.field}: {problem.message}"
            if problem
            else "strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in unknown)
        )
        assert case["message"] == f'Rich in version "v1" cannot be handled as a Rich: {said}'
        return
    assert unknown == []
    complete = apply_defaults(drop_nulls(pruned, SCHEMA), SCHEMA)
    errors = [{"reason": error.reason, "message": error.message, "field": error.field} for error in validate(complete, SCHEMA)]
    assert errors == case.get("causes", [])
    if case["code"] == 201:
        assert complete["spec"] == case["answer"]
