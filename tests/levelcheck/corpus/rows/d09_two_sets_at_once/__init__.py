"""m3db/m3db-operator#268: two StatefulSets are rolled at the same time.

The operator rolls one StatefulSet after another, and goes on when the last one has as many ready pods as it is to have. But the counts in a
status are of the spec that `observedGeneration` names, which the operator did not compare: a set that was updated a moment ago still
reports that all is well, and the next one was updated as well.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import State
from setpoint.levelcheck.workload import Workload, apply, patch, wait

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "M3Cluster",
    "metadata": {"name": "m3", "namespace": "default"},
    "spec": {"image": "m3:1"},
}


def one_at_a_time(state: State) -> str | None:
    """At most one of the sets is not as it is to be."""
    moving = []
    for statefulset in state.list("statefulsets.apps"):
        status, wanted = statefulset.get("status", {}), statefulset["spec"].get("replicas", 1)
        counts = [status.get(name, 0) for name in ("updatedReplicas", "readyReplicas", "replicas")]
        if status.get("observedGeneration") != statefulset["metadata"]["generation"] or counts != [wanted] * 3:
            moving.append(statefulset["metadata"]["name"])
    return f"{' and '.join(moving)} are rolled at once" if len(moving) > 1 else None


ROW = Row(
    name="D9",
    bug="m3db/m3db-operator#268",
    workload=Workload.of(apply(CLUSTER), wait(), patch(CLUSTER, {"spec": {"image": "m3:2"}}), wait()),
    faults=("F1", "F3", "F5", "F7", "F11", "F19"),
    oracles=("O7",),
    invariants=(one_at_a_time,),
)
