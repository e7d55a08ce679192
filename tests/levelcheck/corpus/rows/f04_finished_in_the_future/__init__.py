"""kubernetes/kubernetes PR 66840 (in review; and knative/serving#561): a job that has finished in the future is never cleaned up.

The clean-up of finished jobs compares the controller's own clock with a time that others have written. In the first version a time that
lies in the future, as it does where the own clock is behind, was only logged: nothing made the controller look again.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, advance, apply, wait

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "report", "namespace": "default", "annotations": {"corpus.example.com/ttl": "30"}},
    "spec": {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "report:1"}]}},
    },
}

ROW = Row(
    name="F-4",
    bug="kubernetes/kubernetes#66840",
    workload=Workload.of(apply(JOB), wait(), advance(7200), wait()),
    faults=("F17",),
    oracles=("O1", "O6", "O2"),
)
