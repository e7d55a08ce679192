"""An autoscaler is one object, in whichever version it is written and read."""

from __future__ import annotations

import json
from typing import Any

from tests.server.talk import Talk, talk

from setpoint.api import GroupVersionResource

V1, V2 = (GroupVersionResource("autoscaling", version, "horizontalpodautoscalers") for version in ("v1", "v2"))
REFERENCE = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
METRICS, STATUSES, BEHAVIOR = (f"autoscaling.alpha.kubernetes.io/{name}" for name in ("metrics", "current-metrics", "behavior"))


def autoscaler(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "default", "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"scaleTargetRef": REFERENCE, "maxReplicas": 3, **spec}}


def cpu(percent: int) -> dict[str, Any]:
    return {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}}


def test_the_one_number_of_the_older_version_is_a_metric_of_the_newer() -> None:
    async def main(t: Talk) -> None:
        made = await t.create(V1, autoscaler(targetCPUUtilizationPercentage=50))
        assert made["spec"] == {"scaleTargetRef": REFERENCE, "minReplicas": 1, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50}
        assert made["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
        seen = await t.do("get", V2, "default/a")
        assert (seen["apiVersion"], seen["spec"]["metrics"]) == ("autoscaling/v2", [cpu(50)])
        changed = await t.merge(V1, "default/a", {"spec": {"targetCPUUtilizationPercentage": 60}})
        assert changed["metadata"]["generation"] == 2
        assert (await t.do("get", V2, "default/a"))["spec"]["metrics"] == [cpu(60)]

    talk(main)


def test_without_a_number_it_is_that_of_old() -> None:
    async def main(t: Talk) -> None:
        assert (await t.create(V1, autoscaler()))["spec"]["targetCPUUtilizationPercentage"] == 80

    talk(main)


def test_annotations_of_the_older_version_say_what_it_has_no_fields_for() -> None:
    pods = '[{"type":"Pods","pods":{"metricName":"q","targetAverageValue":"5"}}]'

    async def main(t: Talk) -> None:
        made = await t.create(V1, autoscaler({METRICS: pods, "x": "y", STATUSES: '[{"type":"Pods"}]'}))
        # A status comes from its subresource alone.
        assert made["metadata"]["annotations"] == {METRICS: pods, "x": "y"}
        seen = await t.do("get", V2, "default/a")
        assert seen["metadata"]["annotations"] == {"x": "y"}
        target = {"type": "AverageValue", "averageValue": "5"}
        assert seen["spec"]["metrics"] == [{"type": "Pods", "pods": {"metric": {"name": "q"}, "target": target}}]

    talk(main)


def test_what_the_newer_version_says_survives_a_change_by_the_older() -> None:
    selector = {"matchLabels": {"a": "b"}}
    metrics = [
        {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
        {"type": "External", "external": {"metric": {"name": "e", "selector": selector}, "target": {"type": "Value", "value": "10"}}},
        {
            "type": "Object",
            "object": {
                "metric": {"name": "o"},
                "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"},
                "target": {"type": "AverageValue", "averageValue": "3"},
            },
        },
        {
            "type": "ContainerResource",
            "containerResource": {"name": "cpu", "container": "c", "target": {"type": "Utilization", "averageUtilization": 10}},
        },
        cpu(60),
    ]

    async def main(t: Talk) -> None:
        made = await t.create(V2, autoscaler(metrics=metrics, behavior={"scaleUp": {"tolerance": "100m"}}))
        await t.merge(V2, "default/a", {"status": {"desiredReplicas": 2, "currentMetrics": None}}, sub="status")
        seen = await t.do("get", V1, "default/a")
        assert json.loads(seen["metadata"]["annotations"][BEHAVIOR])["ScaleUp"]["Tolerance"] == "100m"
        assert (seen["spec"]["targetCPUUtilizationPercentage"], seen["status"]["desiredReplicas"]) == (60, 2)
        await t.merge(V1, "default/a", {"spec": {"maxReplicas": 9}})
        again = await t.do("get", V2, "default/a")
        assert again["spec"] == {**made["spec"], "maxReplicas": 9}
        assert again["status"]["desiredReplicas"] == 2
        await t.merge(V1, "default/a", {"metadata": {"annotations": {METRICS: "[]"}}, "status": {"desiredReplicas": 3}}, sub="status")
        last = await t.do("get", V2, "default/a")
        assert (last["spec"], last["status"]["desiredReplicas"]) == (again["spec"], 3)

    talk(main)
