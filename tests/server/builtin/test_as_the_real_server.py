"""Objects of built-in kinds come out as from a real kube-apiserver, whose answers are recorded beside (`tools/record_builtins.py`)."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from setpoint.api import ApiError
from setpoint.cluster.server.builtin.served import builtin_kinds
from setpoint.cluster.server.builtin.services import ADDRESSES, NODE_PORTS
from setpoint.cluster.server.kinds import Kinds, ServedKind
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


def kind_of(obj: Json, services: list[Json] | None = None) -> ServedKind:
    """The kind of an object, on a server that has these services."""
    kinds = Kinds(builtin_kinds(lambda collection: (services or []) if collection == "/services" else []))
    return next(kind for kind in kinds if (kind.api_version, kind.kind) == (obj["apiVersion"], obj["kind"]))


def all_but_those_of(stored: Json) -> list[Json]:
    """A service that has all addresses and ports but those that the real server gave, by chance."""
    spec = stored.get("spec") or {}
    given = [spec.get("clusterIP"), *(port.get("nodePort") for port in spec.get("ports") or [])]
    ports = [{"nodePort": number} for number in NODE_PORTS if number not in given]
    addresses = [address for address in map(str, ADDRESSES.hosts()) if address not in given]
    return [{"metadata": {"name": "greedy"}, "spec": {"clusterIPs": addresses, "ports": ports}}]


@pytest.mark.parametrize("case", cases("created.json"))
def test_a_new_object_gets_the_same_defaults(case: Json) -> None:
    stored = case["stored"]
    kind = kind_of(stored, all_but_those_of(stored) if stored["kind"] == "Service" else None)
    obj = kind.strategy.complete(received(case["body"]), kind)
    kind.strategy.prepare_create(obj, kind)
    kind.strategy.allocate(obj)
    if "generation" in stored["metadata"]:
        obj["metadata"] = {**obj["metadata"], "generation": 1}
    assert obj == stored
    assert kind.strategy.validate(obj, None, kind) == []


@pytest.mark.parametrize("case", cases("created.json"))
def test_defaults_are_filled_in_once_and_nothing_shared_is_changed(case: Json) -> None:
    given = received(case["body"])
    kind, before = kind_of(given), copy.deepcopy(given)
    obj = kind.strategy.complete(given, kind)
    assert given == before
    assert kind.strategy.complete(copy.deepcopy(obj), kind) == obj


@pytest.mark.parametrize("case", cases("refused.json"))
def test_a_bad_object_is_refused_in_the_same_words(case: Json) -> None:
    obj = received(case["body"])
    kind = kind_of(obj)
    if "message" in case:
        with pytest.raises(ApiError) as caught:
            kind.strategy.complete(obj, kind)
        assert caught.value.message == case["message"]
        return
    obj = kind.strategy.complete(obj, kind)
    kind.strategy.prepare_create(obj, kind)
    kind.strategy.allocate(obj)
    found = kind.strategy.validate(obj, None, kind)
    assert [{"reason": cause.reason, "message": cause.message, "field": cause.field} for cause in found] == case["causes"]


@pytest.mark.parametrize("case", cases("updated.json"))
def test_a_change_is_taken_or_refused_alike(case: Json) -> None:
    old, obj = case["old"], received(case["body"])
    kind = kind_of(obj, all_but_those_of(case.get("stored", {})) if obj["kind"] == "Service" else None)
    obj = kind.strategy.complete(obj, kind)
    kind.strategy.prepare_update(obj, old, kind, "")
    if "generation" in old["metadata"]:
        obj["metadata"] = {**obj["metadata"], "generation": 1 + kind.strategy.counts(obj, old)}
    found = kind.strategy.validate(obj, old, kind)
    if "stored" in case:
        assert (found, obj) == ([], case["stored"])
    else:
        # The real server goes on with a difference of Go structs, on further lines.
        expected = [(cause["reason"], cause["message"].partition("\n")[0], cause["field"]) for cause in case["causes"]]
        assert [(cause.reason, cause.message, cause.field) for cause in found] == expected


def test_an_address_or_port_of_another_service_is_refused() -> None:
    other = {"metadata": {"name": "a"}, "spec": {"clusterIPs": ["10.0.0.40"], "ports": [{"nodePort": 30090}]}}

    def refused(spec: Json) -> list[str]:
        service = received({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "b"}, "spec": spec})
        kind = kind_of(service, [other])
        service = kind.strategy.complete(service, kind)
        kind.strategy.prepare_create(service, kind)
        kind.strategy.allocate(service)
        return [f"{cause.field}: {cause.message}" for cause in kind.strategy.validate(service, None, kind)]

    assert refused({"clusterIP": "10.0.0.40", "ports": [{"port": 80}]}) == [
        'spec.clusterIPs: Invalid value: ["10.0.0.40"]: failed to allocate IP 10.0.0.40: provided IP is already allocated'
    ]
    assert refused({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30090}]}) == [
        "spec.ports[0].nodePort: Invalid value: 30090: provided port is already allocated"
    ]
    assert refused({"type": "NodePort", "ports": [{"port": 80}]}) == []
