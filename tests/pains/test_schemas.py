"""What Python classes say of objects, and what becomes of objects that go through them."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from tests.contract.kinds import Gadget
from tests.k8s.schemas import class_of, holds_everything, normal

from setpoint import UNSET, Context, Controller, Request, Resource, Struct, UnsetType, Untyped, crd, kind
from setpoint.client.install import DEFINITION, install
from setpoint.k8s.apps.v1 import Deployment
from setpoint.manager import Options
from setpoint.objects import decode, encode, kind_of

from .planes import Embedded, Real

DEPLOYMENT = "io.k8s.api.apps.v1.Deployment"


def _through(content: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = msgspec.json.decode(encode(decode(class_of(DEPLOYMENT), msgspec.json.encode(content))))
    return result


def test_an_object_that_goes_through_its_class_twice_is_what_it_was() -> None:
    """kubernetes-client/python#2435: a Deployment is read, turned into a dict, and read again. The keys are in another spelling then, are
    not known, and dropped without a word: selector and affinity are empty, pull policy and probes are gone.
    """
    everything = holds_everything(DEPLOYMENT)
    pod = everything["spec"]["template"]["spec"]
    assert pod["affinity"]["nodeAffinity"]
    assert pod["containers"][0]["livenessProbe"]
    once = _through(everything)
    assert normal(DEPLOYMENT, once) == normal(DEPLOYMENT, everything)
    assert _through(once) == once


def test_a_deployment_that_the_server_gave_goes_back_as_it_was(cluster: Embedded | Real) -> None:
    """kubernetes-client/python#2435: the same with what a server has made of it, which then is written back: nothing is changed by that."""
    probe = {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 7}
    container = {"name": "main", "image": "nginx:1", "imagePullPolicy": "Always", "livenessProbe": probe}
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], "affinity": affinity}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    info = kind_of(Deployment)
    cluster.send("create", info, content={"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    cluster.settle()
    before = cluster.send("get", info, "web")
    again = msgspec.json.decode(encode(decode(Deployment, msgspec.json.encode(before))))
    assert again["spec"] == before["spec"]
    written = cluster.send("update", info, "web", again)
    assert written["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


def _forbidden_in(schema: Any, path: str = "") -> list[str]:
    """Where a schema says what none may say, or what says nothing."""
    if isinstance(schema, list):
        return [found for number, item in enumerate(schema) for found in _forbidden_in(item, f"{path}[{number}]")]
    if not isinstance(schema, dict):
        return []
    found = [f"{path}.{key}" for key, value in schema.items() if key == "$ref" or (key, value) in [("nullable", False), ("type", "null")]]
    return found + [place for key, value in schema.items() for place in _forbidden_in(value, f"{path}.{key}")]


def test_a_definition_with_every_form_of_a_type_is_accepted(cluster: Embedded | Real) -> None:
    """ai-dynamo/dynamo#6509 (of its kind: stackabletech/operator-rs#836, kubernetes-client/python#999, #1555): an optional field is written
    as `anyOf: [X, {type: null}]`, and the definition is refused, since that is not structural.
    """
    assert _forbidden_in(crd(Gadget)) == []
    cluster.ask(lambda client: install(client, [Gadget]))
    stored = cluster.send("get", DEFINITION, crd(Gadget)["metadata"]["name"])
    conditions = {condition["type"]: condition["status"] for condition in stored["status"]["conditions"]}
    assert conditions["Established"] == "True"
    assert "NonStructuralSchema" not in conditions


def test_a_definition_has_no_difference_to_what_the_server_keeps_of_it(cluster: Embedded | Real) -> None:
    """Twingate/kubernetes-operator#685, PR#344: an explicit `nullable: false`, which the server drops, makes a difference that a GitOps
    tool finds, and removes, for ever.
    """
    wanted = crd(Gadget)
    assert wanted == crd(Gadget)
    assert msgspec.json.encode(wanted) == msgspec.json.encode(crd(Gadget))
    cluster.ask(lambda client: install(client, [Gadget]))
    stored = cluster.send("get", DEFINITION, wanted["metadata"]["name"])
    assert {name: stored["spec"][name] for name in wanted["spec"]} == wanted["spec"]
    cluster.ask(lambda client: install(client, [Gadget]))
    assert (
        cluster.send("get", DEFINITION, wanted["metadata"]["name"])["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]
    )


class PlainSpec(Struct):
    plain: str | None = None
    defaulted: str = "default"
    nullable: str | UnsetType | None = UNSET
    both: str | UnsetType | None = "default"


@kind(group="pains.example.com", version="v1")
class Plain(Resource[PlainSpec, Struct]):
    """A field of each sort: with a default or without, nullable or not."""


ABSENT = "absent"
BECOMES = {
    # field: what absent, null and a value become on the server
    "plain": {ABSENT: ABSENT, None: ABSENT, "value": "value"},
    "defaulted": {ABSENT: "default", None: "default", "value": "value"},
    "nullable": {ABSENT: ABSENT, None: None, "value": "value"},
    "both": {ABSENT: "default", None: None, "value": "value"},
}


def test_absent_null_and_a_value_are_three_things(cluster: Embedded | Real) -> None:
    """kubernetes#129456, kube-rs/kube PR#1200: a client that has one word for "absent" and "null" sets fields back to their defaults,
    or takes over in server-side apply what it never meant. What the server makes of each, and that a class gives it back as it is.
    """
    cluster.ask(lambda client: install(client, [Plain]))
    info = kind_of(Plain)
    for number, (field, given) in enumerate(itertools.product(BECOMES, [ABSENT, None, "value"])):
        spec = {} if given is ABSENT else {field: given}
        body = {"apiVersion": info.api_version, "kind": info.kind, "metadata": {"name": f"p{number}"}, "spec": spec}
        made = cluster.send("create", info, content=body)
        told = f"{field}: {given}"
        assert made["spec"].get(field, ABSENT) == BECOMES[field][given], told
        plain = decode(Plain, msgspec.json.encode(made))
        assert msgspec.json.decode(encode(plain))["spec"] == made["spec"], told
        plain.metadata.labels = {"touched": "yes"}
        after = cluster.ask(lambda client, plain=plain: client.update(plain))
        assert msgspec.json.decode(encode(after))["spec"] == made["spec"], told
        assert cluster.send("get", info, f"p{number}")["spec"] == made["spec"], told


@pytest.mark.parametrize("untyped", [False, True], ids=["a class", "untyped"])
def test_a_field_that_the_class_does_not_know_survives_a_change(cluster: Embedded | Real, untyped: bool) -> None:
    """As in the code of a client for Python, whose models leave out what they do not know and write null for what is not set: read, change
    a label, write, and what a newer server has in the object is gone.
    """

    class NewerSpec(Struct):
        value: str = ""
        size: int = 1
        newer: dict[str, str] = {}
        maybe: str | UnsetType | None = UNSET

    @kind(group="pains.example.com", version="v1", plural="newerthings")
    class NewerThing(Resource[NewerSpec, Struct]):
        """What the server has."""

    class OlderSpec(Struct):
        value: str = ""

    @kind(group="pains.example.com", version="v1", plural="newerthings", name="NewerThing")
    class OlderThing(Resource[OlderSpec, Struct]):
        """What the program knows of it."""

    labelling = Controller(OlderThing, name="labelling")

    @labelling.reconciler
    async def label(ctx: Context, request: Request) -> None:
        found = await ctx.get(OlderThing, request)
        if found is not None and "mine" not in found.metadata.labels:
            found.metadata.labels = {**found.metadata.labels, "mine": "yes"}
            await ctx.update(found)

    cluster.ask(lambda client: install(client, [NewerThing]))
    info = kind_of(NewerThing)
    spec = {"value": "x", "size": 3, "newer": {"a": "b"}, "maybe": None}
    body = {"apiVersion": info.api_version, "kind": info.kind, "metadata": {"name": "a", "labels": {"theirs": "too"}}, "spec": spec}
    made = cluster.send("create", info, content=body)
    assert made["spec"] == spec
    if untyped:
        obj = decode(Untyped, msgspec.json.encode(cluster.send("get", info, "a")))
        obj["metadata"]["labels"]["mine"] = "yes"
        cluster.ask(lambda client: client.update(obj))
    else:
        process = cluster.host(labelling, options=Options(namespace=cluster.namespace, grace=0.0), installing=False)
        cluster.until(lambda: [op for op in process.line.operations if op.is_write])
        cluster.until(lambda: "mine" in cluster.send("get", info, "a")["metadata"]["labels"])
    after = cluster.send("get", info, "a")
    assert after["spec"] == spec
    assert after["metadata"]["labels"] == {"theirs": "too", "mine": "yes"}
