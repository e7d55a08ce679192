"""rabbitmq/cluster-operator#782: after a crash in the middle of a resize the volumes stay small.

To enlarge the volumes the operator compared the size in the StatefulSet with the one wanted. If it was smaller, it deleted the StatefulSet
(its templates cannot be changed), enlarged the claims, and made the StatefulSet anew with the new size. When it crashed after the first of
these, it found no StatefulSet after its start, made one with the new size, and from then on the comparison said that all was well. The
claims were never looked at again.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "expandable"},
    "provisioner": "setpoint.dev/simulated",
    "allowVolumeExpansion": True,
}
CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "RabbitmqCluster",
    "metadata": {"name": "mq", "namespace": "default"},
    "spec": {"storage": "10Gi"},
}

ROW = Row(
    name="B1",
    bug="rabbitmq/cluster-operator#782",
    workload=Workload.of(
        apply(STORAGE_CLASS),
        apply(CLUSTER),
        wait(),
        patch(CLUSTER, {"spec": {"storage": "15Gi"}}),
        wait(),
    ),
    faults=("F1", "F2", "F3", "F4", "F12", "F19"),
    oracles=("O1",),
)
