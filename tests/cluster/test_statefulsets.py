"""Simulated StatefulSets, DaemonSets and their revisions, from the outside."""

from __future__ import annotations

from datetime import timedelta

import pytest

from setpoint.k8s.apps.v1 import (
    ControllerRevision,
    DaemonSet,
    DaemonSetSpec,
    LabelSelector,
    RollingUpdateStatefulSetStrategy,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    StatefulSetSpec,
    StatefulSetUpdateStrategy,
)
from setpoint.k8s.core.v1 import (
    Container,
    HostPathVolumeSource,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    Pod,
    PodSpec,
    PodTemplateSpec,
    VolumeResourceRequirements,
)
from setpoint.objects import ObjectMeta, Quantity
from setpoint.testing import Cluster


def template(image: str = "db:1", **annotations: str) -> PodTemplateSpec:
    stated = {f"setpoint.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
    metadata = ObjectMeta(labels={"app": "db"}, annotations=stated)
    return PodTemplateSpec(metadata=metadata, spec=PodSpec(containers=[Container(name="main", image=image)]))


def a_stateful_set(replicas: int = 3, pods: PodTemplateSpec | None = None, **spec: object) -> StatefulSet:
    selector = LabelSelector(match_labels={"app": "db"})
    stated = StatefulSetSpec(replicas=replicas, service_name="db", selector=selector, template=pods or template(), **spec)
    return StatefulSet(metadata=ObjectMeta(name="db", namespace="default"), spec=stated)


def a_claim_template(name: str = "data") -> PersistentVolumeClaim:
    spec = PersistentVolumeClaimSpec(
        access_modes=["ReadWriteOnce"], resources=VolumeResourceRequirements(requests={"storage": Quantity("1Gi")})
    )
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name), spec=spec)


def pods(cluster: Cluster) -> dict[str, str | None]:
    return {pod.name: pod.spec.containers[0].image for pod in cluster.list(Pod)}


def change(cluster: Cluster, image: str, **annotations: str) -> None:
    found = cluster.get(StatefulSet, "default/db")
    assert found is not None
    found.spec.template = template(image, **annotations)
    cluster.update(found)


def scale(cluster: Cluster, replicas: int) -> None:
    found = cluster.get(StatefulSet, "default/db")
    assert found is not None
    found.spec.replicas = replicas
    cluster.update(found)


def test_pods_come_one_after_the_other_and_have_names(cluster: Cluster) -> None:
    made = cluster.create(a_stateful_set(pods=template(ready_after="10")))
    counts = []
    for _ in range(4):
        cluster.advance(timedelta(seconds=8))
        counts.append(len(cluster.list(Pod)))
    assert counts == [1, 2, 3, 3]
    cluster.settle(timedelta(seconds=10))
    assert list(pods(cluster)) == ["db-0", "db-1", "db-2"]
    pod = cluster.list(Pod)[1]
    assert (pod.spec.hostname, pod.spec.subdomain) == ("db-1", "db")
    assert pod.metadata.labels["statefulset.kubernetes.io/pod-name"] == "db-1"
    assert pod.metadata.labels["apps.kubernetes.io/pod-index"] == "1"
    status = cluster.refresh(made).status
    assert (status.replicas, status.ready_replicas, status.available_replicas, status.updated_replicas) == (3, 3, 3, 3)
    assert status.current_revision == status.update_revision == cluster.list(ControllerRevision)[0].name


def test_all_at_once_where_that_is_asked(cluster: Cluster) -> None:
    cluster.create(a_stateful_set(pods=template(ready_after="10"), pod_management_policy="Parallel"))
    cluster.advance(timedelta(seconds=1))
    assert len(cluster.list(Pod)) == 3


def test_scaling_down_takes_the_highest_first(cluster: Cluster) -> None:
    cluster.create(a_stateful_set())
    cluster.settle(timedelta(seconds=5))
    before = len(cluster.writes)
    scale(cluster, 1)
    cluster.settle(timedelta(seconds=5))
    assert list(pods(cluster)) == ["db-0"]
    deleted = [write.split()[2] for write in cluster.writes[before:] if write.startswith("delete pods")]
    assert deleted == ["default/db-2", "default/db-1"]


