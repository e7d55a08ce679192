"""Deleted namespaces, from the outside."""

from __future__ import annotations

from datetime import timedelta

import pytest

from setpoint.api.status import Forbidden
from setpoint.k8s.core.v1 import ConfigMap, Container, Namespace, Pod, PodSpec
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster

from .test_workloads import a_deployment
from .things import Widget, a_map, a_widget

SOON = timedelta(seconds=1)
CONTAINER = Container(name="one", image="one")


def a_namespace(name: str = "shop") -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name))


def conditions(namespace: Namespace) -> dict[str, tuple[str, str | None, str | None]]:
    return {found.type: (found.status, found.reason, found.message) for found in namespace.status.conditions}


def test_a_deleted_namespace_goes_with_all_that_is_in_it(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    cluster.create(a_map("one", namespace="shop"))
    cluster.create(a_widget("two", namespace="shop"))
    cluster.create(a_map("elsewhere"))
    cluster.settle()
    cluster.delete(namespace)
    cluster.settle()
    assert cluster.get(Namespace, "shop") is None
    assert [found.name for found in cluster.list(ConfigMap)] == ["elsewhere"]
    assert cluster.list(Widget) == []


def test_a_namespace_with_a_running_deployment_goes(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    shop = a_deployment()
    shop.metadata.namespace = "shop"
    cluster.create(shop)
    cluster.settle()
    assert len(cluster.list(Pod, namespace="shop")) == 3
    cluster.delete(namespace)
    cluster.settle()
    assert cluster.get(Namespace, "shop") is None
    assert cluster.list(Pod) == []


def test_a_finalizer_within_holds_the_namespace_and_conditions_say_so(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    held = cluster.create(a_widget("held", namespace="shop", finalizers=["example.com/held"]))
    cluster.create(a_map("free", namespace="shop"))
    cluster.settle()
    cluster.delete(namespace)
    cluster.settle(timedelta(hours=1))
    namespace = cluster.refresh(namespace)
    assert namespace.status.phase == "Terminating"
    assert cluster.list(ConfigMap, namespace="shop") == []
    found = conditions(namespace)
    assert found["NamespaceDeletionContentFailure"][:2] == ("False", "ContentDeleted")
    assert found["NamespaceContentRemaining"] == (
        "True",
        "SomeResourcesRemain",
        "Some resources are remaining: widgets.example.com has 1 resource instances",
    )
    assert found["NamespaceFinalizersRemaining"] == (
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: example.com/held in 1 resource instances",
    )

    held = cluster.refresh(held)
    held.metadata.finalizers = []
    cluster.update(held)
    cluster.advance(timedelta(seconds=1.0))
    assert cluster.get(Namespace, "shop") is None


def test_pods_go_before_what_they_may_need(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    pod = Pod(metadata=ObjectMeta(name="held", namespace="shop", finalizers=["example.com/held"]), spec=PodSpec(containers=[CONTAINER]))
    pod = cluster.create(pod)
    cluster.create(a_map("needed", namespace="shop"))
    cluster.settle()
    cluster.delete(namespace)
    cluster.settle(timedelta(hours=1))
    assert [found.is_terminating for found in cluster.list(ConfigMap, namespace="shop")] == [False]
    found = conditions(cluster.refresh(namespace))
    assert found["NamespaceContentRemaining"][2] == "Some resources are remaining: pods. has 1 resource instances"
    pod = cluster.refresh(pod)
    pod.metadata.finalizers = []
    cluster.update(pod)
    cluster.settle()
    assert cluster.get(Namespace, "shop") is None


def test_nothing_can_be_created_in_a_namespace_that_goes(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    cluster.create(a_map("held", namespace="shop", finalizers=["example.com/held"]))
    cluster.delete(namespace)
    cluster.settle()
    with pytest.raises(Forbidden, match="being terminated"):
        cluster.create(a_map("late", namespace="shop"))


def test_a_namespace_waits_without_writing(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    cluster.create(a_map("held", namespace="shop", finalizers=["example.com/held"]))
    cluster.delete(namespace)
    cluster.settle()
    before = len(cluster.writes)
    cluster.settle(timedelta(hours=1))
    assert cluster.writes[before:] == []


def test_a_namespace_may_be_made_again_when_it_has_gone(cluster: Cluster) -> None:
    first = cluster.create(a_namespace())
    cluster.create(a_map("old", namespace="shop"))
    cluster.delete(first)
    cluster.settle()
    second = cluster.create(a_namespace())
    cluster.create(a_map("new", namespace="shop"))
    cluster.settle()
    assert second.uid != first.uid
    assert [found.name for found in cluster.list(ConfigMap, namespace="shop")] == ["new"]


def test_a_kind_that_came_after_the_start_is_emptied_too(cluster: Cluster) -> None:
    namespace = cluster.create(a_namespace())
    cluster.settle(timedelta(hours=1))
    cluster.create(a_widget("late", namespace="shop"))
    cluster.delete(namespace)
    cluster.settle()
    assert cluster.list(Widget) == []
    assert cluster.get(Namespace, "shop") is None
