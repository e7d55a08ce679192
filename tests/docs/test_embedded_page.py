"""What docs/embedded.md says is not there yet: each row of its table is asked for, and answered so. When that changes, the page has to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.api.operation import JSON, PROTOBUF, STRATEGIC_MERGE_PATCH
from setpoint.cluster.server import ApiServer
from setpoint.world import simulate

PAGE = Path(__file__).parents[2] / "docs" / "embedded.md"
CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")
DEFINITIONS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CONFIG_MAP: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}


def definition(version: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A definition that would be good but for one thing."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boats.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Boat", "plural": "boats"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}, **version}],
            **spec,
        },
    }


def create(resource: GroupVersionResource, body: Any, *, content_type: str = JSON) -> Operation:
    namespace = "default" if resource is CONFIG_MAPS else ""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Operation(verb="create", resource=resource, namespace=namespace, body=data, content_type=content_type)


def other(group: str, version: str, resource: str) -> Operation:
    return Operation(verb="list", resource=GroupVersionResource(group, version, resource))


RULES = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}}}}
WEBHOOK = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://localhost"}, "conversionReviewVersions": ["v1"]}}

ROWS: dict[str, list[Operation]] = {
    "strategic merge patch": [
        Operation(verb="patch", resource=CONFIG_MAPS, namespace="default", name="one", body=b"{}", content_type=STRATEGIC_MERGE_PATCH),
    ],
    "protobuf bodies": [create(CONFIG_MAPS, b"k8s\0", content_type=PROTOBUF)],
    "validation rules in CEL": [create(DEFINITIONS, definition({"schema": RULES}))],
    "selectable fields of custom kinds": [create(DEFINITIONS, definition({"selectableFields": [{"jsonPath": ".spec.size"}]}))],
    "conversion webhooks of custom kinds": [create(DEFINITIONS, definition({}, conversion=WEBHOOK))],
    "Node, and other kinds of the groups that are served": [other("", "v1", "nodes"), other("apps", "v1", "statefulsets")],
    "Job, Role, webhook configurations, and all other groups": [
        other("batch", "v1", "jobs"),
        other("rbac.authorization.k8s.io", "v1", "roles"),
        other("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"),
    ],
    "logs, exec, port-forward of pods": [
        Operation(verb="get", resource=GroupVersionResource("", "v1", "pods"), namespace="default", name="one", subresource=subresource)
        for subresource in ("log", "exec", "portforward")
    ],
}


def table() -> dict[str, tuple[int, str]]:
    """The page's rows: what is not there, the code, and what the message holds."""
    section = PAGE.read_text().partition("| not there | the answer |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+) \| (\d+): (.+) \|$", section, re.MULTILINE)
    return {what: (int(code), message) for what, code, message in rows}


def test_every_row_is_asked_for() -> None:
    assert list(table()) == list(ROWS)


@pytest.mark.parametrize("what", ROWS)
def test_what_is_not_there_is_refused_and_says_so(what: str) -> None:
    code, message = table()[what]

    async def main(world: Any) -> list[tuple[int, str]]:
        server = ApiServer(world)
        await server.handle(create(CONFIG_MAPS, CONFIG_MAP))
        answers = [await server.handle(operation) for operation in ROWS[what]]
        server.stop()
        return [(answer.status, answer.body.decode()) for answer in answers if isinstance(answer, Answer)]

    answers = simulate(main)
    assert len(answers) == len(ROWS[what])
    for operation, (status, said) in zip(ROWS[what], answers, strict=True):
        assert (status, message in said) == (code, True), f"{operation}: {said}"
