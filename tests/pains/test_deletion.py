"""Finalizers of several hands on an object that is being deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from setpoint import Context, Controller, Request
from setpoint.controller import RunEnded
from setpoint.k8s.core.v1 import Container, Pod, PodSpec

from .planes import Embedded, Real
from .scenes import Gate, errors

THEIRS, OURS = "pains.example.com/job-tracking", "pains.example.com/watched"
A_MOMENT = timedelta(seconds=5)


def _cleaning(gate: Gate, *, by_hand: bool = False) -> Controller[Pod]:
    """Takes its finalizer off a Pod that is being deleted, once the gate is open; `by_hand` by a patch of the whole list as read."""
    cleaning = Controller(Pod, name="cleaning")

    @cleaning.reconciler
    async def clean(ctx: Context, request: Request) -> None:
        pod = await ctx.get(Pod, request)
        if pod is None or not pod.is_terminating:
            return
        await gate.passed()
        if by_hand:
            left = [finalizer for finalizer in pod.metadata.finalizers if finalizer != OURS]
            await ctx.patch(Pod, request, {"metadata": {"finalizers": left}})
        else:
            await ctx.remove_finalizer(pod, OURS)

    return cleaning


def _pod(cluster: Embedded | Real, *finalizers: str) -> Pod:
    spec = PodSpec(containers=[Container(name="main", image="nginx")])
    made: Pod = cluster.create(Pod(metadata=cluster.meta("a", finalizers=list(finalizers)), spec=spec))
    return made


def _without(cluster: Embedded | Real, pod: Pod, finalizer: str) -> None:
    cluster.change(pod, lambda found: found.metadata.finalizers.remove(finalizer))


@pytest.mark.parametrize("first", [THEIRS, OURS], ids=["ours last", "ours first"])
def test_a_finalizer_that_another_has_taken_off_meanwhile_is_not_put_back(
    cluster: Embedded | Real, first: str, caplog: pytest.LogCaptureFixture
) -> None:
    """nolar/kopf#798, #1106, PR#1236, #1237, #1252: a Pod with the finalizers of the Job controller and of an operator is being deleted.
    The Job controller takes its own off. The operator, which still has the older copy, patches the list without its own but with the other:
    no finalizer may be added to what is being deleted, so that is refused, and the Pod is there for ever.
    """
    finalizers = [THEIRS, OURS] if first == THEIRS else [OURS, THEIRS]
    gate = Gate()
    pod = _pod(cluster, *finalizers)
    line = cluster.launch(_cleaning(gate))
    cluster.settle()
    cluster.delete(pod)
    cluster.until(lambda: gate.reached)
    line.hold("pods")
    _without(cluster, pod, THEIRS)
    gate.open()
    cluster.advance(A_MOMENT)
    assert cluster.get(Pod, pod.key) is None, "it is gone before the cache knows of what the other one did"
    line.release("pods")
    cluster.settle()
    assert {run.result for run in cluster.heard(RunEnded, controller="cleaning")} <= {"success", "requeue"}
    assert errors(caplog) == []


def test_a_finalizer_of_another_is_not_taken_off(cluster: Embedded | Real) -> None:
    """reddit/achilles-sdk#129, operator-framework/java-operator-sdk#1245, PR#1248: a merge patch of the list drops what another hand has
    put on it meanwhile, and a JSON patch by index removes the wrong entry once another hand has taken off one before it.
    """
    gate, third = Gate(), "pains.example.com/third"
    pod = _pod(cluster, third, THEIRS, OURS)
    line = cluster.launch(_cleaning(gate))
    cluster.settle()
    cluster.delete(pod)
    cluster.until(lambda: gate.reached)
    line.hold("pods")
    _without(cluster, pod, third)
    gate.open()
    cluster.until(lambda: OURS not in cluster.refresh(pod).metadata.finalizers)
    assert cluster.refresh(pod).metadata.finalizers == [THEIRS]
    line.release("pods")
    _without(cluster, pod, THEIRS)
    cluster.until(lambda: cluster.get(Pod, pod.key) is None)


def test_a_finalizer_is_not_added_over_one_that_came_meanwhile(cluster: Embedded | Real) -> None:
    """reddit/achilles-sdk#129, the other way: the list is read, another hand adds its finalizer, and the list is written without it."""
    gate = Gate()
    adding = Controller(Pod, name="adding")

    @adding.reconciler
    async def add(ctx: Context, request: Request) -> None:
        pod = await ctx.get(Pod, request)
        if pod is not None and not pod.is_terminating:
            await gate.passed()
            await ctx.add_finalizer(pod, OURS)

    pod = _pod(cluster)
    line = cluster.launch(adding)
    cluster.until(lambda: gate.reached)
    line.hold("pods")
    cluster.change(pod, lambda found: found.metadata.finalizers.append(THEIRS))
    gate.open()
    cluster.until(lambda: OURS in cluster.refresh(pod).metadata.finalizers)
    line.release("pods")
    cluster.settle()
    assert sorted(cluster.refresh(pod).metadata.finalizers) == sorted([THEIRS, OURS])
    cluster.stop()
    cluster.change(pod, lambda found: found.metadata.finalizers.clear())


def test_an_object_that_is_gone_by_the_time_its_finalizer_is_taken_off_is_no_error(
    cluster: Embedded | Real, caplog: pytest.LogCaptureFixture
) -> None:
    """reddit/achilles-sdk#129: somebody has cleared the list by hand, and the object has gone. To find nothing left to do is success."""
    gate = Gate()
    pod = _pod(cluster, OURS)
    line = cluster.launch(_cleaning(gate))
    cluster.settle()
    cluster.delete(pod)
    cluster.until(lambda: gate.reached)
    line.hold("pods")
    _without(cluster, pod, OURS)
    gate.open()
    cluster.until(lambda: len(cluster.heard(RunEnded, controller="cleaning")) > 1)
    line.release("pods")
    cluster.settle()
    assert cluster.get(Pod, pod.key) is None
    assert {run.result for run in cluster.heard(RunEnded, controller="cleaning")} == {"success"}
    assert errors(caplog) == []


def test_the_careless_way_is_refused_as_the_story_says(cluster: Embedded | Real) -> None:
    """nolar/kopf#798: so that the tests above can fail, the same by a patch of the whole list: it is refused, and the Pod stays."""
    gate = Gate()
    pod = _pod(cluster, "pains.example.com/third", THEIRS, OURS)
    line = cluster.launch(_cleaning(gate, by_hand=True))
    cluster.settle()
    cluster.delete(pod)
    cluster.until(lambda: gate.reached)
    line.hold("pods")
    _without(cluster, pod, THEIRS)
    gate.open()
    (failed,) = cluster.until(lambda: cluster.heard(RunEnded, controller="cleaning", result="error"))[:1]
    assert "no new finalizers can be added if the object is being deleted" in failed.error
    assert OURS in cluster.refresh(pod).metadata.finalizers
    cluster.kill(line)
    cluster.change(pod, lambda found: found.metadata.finalizers.clear())
