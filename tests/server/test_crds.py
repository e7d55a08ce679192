"""CustomResourceDefinitions, against what a real kube-apiserver 1.37 was seen to answer where that is recorded."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from setpoint.cluster.server.crd.definitions import (
    PrinterColumn,
    ScalePaths,
    crd_warnings,
    custom_kinds,
    default_crd,
    prepare_crd,
    validate_crd,
)
from setpoint.cluster.server.crd.names import accept_names, is_established, terminating
from setpoint.cluster.server.crd.openapi import published_schemas
from setpoint.cluster.server.schema import FieldError

FOLDER = Path(__file__).parent / "observed"
REFUSALS = [case for file in ("crds", "selectable_fields") for case in json.loads((FOLDER / f"{file}.json").read_text())]
NAMES = json.loads((FOLDER / "crd_names.json").read_text())
PUBLISHED = json.loads((FOLDER / "published.json").read_text())
NOW = "2026-01-01T00:00:00Z"


def version(name: str = "v1", *, storage: bool = True, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}, **more}


def crd(*versions: dict[str, Any], plural: str = "foos", kind: str = "Foo", group: str = "ex.dev", **names: Any) -> dict[str, Any]:
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"plural": plural, "kind": kind, **names},
        "versions": list(versions) or [version()],
    }
    return {"metadata": {"name": f"{plural}.{group}"}, "spec": spec}


def created(body: dict[str, Any]) -> dict[str, Any]:
    return prepare_crd(default_crd(body))


def told(errors: list[FieldError]) -> list[dict[str, str]]:
    return [{"reason": error.reason, "message": error.message, "field": error.field} for error in errors]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_a_crd_is_accepted_or_refused_as_by_the_real_server(case: dict[str, Any]) -> None:
    whole = created(case["crd"])
    assert told(validate_crd(whole)) == case["causes"]
    if not case["causes"]:
        assert crd_warnings(whole) == case["warnings"]


def test_what_is_left_out_is_filled_in() -> None:
    whole = created(crd())
    assert whole["spec"]["names"] == {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"}
    assert whole["spec"]["conversion"] == {"strategy": "None"}
    assert whole["status"]["storedVersions"] == ["v1"]


def test_cel_rules_are_refused_by_name_wherever_they_are() -> None:
    body = crd()
    rule = [{"rule": "self == 'a'"}]
    text = {"type": "string", "x-kubernetes-validations": rule}
    body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = {
        "list": {"type": "array", "items": text},
        "map": {"type": "object", "additionalProperties": text},
    }
    detail = "Forbidden: CEL validation rules (x-kubernetes-validations) are not supported by the embedded server yet"
    at = "spec.validation.openAPIV3Schema.properties[spec].properties"
    assert [(error.field, error.message) for error in validate_crd(created(body))] == [
        (f"{at}[list].items.x-kubernetes-validations", detail),
        (f"{at}[map].additionalProperties.x-kubernetes-validations", detail),
    ]


def test_conversion_webhooks_are_refused_by_name() -> None:
    body = crd()
    webhook = {"clientConfig": {"url": "https://a.b"}, "conversionReviewVersions": ["v1"]}
    body["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    assert [error.field for error in validate_crd(created(body))] == ["spec.conversion.strategy"]
    assert all("not supported by the embedded server yet" in error.message for error in validate_crd(created(body)))


def test_exactly_one_version_is_stored() -> None:
    problem = "must have exactly one version marked as storage version"
    for versions in ([version(storage=False)], [version("v1"), version("v2")]):
        assert any(error.field == "spec.versions" and problem in error.message for error in validate_crd(created(crd(*versions))))


def test_with_a_status_subresource_the_root_of_the_schema_says_nothing_about_the_status() -> None:
    body = crd(version(subresources={"status": {}}))
    body["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["minProperties"] = 1
    (error,) = validate_crd(created(body))
    assert error.field == "spec.validation.openAPIV3Schema"
    assert error.message.endswith("fields are allowed at the root of the schema if the status subresource is enabled")


def changed(old: dict[str, Any], **spec: Any) -> list[dict[str, str]]:
    new = default_crd({**copy.deepcopy(old), "spec": {**copy.deepcopy(old["spec"]), **spec}})
    return told(validate_crd(prepare_crd(new, old), old))


def test_what_decides_where_objects_are_stored_cannot_change() -> None:
    old = accept_names(created(crd()), [], NOW)
    immutable = "field is immutable"
    assert changed(old) == []
    assert [e["field"] for e in changed(old, scope="Cluster") if immutable in e["message"]] == ["spec.scope"]
    names = old["spec"]["names"]
    other = changed(old, names={**names, "kind": "Hh", "listKind": "HhList"})
    assert other == [{"reason": "FieldValueInvalid", "message": f'Invalid value: "Hh": {immutable}', "field": "spec.names.kind"}]
    assert [e["field"] for e in changed(old, group="zz.dev")] == ["spec.group"]
    assert [e["field"] for e in changed(old, names={**names, "plural": "zz"})] == ["spec.names.plural"]


def test_before_it_is_established_scope_and_kind_may_still_change() -> None:
    assert changed(created(crd()), scope="Cluster") == []


def test_a_version_that_was_stored_must_stay() -> None:
    old = accept_names(created(crd(version("v1"), version("v2", storage=False))), [], NOW)
    both = [version("v1", storage=False), version("v2")]
    assert prepare_crd({**old, "spec": {**old["spec"], "versions": both}}, old)["status"]["storedVersions"] == ["v1", "v2"]
    assert changed(old, versions=both) == []
    (error,) = changed(old, versions=[version("v2")])
    assert error["field"] == "status.storedVersions[0]"
    assert error["message"].startswith('Invalid value: "v1": missing from spec.versions; v1 was previously a storage version')


def test_names_are_accepted_or_refused_as_by_the_real_server() -> None:
    crds: dict[str, Any] = {}
    for case in NAMES:
        new = accept_names(created(case["crd"]), crds.values(), NOW)
        crds[new["metadata"]["name"]] = new
        wanted = copy.deepcopy(case["status"])
        for condition in wanted["conditions"]:
            condition["lastTransitionTime"] = NOW
        assert new["status"] == wanted


def test_a_name_that_became_free_is_accepted_and_nothing_else_changes() -> None:
    first = accept_names(created(crd(plural="aas", kind="Aa")), [], NOW)
    second = accept_names(created(crd(plural="bbs", kind="Aa")), [first], NOW)
    assert not is_established(second)
    assert accept_names(second, [first, second], "later") == second
    freed = accept_names(second, [second], "later")
    assert is_established(freed)
    assert {condition["lastTransitionTime"] for condition in freed["status"]["conditions"]} == {"later"}
    assert accept_names(freed, [freed], "much later") == freed


def test_other_groups_do_not_matter() -> None:
    first = accept_names(created(crd()), [], NOW)
    assert is_established(accept_names(created(crd(group="other.dev")), [first], NOW))


def test_the_deletion_of_its_objects_is_a_condition() -> None:
    going = terminating(accept_names(created(crd()), [], NOW), done=False, now=NOW)
    assert going["status"]["conditions"][-1] == {
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": NOW,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    }


def test_the_schema_is_published_as_by_the_real_server() -> None:
    (kind,) = custom_kinds(PUBLISHED["crd"])
    assert published_schemas(kind) == PUBLISHED["schemas"]


def test_a_crd_describes_one_kind_for_each_version() -> None:
    first = version(
        "v1",
        subresources={"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
        additionalPrinterColumns=[{"name": "N", "type": "integer", "jsonPath": ".spec.n", "priority": 1}],
    )
    body = accept_names(created(crd(first, version("v2", storage=False, deprecated=True), shortNames=["f"], categories=["all"])), [], NOW)
    v1, v2 = custom_kinds(body)
    assert (v1.api_version, v1.kind, v1.list_kind, v1.plural, v1.singular) == ("ex.dev/v1", "Foo", "FooList", "foos", "foo")
    assert (v1.namespaced, v1.storage, v1.has_status, v1.short_names, v1.categories) == (True, True, True, ("f",), ("all",))
    assert v1.scale == ScalePaths(".spec.n", ".status.n")
    assert v1.columns == (PrinterColumn("N", "integer", ".spec.n", priority=1),)
    assert (v2.version, v2.storage, v2.has_status, v2.scale) == ("v2", False, False, None)
    assert (v1.deprecation_warning, v2.deprecation_warning) == (None, "ex.dev/v2 Foo is deprecated")
