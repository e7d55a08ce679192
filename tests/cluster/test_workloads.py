"""Simulated workloads: Deployment, ReplicaSet and Pod, from the outside, through the API alone."""

from __future__ import annotations

import pytest

from setpoint.k8s.apps.v1 import (
    Deployment,
    DeploymentSpec,
    LabelSelector,
    ReplicaSet,
)
from setpoint.k8s.core.v1 import Container, Pod, PodSpec, PodTemplateSpec
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster


def a_deployment(name: str = "shop", *, replicas: int = 3, image: str = "shop:1", **spec: object) -> Deployment:
    template = PodTemplateSpec(metadata=ObjectMeta(labels={"app": name}), spec=PodSpec(containers=[Container(name="main", image=image)]))
    return Deployment(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels={"app": name}), template=template, **spec),
    )


def images(cluster: Cluster) -> list[str | None]:
    return [pod.spec.containers[0].image for pod in cluster.list(Pod)]


def condition(deployment: Deployment, type: str) -> tuple[str | None, str | None]:
    return next((found.status, found.reason) for found in deployment.status.conditions if found.type == type)


@pytest.fixture
def cluster() -> Cluster:
    with Cluster() as cluster:
        yield cluster


def test_a_deployment_becomes_available_through_a_replica_set_and_pods(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    shop = cluster.refresh(shop)
    [replica_set] = cluster.list(ReplicaSet)
    pods = cluster.list(Pod)
    assert replica_set.metadata.owner_references[0].uid == shop.uid
    assert [pod.metadata.owner_references[0].uid for pod in pods] == [replica_set.uid] * 3
    assert {pod.status.phase for pod in pods} == {"Running"}
    assert len({pod.status.pod_ip for pod in pods}) == 3
    status = shop.status
    assert (status.replicas, status.updated_replicas, status.ready_replicas, status.available_replicas) == (3, 3, 3, 3)
    assert status.observed_generation == shop.metadata.generation
    assert condition(shop, "Available") == ("True", "MinimumReplicasAvailable")
    assert condition(shop, "Progressing") == ("True", "NewReplicaSetAvailable")
