"""Pods that fail, or take their time, because an annotation asks for it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from setpoint.k8s.core.v1 import Container, ContainerStatus, Event, Pod, PodSpec
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster


def a_pod(restart_policy: str = "Always", **annotations: str) -> Pod:
    stated = {f"setpoint.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
    metadata = ObjectMeta(name="one", namespace="default", annotations=stated)
    return Pod(metadata=metadata, spec=PodSpec(restart_policy=restart_policy, containers=[Container(name="main", image="main:1")]))


def ready(pod: Pod) -> str | None:
    return next((condition.status for condition in pod.status.conditions if condition.type == "Ready"), None)


def container(pod: Pod) -> ContainerStatus:
    [found] = pod.status.container_statuses
    return found


def test_a_pod_may_take_its_time(cluster: Cluster) -> None:
    pod = cluster.create(a_pod(ready_after="30"))
    cluster.advance(timedelta(seconds=29))
    assert cluster.refresh(pod).status.phase == "Pending"
    cluster.advance(timedelta(seconds=2))
    assert (cluster.refresh(pod).status.phase, ready(cluster.refresh(pod))) == ("Running", "True")


def test_a_pod_that_is_never_ready_is_when_the_annotation_goes(cluster: Cluster) -> None:
    pod = cluster.create(a_pod(never_ready="true"))
    cluster.settle(timedelta(hours=1))
    pod = cluster.refresh(pod)
    assert (pod.status.phase, ready(pod), container(pod).ready) == ("Running", "False", False)
    message = next(condition.message for condition in pod.status.conditions if condition.type == "Ready")
    assert message == "containers with unready status: [main]"
    pod.metadata.annotations = {}
    cluster.update(pod)
    cluster.settle()
    assert (ready(cluster.refresh(pod)), container(cluster.refresh(pod)).ready) == ("True", True)


def test_a_crash_loop_is_one(cluster: Cluster) -> None:
    pod = cluster.create(a_pod(crash_loop="true", exit_code="3"))
    cluster.advance(timedelta(seconds=5))
    pod = cluster.refresh(pod)
    assert (pod.status.phase, ready(pod)) == ("Running", "False")
    waiting, last = container(pod).state.waiting, container(pod).last_state.terminated
    assert waiting is not None
    assert last is not None
    assert (waiting.reason, last.exit_code, last.reason, container(pod).restart_count) == ("CrashLoopBackOff", 3, "Error", 0)
    assert waiting.message == f"back-off 10s restarting failed container=main pod=one_default({pod.uid})"
    counts = []
    for _ in range(4):
        cluster.advance(timedelta(seconds=60))
        counts.append(container(cluster.refresh(pod)).restart_count)
    assert counts == sorted(counts)
    assert 3 <= counts[-1] <= 6
    assert {ready(cluster.refresh(pod))} == {"False"}


@pytest.mark.parametrize(("code", "phase", "reason"), [("0", "Succeeded", "Completed"), ("2", "Failed", "Error")])
def test_a_pod_ends_when_it_is_asked_to(cluster: Cluster, code: str, phase: str, reason: str) -> None:
    pod = cluster.create(a_pod("Never", run_for="20", exit_code=code))
    cluster.advance(timedelta(seconds=15))
    assert cluster.refresh(pod).status.phase == "Running"
    cluster.advance(timedelta(seconds=10))
    pod = cluster.refresh(pod)
    ended = container(pod).state.terminated
    assert ended is not None
    assert (pod.status.phase, ended.exit_code, ended.reason, ready(pod)) == (phase, int(code), reason, "False")


def test_a_container_that_fails_is_started_again_where_the_policy_says_so(cluster: Cluster) -> None:
    pod = cluster.create(a_pod("OnFailure", exit_code="1"))
    cluster.advance(timedelta(seconds=60))
    assert cluster.refresh(pod).status.phase == "Running"
    assert container(cluster.refresh(pod)).restart_count >= 1


def test_a_bare_pod_goes_on_whatever_its_policy(cluster: Cluster) -> None:
    pod = cluster.create(a_pod("Never"))
    cluster.settle(timedelta(hours=1))
    assert cluster.refresh(pod).status.phase == "Running"


def test_an_annotation_that_makes_no_sense_does_not_count_and_an_event_says_so(cluster: Cluster) -> None:
    pod = cluster.create(a_pod(ready_after="soon", never_ready="yes"))
    cluster.settle()
    assert ready(cluster.refresh(pod)) == "True"
    [note] = {event.message for event in cluster.list(Event) if event.reason == "InvalidAnnotation"}
    assert note == (
        "does not count: setpoint.dev/ready-after: 'soon' is not a number of 0 or more; "
        "setpoint.dev/never-ready: 'yes' is neither true nor false"
    )


def test_a_container_whose_image_is_changed_is_started_anew_with_it(cluster: Cluster) -> None:
    pod = cluster.create(a_pod())
    cluster.settle()
    pod = cluster.refresh(pod)
    pod.spec.containers[0].image = "main:2"
    cluster.update(pod)
    cluster.settle()
    pod = cluster.refresh(pod)
    assert (container(pod).image, container(pod).restart_count, ready(pod)) == ("main:2", 1, "True")
    assert pod.status.observed_generation == pod.metadata.generation == 2
    assert all(condition.observed_generation == 2 for condition in pod.status.conditions)
