"""Field selectors: what a server selects is what a cache takes for selected, also of fields that an object leaves out."""

from __future__ import annotations

from collections.abc import Callable

from setpoint.api import Operation
from setpoint.cache import Selection
from setpoint.client.errors import NotServed
from setpoint.client.install import install
from setpoint.k8s.batch.v1 import Job, JobSpec
from setpoint.k8s.core.v1 import (
    Container,
    Event,
    EventSource,
    Namespace,
    Node,
    ObjectReference,
    Pod,
    PodSpec,
    PodTemplateSpec,
    ReplicationController,
    ReplicationControllerSpec,
    Secret,
    Service,
    ServicePort,
    ServiceSpec,
)
from setpoint.objects import Object, ObjectMeta, Resource, Struct, encode, kind

from .kinds import GROUP
from .site import Site, contract


def template(restart_policy: str) -> PodTemplateSpec:
    spec = PodSpec(containers=[Container(name="c", image="i")], restart_policy=restart_policy)
    return PodTemplateSpec(metadata=ObjectMeta(labels={"app": "x"}), spec=spec)


MADE: dict[str, Callable[[ObjectMeta], Object]] = {
    "pod": lambda meta: Pod(metadata=meta, spec=PodSpec(containers=[Container(name="c", image="i")])),
    "placed pod": lambda meta: Pod(
        metadata=meta, spec=PodSpec(containers=[Container(name="c", image="i")], node_name="worker", host_network=True)
    ),
    "node": lambda meta: Node(metadata=ObjectMeta(name=meta.name)),
    "namespace": lambda meta: Namespace(metadata=ObjectMeta(name=f"{meta.namespace}-{meta.name}")),
    "secret": lambda meta: Secret(metadata=meta),
    "service": lambda meta: Service(metadata=meta, spec=ServiceSpec(ports=[ServicePort(port=80)])),
    "job": lambda meta: Job(metadata=meta, spec=JobSpec(template=template("Never"))),
    "replication controller": lambda meta: ReplicationController(
        metadata=meta, spec=ReplicationControllerSpec(replicas=0, selector={"app": "x"}, template=template("Always"))
    ),
    "event": lambda meta: Event(
        metadata=meta, involved_object=ObjectReference(kind="Pod", namespace=meta.namespace, name="p"), source=EventSource(component="me")
    ),
    "event of a newer reporter": lambda meta: Event(
        metadata=meta, involved_object=ObjectReference(kind="Pod", namespace=meta.namespace), reporting_component="me", reason="R"
    ),
}
FIELDS = {
    "Pod": (
        "spec.nodeName",
        "spec.host",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "Node": ("spec.unschedulable",),
    "Namespace": ("status.phase",),
    "Secret": ("type",),
    "Service": ("spec.clusterIP", "spec.type"),
    "Job": ("status.successful",),
    "ReplicationController": ("status.replicas",),
    "Event": ("involvedObject.kind", "involvedObject.name", "involvedObject.fieldPath", "reason", "reportingComponent", "source", "type"),
}
VALUES = ("", "false", "true", "0", "worker", "Always", "Pending", "Active", "Opaque", "ClusterIP", "Pod", "me")


@contract
async def test_an_object_is_selected_here_as_it_is_by_the_server(site: Site) -> None:
    for number, make in enumerate(MADE.values()):
        made = make(site.meta(f"made-{number}"))
        try:
            live = await site.client.create(made)
        except NotServed:
            continue
        for path in FIELDS[type(made).__kind__.kind]:
            await agree(site, live, path)


async def agree(site: Site, live: Object, path: str) -> None:
    for value in VALUES:
        selector = f"metadata.name={live.metadata.name},{path}={value}"
        asked = Operation(
            verb="list",
            resource=type(live).__kind__.group_version_resource,
            namespace=live.namespace,
            options={"fieldSelector": selector},
        )
        there = f'"{live.metadata.name}"'.encode() in (await site.connection.call(asked)).body
        assert Selection.parse(fields=selector).selects(live.key, encode(live)) == there, selector


class DyeSpec(Struct):
    color: str | None = None
    depth: int | None = None
    fast: bool | None = None


@kind(group=GROUP, version="v1", selectable_fields=[".spec.color", ".spec.depth", ".spec.fast"])
class Dye(Resource[DyeSpec, Struct]):
    """A kind whose objects can be selected by fields of its own."""


@contract
async def test_objects_of_a_declared_kind_are_selected_by_the_fields_that_it_declares(site: Site) -> None:
    await install(site.client, [Dye])
    await site.client.create(Dye(metadata=site.meta("plain"), spec=DyeSpec()))
    await site.client.create(Dye(metadata=site.meta("red"), spec=DyeSpec(color="red", depth=2, fast=True)))
    for selector, wanted in {
        "spec.color=red": ["red"],
        "spec.color!=red": ["plain"],
        "spec.depth=2,spec.fast=true": ["red"],
        "spec.depth=": ["plain"],
        "spec.fast=false": [],
    }.items():
        found = await site.client.list(Dye, namespace=site.namespace, fields=selector)
        assert [dye.metadata.name for dye in found] == wanted, selector
        for name in ("plain", "red"):
            live = await site.client.get(Dye, name, namespace=site.namespace)
            assert live is not None
            assert Selection.parse(fields=selector).selects(live.key, encode(live)) == (name in wanted), selector
