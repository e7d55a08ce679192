"""What docs/embedded.md says is not there yet: each row of its table is asked for, and answered so. When that changes, the page has to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.differential.waivers import WAIVERS

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.api.operation import JSON, PROTOBUF
from setpoint.cluster.server import ApiServer
from setpoint.cluster.server.builtin import kinds
from setpoint.cluster.server.builtin.groups import behaviour_of
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


def part(resource: str, name: str) -> Operation:
    return Operation(verb="get", resource=GroupVersionResource("", "v1", resource), namespace="default", name="one", subresource=name)


RULES = {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}}}}
WEBHOOK = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://localhost"}, "conversionReviewVersions": ["v1"]}}

ROWS: dict[str, list[Operation]] = {
    "validation rules in CEL": [create(DEFINITIONS, definition({"schema": RULES}))],
    "conversion webhooks of custom kinds": [create(DEFINITIONS, definition({}, conversion=WEBHOOK))],
    "admission webhooks": [
        other("admissionregistration.k8s.io", "v1", f"{when}webhookconfigurations") for when in ("mutating", "validating")
    ],
    "admission policies": [
        other("admissionregistration.k8s.io", "v1", f"{when}admission{what}")
        for when in ("mutating", "validating")
        for what in ("policies", "policybindings")
    ],
    "reviews of access": [
        create(GroupVersionResource("authorization.k8s.io", "v1", f"{whose}subject{what}reviews"), {})
        for whose, what in (("", "access"), ("local", "access"), ("self", "access"), ("self", "rules"))
    ],
    "reviews of tokens": [create(GroupVersionResource("authentication.k8s.io", "v1", "tokenreviews"), {})],
    "reviews of who one is": [create(GroupVersionResource("authentication.k8s.io", "v1", "selfsubjectreviews"), {})],
    "APIService": [other("apiregistration.k8s.io", "v1", "apiservices")],
    "logs, exec, attach, port-forward of pods": [part("pods", name) for name in ("log", "exec", "attach", "portforward")],
    "ephemeral containers and resize of pods": [part("pods", "ephemeralcontainers"), part("pods", "resize")],
    "eviction of pods": [part("pods", "eviction")],
    "binding pods to nodes": [part("pods", "binding")],
    "tokens of service accounts": [part("serviceaccounts", "token")],
    "approval of certificate signing requests": [
        Operation(
            verb="get",
            resource=GroupVersionResource("certificates.k8s.io", "v1", "certificatesigningrequests"),
            name="one",
            subresource="approval",
        )
    ],
    "kinds of alpha and beta versions": [other("resource.k8s.io", "v1beta2", "deviceclasses")],
    "protobuf bodies of custom resources": [
        Operation(
            verb="create",
            resource=GroupVersionResource("example.com", "v1", "boats"),
            namespace="default",
            body=b"k8s\0",
            content_type=PROTOBUF,
        )
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
        await server.handle(create(DEFINITIONS, definition({})))
        answers = [await server.handle(operation) for operation in ROWS[what]]
        server.stop()
        return [(answer.status, answer.body.decode()) for answer in answers if isinstance(answer, Answer)]

    answers = simulate(main)
    assert len(answers) == len(ROWS[what])
    for operation, (status, said) in zip(ROWS[what], answers, strict=True):
        assert (status, message in said) == (code, True), f"{operation}: {said}"


def test_the_table_of_kinds_is_what_the_behaviours_say() -> None:
    section = PAGE.read_text().partition("## Built-in kinds")[2].partition("\n## ")[0]
    rows = {level: names.split(", ") for level, names in re.findall(r"^\| (full|common|schema) \| .+ \| (.+) \|$", section, re.MULTILINE)}
    served = sorted(dict.fromkeys(kind.kind for kind in kinds()))
    assert rows == {level: [name for name in served if behaviour_of(name).support == level] for level in ("full", "common", "schema")}


def test_the_table_of_differences_is_what_the_comparison_accepts() -> None:
    section = PAGE.read_text().partition("## What is known to differ")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", section, re.MULTILINE)
    assert rows[2:] == [(waiver.name, waiver.why) for waiver in WAIVERS]
