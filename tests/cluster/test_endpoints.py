"""Where the pods of a Service are."""

from __future__ import annotations

from setpoint.k8s.core.v1 import Pod, Service, ServicePort, ServiceSpec
from setpoint.k8s.discovery.v1 import EndpointSlice
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster

from .test_workloads import a_deployment


def a_service(**selector: str) -> Service:
    return Service(
        metadata=ObjectMeta(name="shop", namespace="default"),
        spec=ServiceSpec(selector=selector, ports=[ServicePort(port=80, target_port=8080)]),
    )


def found(cluster: Cluster) -> dict[str, bool | None]:
    slices = cluster.list(EndpointSlice, labels="kubernetes.io/service-name=shop")
    return {endpoint.addresses[0]: endpoint.conditions.ready for each in slices for endpoint in each.endpoints}


def addresses(cluster: Cluster, app: str = "shop") -> list[str | None]:
    return [pod.status.pod_ip for pod in cluster.list(Pod, labels=f"app={app}")]


def test_a_service_has_the_addresses_of_the_pods_that_it_selects(cluster: Cluster) -> None:
    cluster.create(a_service(app="shop"))
    for name in ("shop", "other"):
        cluster.create(a_deployment(name))
    cluster.settle()
    assert found(cluster) == dict.fromkeys(addresses(cluster), True)
    [port] = cluster.list(EndpointSlice, labels="kubernetes.io/service-name=shop")[0].ports
    assert (port.port, port.protocol) == (8080, "TCP")


def test_what_is_not_ready_or_gone_is_no_address_any_more(cluster: Cluster) -> None:
    cluster.create(a_deployment())
    cluster.settle()
    cluster.create(a_service(app="shop"))
    cluster.settle()
    unready, deleted, _ = cluster.list(Pod)
    next(condition for condition in unready.status.conditions if condition.type == "Ready").status = "False"
    cluster.update_status(unready)
    cluster.delete(deleted)
    cluster.settle()
    assert found(cluster) == {address: address != unready.status.pod_ip for address in addresses(cluster)}


def test_a_service_that_asks_for_others_gets_them(cluster: Cluster) -> None:
    service = cluster.create(a_service(app="shop"))
    for name in ("shop", "other"):
        cluster.create(a_deployment(name, replicas=1))
    cluster.settle()
    service = cluster.refresh(service)
    service.spec.selector = {"app": "other"}
    cluster.update(service)
    cluster.settle()
    assert list(found(cluster)) == addresses(cluster, "other")
    cluster.delete(service)
    cluster.settle()
    assert found(cluster) == {}
