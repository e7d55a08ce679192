"""Built-in kinds that stand for pods, and pods."""

from .kind import Json, Kind

SORT = "workload"


def template(**spec: Json) -> Json:
    """A pod template of the label app=x."""
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "main", "image": "nginx"}], **spec}}


def with_template(fragment: Json) -> Json:
    """A change of the pods of a workload."""
    return {"spec": {"template": {"spec": fragment}}}


SELECTOR: Json = {"selector": {"matchLabels": {"app": "x"}}}
PODS: tuple[Json, ...] = (
    {"containers": [{"name": "main", "image": "nginx:1.25"}]},
    {"containers": [{"name": "main", "image": "nginx", "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]},
    {"containers": [{"name": "main", "image": "nginx", "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP", "name": "dns"}]}]},
    {"containers": [{"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "100m", "memory": "0.5Gi"}, "limits": {"cpu": 1, "memory": "1Gi"}}}]},
    {"containers": [{"name": "main", "image": "nginx"}, {"name": "side", "image": "busybox:latest", "command": ["sleep", "1"]}]},
    {"containers": [{"name": "main", "image": "nginx", "readinessProbe": {"httpGet": {"path": "/", "port": 80}}, "livenessProbe": {"tcpSocket": {"port": "dns"}}}]},
    {"terminationGracePeriodSeconds": 5, "nodeSelector": {"disk": "ssd"}},
    {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]},
    {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {"name": "cfg"}}],
     "containers": [{"name": "main", "image": "nginx", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
    {"serviceAccountName": "robot", "securityContext": {"runAsNonRoot": True}, "dnsPolicy": "Default"},
    {"initContainers": [{"name": "init", "image": "busybox", "args": ["x"]}]},
    {"hostNetwork": False, "priorityClassName": ""},
)  # fmt: skip
BAD_PODS: tuple[Json, ...] = (
    {"containers": [{"name": "Bad_Name", "image": "x"}]},
    {"containers": []},
    {"containers": [{"name": "main", "image": "nginx", "ports": [{"containerPort": 0}]}]},
    {"containers": [{"name": "main", "image": "nginx", "imagePullPolicy": "Sometimes"}]},
    {"containers": [{"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]},
    {"containers": [{"name": "main", "image": "nginx", "volumeMounts": [{"name": "none", "mountPath": "/x"}]}]},
    {"containers": [{"name": "main", "image": 5}]},
    {"terminationGracePeriodSeconds": "5"},
    {"dnsPolicy": "Nope"},
    {"containers": [{"name": "main", "image": "nginx", "resources": {"limits": {"cpu": "abc"}}}]},
)
STRATEGIC_PODS: tuple[Json, ...] = (
    {"containers": [{"name": "side", "$patch": "delete"}]},
    {"containers": [{"$patch": "replace"}, {"name": "main", "image": "new"}]},
    {
        "$setElementOrder/containers": [{"name": "side"}, {"name": "main"}],
        "containers": [{"name": "main", "image": "z"}, {"name": "side", "image": "y"}],
    },
    {"containers": [{"name": "main", "env": [{"name": "A", "$patch": "delete"}, {"name": "C", "value": "3"}]}]},
    {"containers": [{"name": "main", "ports": [{"containerPort": 81}]}]},
    {"volumes": [{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {"medium": "Memory"}}]},
    {"nodeSelector": {"$patch": "replace", "zone": "a"}},
    {"nodeSelector": None},
    {"tolerations": [{"key": "other", "operator": "Exists"}]},
)

CONDITIONS: Json = [{"type": "Available", "status": "True", "reason": "Good", "message": "m"}]
STRATEGIC_CONDITIONS: Json = {"status": {"conditions": [{"type": "Progressing", "status": "Unknown"}]}}


def workload(
    plural: str,
    kind: str,
    bases: tuple[Json, ...],
    fragments: tuple[Json, ...],
    bad: tuple[Json, ...],
    status: tuple[Json, ...],
    **more: Json,
) -> Kind:
    """A kind of `apps/v1` with a template."""
    return Kind(
        SORT, "apps", ("v1",), plural, kind,
        bases=bases,
        fragments=(*fragments, *map(with_template, PODS), {"spec": {"template": {"metadata": {"annotations": {"restarted": "1"}}}}}),
        bad=(*bad, *map(with_template, BAD_PODS), {"spec": {"selector": {"matchLabels": {"app": "y"}}}}, {"spec": {"template": {"metadata": {"labels": {"app": "z"}}}}}),
        strategic=tuple(map(with_template, STRATEGIC_PODS)),
        status=status,
        **more,
    )  # fmt: skip


KINDS = (
    workload(
        "deployments", "Deployment",
        bases=(
            {"spec": {**SELECTOR, "template": template()}},
            {"spec": {"replicas": 3, **SELECTOR, "template": template(restartPolicy="Always"), "strategy": {"type": "Recreate"}}},
            {"spec": {"replicas": 0, **SELECTOR, "template": template(), "strategy": {"rollingUpdate": {"maxSurge": 1}}, "minReadySeconds": 5}},
        ),
        fragments=(
            {"spec": {"replicas": 2}}, {"spec": {"replicas": 0, "paused": True}}, {"spec": {"revisionHistoryLimit": 3, "minReadySeconds": 1}},
            {"spec": {"progressDeadlineSeconds": 700}},
        ),
        bad=({"spec": {"replicas": -1}}, {"spec": {"strategy": {"type": "Wrong"}}}, {"spec": {"minReadySeconds": 900}}, {"spec": {"replicas": "two"}}),
        status=(
            {"status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 1}}, {"status": {"conditions": CONDITIONS}}, STRATEGIC_CONDITIONS,
            {"status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "readyReplicas": 3}},
        ),
        scale=True,
        removals=(("spec", "replicas"), ("spec", "strategy"), ("spec", "paused"), ("spec", "minReadySeconds")),
    ),
    workload(
        "statefulsets", "StatefulSet",
        bases=(
            {"spec": {"serviceName": "s", **SELECTOR, "template": template()}},
            {"spec": {"replicas": 2, "podManagementPolicy": "Parallel", **SELECTOR, "template": template(), "updateStrategy": {"type": "OnDelete"}}},
            {"spec": {"serviceName": "s", **SELECTOR, "template": template(),
                      "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}},
        ),
        fragments=({"spec": {"replicas": 2}}, {"spec": {"minReadySeconds": 3}}, {"spec": {"revisionHistoryLimit": 2}}),
        bad=({"spec": {"serviceName": "other"}}, {"spec": {"podManagementPolicy": "Never"}}, {"spec": {"replicas": -2}}),
        status=({"status": {"replicas": 1, "observedGeneration": 1}}, {"status": {"replicas": 2, "readyReplicas": 1, "currentRevision": "r1"}}, {"status": {"replicas": 1, "conditions": CONDITIONS}}),
        scale=True,
        removals=(("spec", "replicas"), ("spec", "updateStrategy"), ("spec", "minReadySeconds")),
    ),
    workload(
        "daemonsets", "DaemonSet",
        bases=({"spec": {**SELECTOR, "template": template()}}, {"spec": {**SELECTOR, "template": template(), "updateStrategy": {"rollingUpdate": {"maxUnavailable": "20%"}}}}),
        fragments=({"spec": {"minReadySeconds": 2}}, {"spec": {"revisionHistoryLimit": 1}}, {"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}}}),
        bad=({"spec": {"updateStrategy": {"type": "No"}}}, {"spec": {"template": {"spec": {"restartPolicy": "Never"}}}}),
        status=(
            {"status": {"currentNumberScheduled": 1, "numberMisscheduled": 0, "desiredNumberScheduled": 1, "numberReady": 1}},
            {"status": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 2, "numberReady": 0, "observedGeneration": 1}},
        ),
        removals=(("spec", "minReadySeconds"),),
    ),
    workload(
        "replicasets", "ReplicaSet",
        bases=({"spec": {**SELECTOR, "template": template()}}, {"spec": {"replicas": 2, "minReadySeconds": 1, **SELECTOR, "template": template()}}),
        fragments=({"spec": {"replicas": 4}}, {"spec": {"minReadySeconds": 7}}),
        bad=({"spec": {"replicas": -1}}, {"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}}),
        status=({"status": {"replicas": 1}}, {"status": {"replicas": 2, "readyReplicas": 2, "observedGeneration": 1}}, {"status": {"replicas": 1, "conditions": CONDITIONS}}),
        scale=True,
        removals=(("spec", "replicas"), ("spec", "minReadySeconds")),
    ),
    Kind(
        SORT, "batch", ("v1",), "jobs", "Job",
        bases=(
            {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "nginx"}]}}}},
            {"spec": {"completions": 3, "parallelism": 2, "backoffLimit": 1, "template": template(restartPolicy="OnFailure")}},
            {"spec": {"suspend": True, "completionMode": "Indexed", "completions": 2, "template": template(restartPolicy="Never")}},
        ),
        fragments=(
            {"spec": {"parallelism": 3}}, {"spec": {"backoffLimit": 2}}, {"spec": {"activeDeadlineSeconds": 100}}, {"spec": {"ttlSecondsAfterFinished": 10}},
            {"spec": {"suspend": True}}, {"spec": {"suspend": False}},
        ),
        bad=(
            {"spec": {"completions": 9}}, {"spec": {"parallelism": -1}}, {"spec": {"template": {"spec": {"restartPolicy": "Always"}}}},
            {"spec": {"backoffLimit": -1}}, {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, with_template({"containers": [{"name": "main", "image": "other"}]}),
        ),
        strategic=tuple(map(with_template, STRATEGIC_PODS[:2])),
        status=(
            {"status": {"active": 1}}, {"status": {"active": 1, "ready": 0}},
            {"status": {"conditions": [{"type": "Suspended", "status": "True"}]}},
        ),
        removals=(("spec", "activeDeadlineSeconds"), ("spec", "ttlSecondsAfterFinished")),
        fields=("status.successful=0",),
    ),
    Kind(
        SORT, "batch", ("v1",), "cronjobs", "CronJob",
        bases=(
            {"spec": {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": template(restartPolicy="Never")}}}},
            {"spec": {"schedule": "@daily", "timeZone": "Etc/UTC", "concurrencyPolicy": "Forbid", "jobTemplate": {"spec": {"template": template(restartPolicy="OnFailure")}}}},
        ),
        fragments=(
            {"spec": {"schedule": "0 1 * * *"}}, {"spec": {"suspend": True}}, {"spec": {"successfulJobsHistoryLimit": 1}}, {"spec": {"startingDeadlineSeconds": 60}},
            {"spec": {"jobTemplate": {"spec": {"backoffLimit": 2}}}}, {"spec": {"concurrencyPolicy": "Replace"}},
        ),
        bad=({"spec": {"schedule": "whenever"}}, {"spec": {"timeZone": "Mars/Crater"}}, {"spec": {"concurrencyPolicy": "Maybe"}}, {"spec": {"schedule": "TZ=UTC * * * * *"}}),
        status=({"status": {"lastScheduleTime": "2001-02-03T04:05:06Z"}}, {"status": {"active": [{"kind": "Job", "name": "j", "namespace": "NS"}]}}),
        removals=(("spec", "suspend"), ("spec", "startingDeadlineSeconds")),
    ),
    Kind(
        SORT, "", ("v1",), "pods", "Pod",
        bases=(
            {"spec": {"containers": [{"name": "main", "image": "nginx"}]}},
            {"spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "nginx:1.25"}]}},
            *({"spec": {"containers": [{"name": "main", "image": "nginx"}], **more}} for more in PODS),
            {"spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "nginx"}]}},
        ),
        fragments=(
            {"spec": {"containers": [{"name": "main", "image": "other:2"}]}}, {"spec": {"activeDeadlineSeconds": 50}},
            {"spec": {"tolerations": [{"key": "new", "operator": "Exists"}]}},
        ),
        bad=(
            {"spec": {"nodeSelector": {"a": "b"}}}, {"spec": {"restartPolicy": "OnFailure"}}, {"spec": {"hostname": "Bad_Host"}}, {"spec": {"activeDeadlineSeconds": 0}},
            *({"spec": bad} for bad in BAD_PODS),
        ),
        strategic=({"spec": {"containers": [{"name": "main", "image": "third", "$patch": "merge"}]}}, {"spec": {"tolerations": [{"key": "k2", "operator": "Exists"}]}}),
        status=(
            {"status": {"phase": "Running", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}]}}, {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            {"status": {"conditions": [{"type": "Extra", "status": "False", "reason": "R"}], "message": "m"}}, {"status": {"phase": "Failed", "reason": "Evicted"}},
        ),
        removals=(("spec", "activeDeadlineSeconds"),),
        fields=("spec.nodeName=n1", "status.phase=Running", "status.phase!=Pending", "spec.restartPolicy=Always", "spec.nodeName="),
    ),
)  # fmt: skip