def test_a_pod_that_is_deleted_comes_back_under_its_name(cluster: Cluster) -> None:
    cluster.create(a_stateful_set())
    cluster.settle(timedelta(seconds=5))
    lost = cluster.list(Pod)[1]
    cluster.delete(lost)
    cluster.settle(timedelta(seconds=5))
    again = cluster.get(Pod, lost.key)
    assert again is not None
    assert again.uid != lost.uid


def test_an_update_goes_from_the_highest_down_and_waits_for_each(cluster: Cluster) -> None:
    made = cluster.create(a_stateful_set())
    cluster.settle(timedelta(seconds=5))
    change(cluster, "db:2", never_ready="true")
    cluster.settle(timedelta(minutes=1))
    assert pods(cluster) == {"db-0": "db:1", "db-1": "db:1", "db-2": "db:2"}
    status = cluster.refresh(made).status
    assert (status.current_replicas, status.updated_replicas) == (2, 1)
    assert status.current_revision != status.update_revision
    change(cluster, "db:3")
    cluster.settle(timedelta(minutes=1))
    assert pods(cluster)["db-2"] == "db:2", "as in a real cluster, who has broken it must delete it"
    cluster.delete(cluster.list(Pod)[2])
    cluster.settle(timedelta(minutes=1))
    assert pods(cluster) == {"db-0": "db:3", "db-1": "db:3", "db-2": "db:3"}
    status = cluster.refresh(made).status
    assert (status.current_replicas, status.current_revision) == (3, status.update_revision)


def test_a_partition_keeps_those_below_it(cluster: Cluster) -> None:
    strategy = StatefulSetUpdateStrategy(type="RollingUpdate", rolling_update=RollingUpdateStatefulSetStrategy(partition=2))
    cluster.create(a_stateful_set(update_strategy=strategy))
    cluster.settle(timedelta(seconds=5))
    change(cluster, "db:2")
    cluster.settle(timedelta(seconds=30))
    assert pods(cluster) == {"db-0": "db:1", "db-1": "db:1", "db-2": "db:2"}
    cluster.delete(cluster.list(Pod)[0])
    cluster.settle(timedelta(seconds=30))
    assert pods(cluster)["db-0"] == "db:1", "below the partition the revision of before is used"


def test_on_delete_waits_for_somebody_to_delete(cluster: Cluster) -> None:
    cluster.create(a_stateful_set(update_strategy=StatefulSetUpdateStrategy(type="OnDelete")))
    cluster.settle(timedelta(seconds=5))
    change(cluster, "db:2")
    cluster.settle(timedelta(seconds=30))
    assert set(pods(cluster).values()) == {"db:1"}
    cluster.delete(cluster.list(Pod)[1])
    cluster.settle(timedelta(seconds=30))
    assert pods(cluster) == {"db-0": "db:1", "db-1": "db:2", "db-2": "db:1"}


def test_going_back_makes_the_old_revision_the_latest(cluster: Cluster) -> None:
    cluster.create(a_stateful_set())
    cluster.settle(timedelta(seconds=5))
    [first] = cluster.list(ControllerRevision)
    for image in ("db:2", "db:1"):
        change(cluster, image)
        cluster.settle(timedelta(seconds=30))
    assert cluster.refresh(first).revision == 3
    assert len(cluster.list(ControllerRevision)) == 2


def test_numbers_may_begin_elsewhere(cluster: Cluster) -> None:
    cluster.create(a_stateful_set(2, ordinals=StatefulSetOrdinals(start=5)))
    cluster.settle(timedelta(seconds=5))
    assert list(pods(cluster)) == ["db-5", "db-6"]


# ---- claims


def test_each_pod_has_a_claim_that_is_bound_and_stays(cluster: Cluster) -> None:
    cluster.create(a_stateful_set(2, volume_claim_templates=[a_claim_template()]))
    cluster.settle(timedelta(seconds=5))
    claims = cluster.list(PersistentVolumeClaim)
    assert [(claim.name, claim.status.phase) for claim in claims] == [("data-db-0", "Bound"), ("data-db-1", "Bound")]
    volumes = {volume.name: volume for volume in cluster.list(PersistentVolume)}
    assert len(volumes) == 2
    for claim in claims:
        volume = volumes[claim.spec.volume_name or ""]
        assert (volume.status.phase, volume.spec.claim_ref and volume.spec.claim_ref.uid) == ("Bound", claim.uid)
        assert claim.status.capacity == {"storage": Quantity("1Gi")}
        assert claim.spec.storage_class_name == "standard"
    [used] = cluster.list(Pod)[0].spec.volumes
    assert used.persistent_volume_claim is not None
    assert used.persistent_volume_claim.claim_name == "data-db-0"
    scale(cluster, 1)
    cluster.settle(timedelta(seconds=5))
    assert len(cluster.list(PersistentVolumeClaim)) == 2


