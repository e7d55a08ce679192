"""Endpoints: where the pods of a Service are, in one EndpointSlice for each Service that selects pods.

There is none until the first pod has an address, and one slice holds all of them.

https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/
"""

from __future__ import annotations

from collections.abc import Mapping

from setpoint.client.errors import Forbidden
from setpoint.cluster.controllers.errors import namespace_is_terminating
from setpoint.cluster.controllers.workloads.podstate import has_ended, is_ready
from setpoint.controller import Context, Controller, Predicate, Reader
from setpoint.k8s.core.v1 import ObjectReference, Pod, Service, ServicePort
from setpoint.k8s.discovery.v1 import Endpoint, EndpointConditions, EndpointPort, EndpointSlice
from setpoint.objects import Index, ObjectMeta, Request

SERVICE, MANAGED_BY = "kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"
_MANAGER = "endpointslice-controller.k8s.io"


def _first(selector: Mapping[str, str]) -> str:
    return "{}={}".format(*min(selector.items()))


BY_SELECTOR: Index[Service] = Index(
    Service, lambda service: [f"{service.namespace}/{_first(service.spec.selector)}"] if service.spec.selector else []
)
"""Services by one label that they ask for: a pod that has it not is none of theirs."""
BY_LABEL: Index[Pod] = Index(Pod, lambda pod: [f"{pod.namespace}/{key}={value}" for key, value in pod.metadata.labels.items()])


def _served(pod: Pod | None) -> object:
    return None if pod is None else (pod.metadata.labels, pod.status.pod_ip, is_ready(pod), has_ended(pod), pod.is_terminating)


moved: Predicate[Pod] = Predicate(lambda old, new: _served(old) != _served(new) and bool(_addressed(old) or _addressed(new)))


def _addressed(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.status.pod_ip)


def endpoint_controller() -> Controller[Service]:
    """Says where the pods of Services are."""
    controller = Controller(Service, name="endpointslice", owns=[EndpointSlice], indexes=[BY_SELECTOR, BY_LABEL], reconciler=reconcile)
    return controller.watch(Pod, map=_services_of, predicate=moved)


async def _services_of(pod: Pod, reader: Reader) -> list[Request]:
    found: dict[Request, None] = {}
    for key, value in pod.metadata.labels.items():
        for service in await reader.list(Service, index=BY_SELECTOR(f"{pod.namespace}/{key}={value}")):
            if service.spec.selector.items() <= pod.metadata.labels.items():
                found[service.key] = None
    return list(found)


async def reconcile(ctx: Context, request: Request) -> None:
    """Brings the slice of one Service up to its pods."""
    service = await ctx.get(Service, request)
    if service is None or service.is_terminating or not service.spec.selector or service.spec.type == "ExternalName":
        return
    candidates = await ctx.list(Pod, namespace=service.namespace, index=BY_LABEL(f"{service.namespace}/{_first(service.spec.selector)}"))
    pods = [pod for pod in candidates if service.spec.selector.items() <= pod.metadata.labels.items() and pod.status.pod_ip]
    endpoints = [_endpoint(service, pod) for pod in sorted(pods, key=lambda pod: pod.name) if not has_ended(pod)]
    ports = [_port(port, pods) for port in service.spec.ports]
    existing = await ctx.list(EndpointSlice, namespace=service.namespace, owner=service)
    if existing:
        if (existing[0].endpoints, existing[0].ports) != (endpoints, ports):
            existing[0].endpoints, existing[0].ports = endpoints, ports
            await ctx.update(existing[0])
    elif endpoints:
        labels = service.metadata.labels | {SERVICE: service.name, MANAGED_BY: _MANAGER}
        metadata = ObjectMeta(generate_name=f"{service.name}-", namespace=service.namespace, labels=labels)
        try:
            await ctx.create(EndpointSlice(metadata=metadata, address_type="IPv4", endpoints=endpoints, ports=ports), owner=service)
        except Forbidden as error:
            if not namespace_is_terminating(error):
                raise


def _endpoint(service: Service, pod: Pod) -> Endpoint:
    ready = is_ready(pod)
    conditions = EndpointConditions(
        ready=(ready and not pod.is_terminating) or bool(service.spec.publish_not_ready_addresses),
        serving=ready,
        terminating=pod.is_terminating,
    )
    target = ObjectReference(kind="Pod", namespace=pod.namespace, name=pod.name, uid=pod.uid)
    return Endpoint(addresses=[pod.status.pod_ip or ""], conditions=conditions, node_name=pod.spec.node_name, target_ref=target)


def _port(port: ServicePort, pods: list[Pod]) -> EndpointPort:
    target = port.target_port or port.port
    number = target if isinstance(target, int) else _named(target, pods)
    return EndpointPort(name=port.name or "", port=number, protocol=port.protocol or "TCP", app_protocol=port.app_protocol)


def _named(name: str, pods: list[Pod]) -> int | None:
    """The number of a port that containers name."""
    ports = (port for pod in pods for container in pod.spec.containers for port in container.ports)
    return next((port.container_port for port in ports if port.name == name), None)
