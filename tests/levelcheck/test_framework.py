"""The framework under its own checker: the controllers of the embedded control plane, which are ordinary Setpoint controllers, are checked
as anybody's are. They die at every write, lose replies, hear late, nothing (410, silent watches) or everything twice, and hand over to one
another; and the cluster comes to the same end.

What they run on is an API server alone. A part of it is checked unless SETPOINT_FRAMEWORK=all is set: all of it takes some minutes.
"""

import os

import pytest

from setpoint.levelcheck import Report, Waiver, Workload, apply, delete, level_check, patch, wait

LABELS = {"app": "shop"}
POD = {"containers": [{"name": "web", "image": "nginx:1.29"}]}


def obj(api_version, kind, name, *, namespace="default", owner=None, **fields):
    """A manifest."""
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def template(**more):
    """The template of a workload's pods."""
    return {"metadata": {"labels": LABELS}, "spec": {**POD, **more}}


DEPLOYMENT = obj("apps/v1", "Deployment", "shop", spec={"replicas": 1, "selector": {"matchLabels": LABELS}, "template": template()})
STATEFUL_SET = obj(
    "apps/v1",
    "StatefulSet",
    "shop",
    spec={"replicas": 1, "serviceName": "shop", "selector": {"matchLabels": LABELS}, "template": template()},
)
JOB = obj("batch/v1", "Job", "once", spec={"completions": 2, "template": {"spec": {**POD, "restartPolicy": "Never"}}})
SPACE = obj("v1", "Namespace", "team", namespace="")
ROLLED = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.30"}]}}}}

WORKLOADS = {
    "a job": Workload.of(apply(JOB), wait()),
    "a deployment that is scaled and rolled": Workload.of(
        apply(DEPLOYMENT), wait(), patch(DEPLOYMENT, {"spec": {"replicas": 2}}), wait(), patch(DEPLOYMENT, ROLLED), wait()
    ),
    "a stateful set that grows and shrinks": Workload.of(
        apply(STATEFUL_SET), wait(), patch(STATEFUL_SET, {"spec": {"replicas": 2}}), wait(), patch(STATEFUL_SET, {"spec": {"replicas": 1}})
    ),
    "a namespace that is deleted with things in it": Workload.of(
        apply(SPACE),
        apply(obj("v1", "ConfigMap", "kept", namespace="team")),
        apply({**JOB, "metadata": {"name": "once", "namespace": "team"}}),
        wait(),
        delete(SPACE),
        wait(),
    ),
    "an owner that is deleted": Workload.of(apply(DEPLOYMENT), wait(), delete(DEPLOYMENT)),
    "an owner that is deleted after what it owns": Workload.of(apply(DEPLOYMENT), wait(), delete(DEPLOYMENT, propagation="Foreground")),
    "an owner that leaves behind what it owns": Workload.of(apply(DEPLOYMENT), wait(), delete(DEPLOYMENT, propagation="Orphan")),
}
"""What a user does, by what it is about."""
LED = ("a job", "an owner that is deleted after what it owns")
"""Those in which two processes run, of which one leads."""
ALL = [*((name, 1) for name in WORKLOADS), *((name, 2) for name in LED)]
FIRST = [("an owner that is deleted after what it owns", 1)]
CHOSEN = ALL if os.environ.get("SETPOINT_FRAMEWORK") == "all" else FIRST


DONE = Waiver(reason="a job that is complete makes no pod again that somebody has deleted", oracle="O1", resource="pods")
WAIVERS = {"a job": (DONE,), "a namespace that is deleted with things in it": (DONE,)}
"""What is meant to be so, as in a real cluster."""


def checked(name: str, leaders: int) -> Report:
    """The report on one workload."""
    return level_check(
        "tests.levelcheck.plane:controllers",
        WORKLOADS[name],
        cluster_controllers=False,
        leaders=leaders,
        waivers=WAIVERS.get(name, ()),
    )


@pytest.mark.parametrize(("name", "leaders"), CHOSEN)
def test_the_controllers_of_the_control_plane_are_level_based(name, leaders):
    report = checked(name, leaders)
    told = [(str(each.refutation.plan), each.refutation.finding.sentence) for each in report.broken]
    assert (report.verdict, report.inconclusive, told) == ("HELD", "", [])