def test_claims_go_where_the_policy_says_so(cluster: Cluster) -> None:
    policy = StatefulSetPersistentVolumeClaimRetentionPolicy(when_deleted="Delete", when_scaled="Delete")
    made = cluster.create(a_stateful_set(2, volume_claim_templates=[a_claim_template()], persistent_volume_claim_retention_policy=policy))
    cluster.settle(timedelta(seconds=5))
    scale(cluster, 1)
    cluster.settle(timedelta(seconds=5))
    assert [claim.name for claim in cluster.list(PersistentVolumeClaim)] == ["data-db-0"]
    cluster.delete(made)
    cluster.settle(timedelta(seconds=5))
    assert (cluster.list(Pod), cluster.list(PersistentVolumeClaim), cluster.list(PersistentVolume)) == ([], [], [])


def test_a_claim_stays_as_long_as_a_pod_uses_it(cluster: Cluster) -> None:
    made = cluster.create(a_stateful_set(1, volume_claim_templates=[a_claim_template()]))
    cluster.settle(timedelta(seconds=5))
    [claim] = cluster.list(PersistentVolumeClaim)
    cluster.delete(claim)
    cluster.settle(timedelta(minutes=5))
    if "kubernetes.io/pvc-protection" in claim.metadata.finalizers:
        assert cluster.refresh(claim).is_terminating
    cluster.delete(made)
    cluster.settle(timedelta(seconds=5))
    assert (cluster.list(PersistentVolumeClaim), cluster.list(PersistentVolume)) == ([], [])


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_pod_is_not_made_until_the_old_claim_of_its_name_is_gone(cluster: Cluster, policy: str) -> None:
    cluster.create(a_stateful_set(2, pod_management_policy=policy, volume_claim_templates=[a_claim_template()]))
    cluster.settle(timedelta(seconds=5))
    scale(cluster, 1)
    cluster.settle(timedelta(seconds=5))
    old = cluster.get(PersistentVolumeClaim, "default/data-db-1")
    old.metadata.finalizers.append("example.com/backup")
    old = cluster.update(old)
    cluster.delete(old)
    scale(cluster, 2)
    cluster.settle(timedelta(seconds=5))
    assert list(pods(cluster)) == ["db-0"]
    old = cluster.refresh(old)
    old.metadata.finalizers.remove("example.com/backup")
    cluster.update(old)
    cluster.settle(timedelta(seconds=5))
    assert list(pods(cluster)) == ["db-0", "db-1"]
    new = cluster.get(PersistentVolumeClaim, "default/data-db-1")
    assert (new.uid != old.uid, new.status.phase) == (True, "Bound")


# ---- daemons


def a_daemon_set(pods: PodTemplateSpec | None = None) -> DaemonSet:
    spec = DaemonSetSpec(selector=LabelSelector(match_labels={"app": "db"}), template=pods or template())
    return DaemonSet(metadata=ObjectMeta(name="agent", namespace="default"), spec=spec)


def a_node(name: str, **labels: str) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels=labels))


def test_there_is_one_node_and_it_is_ready(cluster: Cluster) -> None:
    cluster.settle()
    [node] = cluster.list(Node)
    assert {condition.type: condition.status for condition in node.status.conditions}["Ready"] == "True"
    assert node.status.allocatable["pods"] == Quantity("110")
    cluster.delete(node)
    cluster.settle()
    assert [found.name for found in cluster.list(Node)] == [node.name]


