"""Simulated workloads: Deployment, ReplicaSet and Pod, from the outside, through the API alone."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from setpoint.cluster.controllers import control_plane_controllers
from setpoint.cluster.controllers.workloads.pods import free_address
from setpoint.controller import Context
from setpoint.k8s.apps.v1 import (
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    LabelSelector,
    ReplicaSet,
)
from setpoint.k8s.core.v1 import Container, Pod, PodSpec, PodTemplateSpec
from setpoint.objects import IndexKey, ObjectMeta
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


def test_a_deleted_pod_comes_back(cluster: Cluster) -> None:
    cluster.create(a_deployment())
    cluster.settle()
    lost = cluster.list(Pod)[0]
    cluster.delete(lost)
    cluster.settle()
    pods = cluster.list(Pod)
    assert len(pods) == 3
    assert lost.uid not in {pod.uid for pod in pods}


def test_a_deleted_replica_set_comes_back(cluster: Cluster) -> None:
    cluster.create(a_deployment())
    cluster.settle()
    [lost] = cluster.list(ReplicaSet)
    cluster.delete(lost)
    cluster.settle()
    [found] = cluster.list(ReplicaSet)
    assert found.uid != lost.uid
    assert [pod.metadata.owner_references[0].uid for pod in cluster.list(Pod)] == [found.uid] * 3


@pytest.mark.parametrize("replicas", [0, 1, 5])
def test_scaling_changes_the_number_of_pods_and_keeps_those_that_may_stay(cluster: Cluster, replicas: int) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    before = {pod.uid for pod in cluster.list(Pod)}
    shop = cluster.refresh(shop)
    shop.spec.replicas = replicas
    cluster.update(shop)
    cluster.settle()
    after = {pod.uid for pod in cluster.list(Pod)}
    assert len(after) == replicas
    assert len(after & before) == min(replicas, 3)
    assert cluster.refresh(shop).status.available_replicas == (replicas or None)


def test_a_new_template_rolls_out_and_the_old_replica_set_is_kept_empty(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    least = [3]
    shop = cluster.refresh(shop)
    shop.spec.template.spec.containers[0].image = "shop:2"
    cluster.update(shop)
    for _ in range(60):
        cluster.advance(timedelta(seconds=0.05))
        least.append(cluster.refresh(shop).status.available_replicas or 0)
    cluster.settle()
    assert images(cluster) == ["shop:2"] * 3
    assert sorted(one.spec.replicas for one in cluster.list(ReplicaSet)) == [0, 3]
    assert min(least) == 3, "25% of 3, rounded down, may be unavailable: none"
    assert condition(cluster.refresh(shop), "Progressing") == ("True", "NewReplicaSetAvailable")


def test_going_back_to_an_old_template_uses_its_replica_set_again(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    [first] = cluster.list(ReplicaSet)
    for image in ("shop:2", "shop:1"):
        shop = cluster.refresh(shop)
        shop.spec.template.spec.containers[0].image = image
        cluster.update(shop)
        cluster.settle()
    assert images(cluster) == ["shop:1"] * 3
    first = cluster.refresh(first)
    assert first.spec.replicas == 3
    assert first.metadata.annotations["deployment.kubernetes.io/revision"] == "3"


def test_a_deployment_names_its_revision_without_a_new_generation(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    for generation, image in ((2, "shop:2"), (3, "shop:1")):
        shop = cluster.refresh(shop)
        shop.spec.template.spec.containers[0].image = image
        cluster.update(shop)
        cluster.settle()
        shop = cluster.refresh(shop)
        assert shop.metadata.annotations["deployment.kubernetes.io/revision"] == str(generation)
        assert shop.metadata.generation == shop.status.observed_generation == generation


def test_pods_that_are_leaving_are_counted(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    assert cluster.refresh(shop).status.terminating_replicas == 0
    pod = cluster.list(Pod)[0]
    pod.metadata.finalizers.append("example.com/held")
    cluster.update(pod)
    cluster.delete(pod)
    cluster.settle()
    [replica_set] = cluster.list(ReplicaSet)
    assert (replica_set.status.replicas, replica_set.status.terminating_replicas) == (3, 1)
    assert cluster.refresh(shop).status.terminating_replicas == 1


def test_recreate_ends_the_old_pods_before_new_ones_come(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment(strategy=DeploymentStrategy(type="Recreate")))
    cluster.settle()
    before = len(cluster.writes)
    shop = cluster.refresh(shop)
    shop.spec.template.spec.containers[0].image = "shop:2"
    cluster.update(shop)
    cluster.settle()
    pods = [write.split()[0] for write in cluster.writes[before:] if write.startswith(("create pods", "delete pods"))]
    assert pods == ["delete"] * 3 + ["create"] * 3
    assert images(cluster) == ["shop:2"] * 3


def test_a_paused_deployment_does_not_roll_out(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    shop = cluster.refresh(shop)
    shop.spec.paused = True
    shop.spec.template.spec.containers[0].image = "shop:2"
    cluster.update(shop)
    cluster.settle()
    assert images(cluster) == ["shop:1"] * 3
    assert condition(cluster.refresh(shop), "Progressing") == ("Unknown", "DeploymentPaused")
    shop = cluster.refresh(shop)
    shop.spec.paused = None
    cluster.update(shop)
    cluster.settle()
    assert images(cluster) == ["shop:2"] * 3


def test_a_rollout_that_does_not_get_on_says_so_and_still_ends_well(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment(progress_deadline_seconds=60))
    cluster.settle()
    shop = cluster.refresh(shop)
    shop.spec.template.metadata.annotations = {"setpoint.dev/ready-after": "100"}
    cluster.update(shop)
    cluster.advance(timedelta(seconds=50))
    assert condition(cluster.refresh(shop), "Progressing")[0] == "True"
    cluster.advance(timedelta(seconds=20))
    assert condition(cluster.refresh(shop), "Progressing") == ("False", "ProgressDeadlineExceeded")
    cluster.settle(timedelta(minutes=10))
    assert condition(cluster.refresh(shop), "Progressing") == ("True", "NewReplicaSetAvailable")


def test_the_deadline_moves_with_each_replica(cluster: Cluster) -> None:
    template = {"setpoint.dev/ready-after": "40"}
    shop = cluster.create(a_deployment(progress_deadline_seconds=60))
    cluster.settle()
    shop = cluster.refresh(shop)
    shop.spec.template.metadata.annotations = template
    cluster.update(shop)
    for _ in range(15):
        cluster.advance(timedelta(seconds=10))
        assert condition(cluster.refresh(shop), "Progressing")[0] == "True"
    assert condition(cluster.refresh(shop), "Progressing") == ("True", "NewReplicaSetAvailable")


def test_a_complete_rollout_stays_so_when_pods_are_lost_or_more_are_wanted(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment())
    cluster.settle()
    shop = cluster.refresh(shop)
    shop.spec.replicas = 5
    cluster.update(shop)
    cluster.delete(cluster.list(Pod)[0])
    for _ in range(10):
        cluster.advance(timedelta(seconds=0.05))
        assert condition(cluster.refresh(shop), "Progressing") == ("True", "NewReplicaSetAvailable")


def test_why_it_was_changed_is_kept_with_each_revision(cluster: Cluster) -> None:
    shop = a_deployment()
    shop.metadata.annotations = {"kubernetes.io/change-cause": "first"}
    shop = cluster.create(shop)
    cluster.settle()
    shop = cluster.refresh(shop)
    shop.spec.template.spec.containers[0].image = "shop:2"
    shop.metadata.annotations["kubernetes.io/change-cause"] = "second"
    cluster.update(shop)
    cluster.settle()
    causes = {one.metadata.annotations["deployment.kubernetes.io/revision"]: one.metadata.annotations for one in cluster.list(ReplicaSet)}
    assert {revision: found["kubernetes.io/change-cause"] for revision, found in causes.items()} == {"1": "first", "2": "second"}


def test_a_deployment_made_again_does_not_take_its_predecessors_pods(cluster: Cluster) -> None:
    first = cluster.create(a_deployment())
    cluster.settle()
    old = {pod.uid for pod in cluster.list(Pod)}
    cluster.delete(first)
    second = cluster.create(a_deployment())
    cluster.settle()
    assert second.uid != first.uid
    pods = cluster.list(Pod)
    assert len(pods) == 3
    assert not old & {pod.uid for pod in pods}
    assert cluster.refresh(second).status.available_replicas == 3


def test_pods_become_available_only_after_min_ready_seconds(cluster: Cluster) -> None:
    shop = cluster.create(a_deployment(min_ready_seconds=30))
    cluster.advance(timedelta(seconds=5))
    status = cluster.refresh(shop).status
    assert (status.ready_replicas, status.available_replicas) == (3, None)
    cluster.advance(timedelta(seconds=30))
    assert cluster.refresh(shop).status.available_replicas == 3


def test_a_pod_whose_status_somebody_sets_is_left_alone_and_replaced_where_it_failed(cluster: Cluster) -> None:
    cluster.create(a_deployment())
    cluster.settle()
    unready, failed, _ = cluster.list(Pod)
    next(c for c in unready.status.conditions if c.type == "Ready").status = "False"
    cluster.update_status(unready)
    failed.status.phase = "Failed"
    cluster.update_status(failed)
    cluster.settle()
    assert len(cluster.list(Pod)) == 4
    [replica_set] = cluster.list(ReplicaSet)
    assert (replica_set.status.replicas, replica_set.status.ready_replicas) == (3, 2)


def test_a_pod_on_a_node_goes_at_once_too(cluster: Cluster) -> None:
    pod = Pod(
        metadata=ObjectMeta(name="alone", namespace="default"), spec=PodSpec(node_name="here", containers=[Container(name="a", image="a")])
    )
    pod = cluster.create(pod)
    cluster.settle()
    assert cluster.refresh(pod).status.phase == "Running"
    cluster.delete(pod)
    cluster.advance(timedelta(seconds=1.0))
    assert cluster.list(Pod) == []


def test_a_quiet_hour_writes_nothing(cluster: Cluster) -> None:
    for name in ("a", "b", "c"):
        cluster.create(a_deployment(name))
    cluster.settle()
    before = len(cluster.writes)
    cluster.settle(timedelta(hours=1))
    assert cluster.writes[before:] == []


def test_controllers_that_start_again_change_nothing(cluster: Cluster) -> None:
    cluster.create(a_deployment())
    cluster.settle()
    before = len(cluster.writes)
    cluster.start(control_plane_controllers)
    cluster.settle(timedelta(minutes=10))
    assert cluster.writes[before:] == []


def test_two_sets_of_controllers_come_to_the_same(cluster: Cluster) -> None:
    cluster.start(control_plane_controllers)
    shop = cluster.create(a_deployment(replicas=5))
    cluster.settle()
    assert len(cluster.list(Pod)) == 5
    cluster.delete(cluster.refresh(shop))
    cluster.settle()
    assert cluster.list(Pod) == []


def test_no_two_pods_share_an_address() -> None:
    asked: list[str] = []

    class Reads:
        """A context in which the first address asked for is taken."""

        async def list(self, kind: type[Pod], *, index: IndexKey[Pod]) -> list[str]:
            asked.append(index.value)
            return ["a pod"] if len(asked) == 1 else []

    address = asyncio.run(free_address(cast(Context, Reads()), "uid"))
    assert asked == [asked[0], address]
    assert address != asked[0]
