"""Built-in kinds of the whole cluster."""

from .custom import definition
from .kind import Kind

SORT = "cluster"

KINDS = (
    Kind(
        SORT, "", ("v1",), "namespaces", "Namespace", namespaced=False,
        bases=({}, {"spec": {"finalizers": ["kubernetes"]}}),
        fragments=({"metadata": {"labels": {"team": "a"}}}, {"metadata": {"annotations": {"note": "n"}}}),
        bad=({"spec": {"finalizers": ["nonsense"]}}, {"metadata": {"labels": {"kubernetes.io/metadata.name": "else"}}}),
        strategic=({"metadata": {"labels": {"team": None}}},),
        status=({"status": {"conditions": [{"type": "NamespaceContentRemaining", "status": "True", "reason": "R", "message": "m", "lastTransitionTime": "2001-02-03T04:05:06Z"}]}}, {"status": {"phase": "Active"}}),
        fields=("status.phase=Active",),
        without=("deletecollection",),
    ),
    Kind(
        SORT, "", ("v1",), "nodes", "Node", namespaced=False,
        bases=({}, {"spec": {"podCIDR": "10.2.0.0/24", "taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": True}}),
        fragments=({"spec": {"unschedulable": True}}, {"spec": {"taints": [{"key": "k2", "value": "v", "effect": "NoExecute"}]}}, {"spec": {"providerID": "p"}}),
        bad=({"spec": {"taints": [{"key": "k", "effect": "Never"}]}}, {"spec": {"podCIDR": "x"}}, {"spec": {"providerID": "changed"}}),
        strategic=({"spec": {"taints": [{"$patch": "replace"}, {"key": "only", "effect": "NoSchedule"}]}}, {"spec": {"unschedulable": None}}),
        status=(
            {"status": {"capacity": {"cpu": "4", "memory": "8Gi"}, "conditions": [{"type": "Ready", "status": "True"}]}},
            {"status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.9"}]}}, {"status": {"phase": "Running"}},
        ),
        removals=(("spec", "unschedulable"), ("spec", "taints")),
        fields=("spec.unschedulable=true",),
    ),
    Kind(
        SORT, "", ("v1",), "persistentvolumes", "PersistentVolume", namespaced=False,
        bases=(
            {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
            {"spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteMany"], "nfs": {"server": "s", "path": "/y"}, "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "c"}},
        ),
        fragments=({"spec": {"persistentVolumeReclaimPolicy": "Retain"}}, {"spec": {"capacity": {"storage": "2Gi"}}}, {"spec": {"mountOptions": ["ro"]}}),
        bad=({"spec": {"hostPath": {"path": "/../x"}}}, {"spec": {"persistentVolumeReclaimPolicy": "Burn"}}, {"spec": {"capacity": {"storage": "0"}}}, {"spec": {"volumeMode": "Q"}}),
        status=({"status": {"phase": "Available"}}, {"status": {"phase": "Failed", "message": "m", "reason": "R"}}),
        removals=(("spec", "mountOptions"),),
    ),
    Kind(
        SORT, "storage.k8s.io", ("v1",), "storageclasses", "StorageClass", namespaced=False,
        bases=({"provisioner": "example.com/p"}, {"provisioner": "example.com/p", "parameters": {"a": "b"}, "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"}),
        fragments=({"allowVolumeExpansion": True}, {"mountOptions": ["debug"]}),
        bad=({"provisioner": "other"}, {"reclaimPolicy": "Burn"}, {"volumeBindingMode": "Later"}, {"parameters": {"c": "d"}}),
        removals=(("mountOptions",), ("allowVolumeExpansion",)),
    ),
    Kind(
        SORT, "networking.k8s.io", ("v1",), "ingressclasses", "IngressClass", namespaced=False,
        bases=({"spec": {"controller": "example.com/c"}}, {"spec": {"controller": "example.com/c", "parameters": {"kind": "K", "name": "n"}}}),
        fragments=({"spec": {"parameters": {"kind": "K2", "name": "m"}}}, {"spec": {"parameters": {"apiGroup": "g.example.com", "kind": "K", "name": "n"}}}),
        bad=({"spec": {"controller": "other.com/c"}}, {"spec": {"controller": "no slash"}}, {"spec": {"parameters": {"kind": "K", "name": "n", "scope": "Room"}}}),
        removals=(("spec", "parameters"),),
    ),
    Kind(
        SORT, "rbac.authorization.k8s.io", ("v1",), "clusterroles", "ClusterRole", namespaced=False,
        bases=({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]}, {"rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}], "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"never": "seen"}}]}}),
        fragments=({"rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]},),
        bad=({"rules": [{"verbs": ["get"]}]}, {"rules": [{"apiGroups": [""], "resources": ["x"], "nonResourceURLs": ["/y"], "verbs": ["get"]}]}),
        removals=(("aggregationRule",),),
    ),
    Kind(
        SORT, "rbac.authorization.k8s.io", ("v1",), "clusterrolebindings", "ClusterRoleBinding", namespaced=False,
        bases=({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "none"}, "subjects": [{"kind": "User", "name": "u"}]},),
        fragments=({"subjects": [{"kind": "Group", "name": "g"}]}, {"subjects": [{"kind": "ServiceAccount", "name": "s", "namespace": "NS"}]}),
        bad=({"roleRef": {"name": "changed"}}, {"subjects": [{"kind": "ServiceAccount", "name": "s"}]}),
        removals=(("subjects",),),
    ),
    Kind(
        SORT, "scheduling.k8s.io", ("v1",), "priorityclasses", "PriorityClass", namespaced=False,
        bases=({"value": 10}, {"value": -5, "preemptionPolicy": "Never", "description": "d"}),
        fragments=({"description": "e"}, {"description": "f"}),
        bad=({"value": 11}, {"preemptionPolicy": "Perhaps"}, {"value": 2000000000}),
        removals=(("description",),),
    ),
    Kind(
        SORT, "apiextensions.k8s.io", ("v1",), "customresourcedefinitions", "CustomResourceDefinition", namespaced=False,
        bases=(
            definition("Thing", "things", {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string", "default": "x"}}}}}),
            definition("Thing", "things", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, scope="Cluster", shortNames=["NS"]),
        ),
        fragments=({"spec": {"names": {"categories": ["cat"]}}}, {"spec": {"names": {"singular": "onething"}}}, {"metadata": {"annotations": {"x": "y"}}}),
        bad=({"spec": {"group": "else.example.com"}}, {"spec": {"scope": "Galaxy"}}, {"spec": {"names": {"plural": "Bad_"}}}, {"spec": {"versions": []}}, {"spec": {"preserveUnknownFields": True}}),
        without=("watch", "status", "generateName", "deletecollection", "settles"),
    ),
)  # fmt: skip