def test_each_node_has_a_pod_also_one_that_comes_later(cluster: Cluster) -> None:
    made = cluster.create(a_daemon_set())
    cluster.settle(timedelta(seconds=2))
    [pod] = cluster.list(Pod)
    assert pod.spec.node_name == "setpoint"
    cluster.create(a_node("another"))
    cluster.settle(timedelta(seconds=2))
    assert sorted(pod.spec.node_name or "" for pod in cluster.list(Pod)) == ["another", "setpoint"]
    status = cluster.refresh(made).status
    counts = (status.desired_number_scheduled, status.current_number_scheduled, status.number_ready, status.updated_number_scheduled)
    assert (counts, status.number_available, status.number_unavailable) == ((2, 2, 2, 2), 2, None)
    cluster.delete(cluster.get(Node, "another"))
    cluster.settle(timedelta(seconds=2))
    assert [pod.spec.node_name for pod in cluster.list(Pod)] == ["setpoint"]


def test_a_node_selector_counts(cluster: Cluster) -> None:
    pods = template()
    pods.spec.node_selector = {"disk": "ssd"}
    cluster.create(a_daemon_set(pods))
    cluster.create(a_node("fast", disk="ssd"))
    cluster.settle(timedelta(seconds=2))
    assert [pod.spec.node_name for pod in cluster.list(Pod)] == ["fast"]


def test_daemons_are_replaced_one_by_one(cluster: Cluster) -> None:
    for name in ("a", "b"):
        cluster.create(a_node(name))
    made = cluster.create(a_daemon_set())
    cluster.settle(timedelta(seconds=2))
    made = cluster.refresh(made)
    made.spec.template = template("db:2", never_ready="true")
    cluster.update(made)
    cluster.settle(timedelta(minutes=1))
    assert sorted(pod.spec.containers[0].image or "" for pod in cluster.list(Pod)) == ["db:1", "db:1", "db:2"]
    made = cluster.refresh(made)
    made.spec.template = template("db:3")
    cluster.update(made)
    cluster.settle(timedelta(minutes=1))
    assert [pod.spec.containers[0].image for pod in cluster.list(Pod)] == ["db:3"] * 3


@pytest.mark.parametrize("make", [a_stateful_set, a_daemon_set])
def test_what_it_made_goes_with_it_and_at_rest_nothing_is_written(cluster: Cluster, make: object) -> None:
    made = cluster.create(make())  # type: ignore[operator]  # each of them makes an object
    cluster.settle(timedelta(seconds=5))
    before = len(cluster.writes)
    cluster.settle(timedelta(hours=1))
    assert cluster.writes[before:] == []
    cluster.delete(made)
    cluster.settle(timedelta(seconds=5))
    assert (cluster.list(Pod), cluster.list(ControllerRevision)) == ([], [])


def test_a_volume_made_by_hand_goes_when_it_is_deleted(cluster: Cluster) -> None:
    spec = PersistentVolumeSpec(access_modes=["ReadWriteOnce"], capacity={"storage": "1Gi"}, host_path=HostPathVolumeSource(path="/shelf"))
    shelf = cluster.create(PersistentVolume(metadata=ObjectMeta(name="shelf"), spec=spec))
    cluster.settle()
    cluster.delete(shelf)
    cluster.settle()
    assert cluster.list(PersistentVolume) == []


def test_a_set_that_is_made_anew_goes_on_with_the_pods_that_its_predecessor_left(cluster: Cluster) -> None:
    first = cluster.create(a_stateful_set(3))
    cluster.settle()
    left = {pod.name: pod.uid for pod in cluster.list(Pod)}
    cluster.delete(first, propagation="Orphan")
    cluster.settle()
    assert {pod.name: pod.uid for pod in cluster.list(Pod)} == left

    cluster.create(a_stateful_set(2))
    cluster.settle()
    assert {pod.name: pod.uid for pod in cluster.list(Pod)} == {name: left[name] for name in ("db-0", "db-1")}
    assert len(cluster.list(ControllerRevision)) == 1
    change(cluster, "db:2")
    cluster.settle()
    assert pods(cluster) == {"db-0": "db:2", "db-1": "db:2"}


def test_a_pod_that_only_has_the_name_is_not_adopted(cluster: Cluster) -> None:
    stranger = Pod(metadata=ObjectMeta(name="db-1", namespace="default", labels={"app": "other"}), spec=template().spec)
    stranger = cluster.create(stranger)
    made = cluster.create(a_stateful_set(1))
    cluster.settle()
    assert cluster.refresh(made).status.replicas == 1
    assert cluster.refresh(stranger).metadata.owner_references == []


def test_the_node_is_ready_for_pods(cluster: Cluster) -> None:
    cluster.settle()
    (node,) = cluster.list(Node)
    assert node.spec.taints == []
