"""Objects of built-in kinds come out as from a real kube-apiserver, whose answers are recorded beside (`tools/record_builtins.py`)."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from setpoint.cluster.server.builtin.defaults import apply_defaults
from setpoint.cluster.server.builtin.malformed import malformed
from setpoint.cluster.server.builtin.services import ADDRESSES, NODE_PORTS
from setpoint.cluster.server.builtin.strategy import prepare_create, prepare_update, validate, wants_new_generation
from setpoint.cluster.server.schema.metadata import tidy_metadata

Json = dict[str, Any]


def cases(file: str) -> list[Any]:
    recorded = json.loads((Path(__file__).parent / file).read_text())
    return [pytest.param(case, id=case["name"]) for case in recorded]


def received(body: Json) -> Json:
    """A body as the registry hands it on: in its namespace, with tidy metadata and without nulls."""
    obj = {key: value for key, value in copy.deepcopy(body).items() if value is not None}
    obj["metadata"] = tidy_metadata(obj["metadata"])
    if obj["kind"] != "Namespace":
        obj["metadata"] = {**obj["metadata"], "namespace": "default"}
    return obj


def all_but_those_of(stored: Json) -> dict[str | int, None]:
    """Addresses and ports that are taken, so that the only free ones are those that the real server gave, by chance."""
    spec = stored.get("spec") or {}
    given = [spec.get("clusterIP"), *(port.get("nodePort") for port in spec.get("ports") or [])]
    return {each: None for each in [*map(str, ADDRESSES.hosts()), *NODE_PORTS] if each not in given}


@pytest.mark.parametrize("case", cases("created.json"))
def test_a_new_object_gets_the_same_defaults(case: Json) -> None:
    obj = received(case["body"])
    kind, stored = obj["kind"], case["stored"]
    assert malformed(kind, obj) is None
    apply_defaults(kind, obj)
    prepare_create(kind, obj, all_but_those_of(stored) if kind == "Service" else ())
    if "generation" in stored["metadata"]:
        obj["metadata"] = {**obj["metadata"], "generation": 1}
    assert obj == stored
    assert validate(kind, obj, None) == []


@pytest.mark.parametrize("case", cases("created.json"))
def test_defaults_are_filled_in_once_and_nothing_shared_is_changed(case: Json) -> None:
    obj = received(case["body"])
    parts, before = dict(obj), copy.deepcopy(obj)
    apply_defaults(obj["kind"], obj)
    assert parts == before
    again = copy.deepcopy(obj)
    apply_defaults(obj["kind"], again)
    assert again == obj


@pytest.mark.parametrize("case", cases("refused.json"))
def test_a_bad_object_is_refused_in_the_same_words(case: Json) -> None:
    obj = received(case["body"])
    kind = obj["kind"]
    problem = malformed(kind, obj)
    if "message" in case:
        assert f'{kind} in version "v1" cannot be handled as a {kind}: {problem}' == case["message"]
        return
    assert problem is None
    apply_defaults(kind, obj)
    prepare_create(kind, obj)
    causes = [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in validate(kind, obj, None)]
    assert causes == case["causes"]


@pytest.mark.parametrize("case", cases("updated.json"))
def test_a_change_is_taken_or_refused_alike(case: Json) -> None:
    old, obj = case["old"], received(case["body"])
    kind = obj["kind"]
    apply_defaults(kind, obj)
    prepare_update(kind, obj, old, taken=all_but_those_of(case.get("stored", {})) if kind == "Service" else ())
    if "generation" in old["metadata"]:
        obj["metadata"] = {**obj["metadata"], "generation": 1 + wants_new_generation(kind, obj, old)}
    found = validate(kind, obj, old)
    if "stored" in case:
        assert (found, obj) == ([], case["stored"])
    else:
        # The real server goes on with a difference of Go structs, on further lines.
        expected = [(cause["reason"], cause["message"].partition("\n")[0], cause["field"]) for cause in case["causes"]]
        assert [(cause.reason, cause.message, cause.field) for cause in found] == expected


def test_an_address_or_port_of_another_service_is_refused() -> None:
    def refused(spec: Json) -> list[str]:
        service = received({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "b"}, "spec": spec})
        taken: list[str | int] = ["10.0.0.40", 30090]
        apply_defaults("Service", service)
        prepare_create("Service", service, taken)
        return [f"{cause.field}: {cause.message}" for cause in validate("Service", service, None, taken)]

    assert refused({"clusterIP": "10.0.0.40", "ports": [{"port": 80}]}) == [
        'spec.clusterIPs: Invalid value: ["10.0.0.40"]: failed to allocate IP 10.0.0.40: provided IP is already allocated'
    ]
    assert refused({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30090}]}) == [
        "spec.ports[0].nodePort: Invalid value: 30090: provided port is already allocated"
    ]
    assert refused({"type": "NodePort", "ports": [{"port": 80}]}) == []
