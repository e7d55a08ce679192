"""fluxcd/helm-controller#149 and #644 (and k0sproject/k0s#8353): a release that was interrupted is never finished.

An upgrade first recorded that it was under way, then did its work, then recorded that it was done. When the process was killed in between,
each later reconcile found that another operation was in progress, and gave up. There was no other operation; somebody had to remove the
record by hand.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

RELEASE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Release",
    "metadata": {"name": "shop", "namespace": "default"},
    "spec": {"version": "1.0"},
}

ROW = Row(
    name="B14",
    bug="fluxcd/helm-controller#149",
    workload=Workload.of(apply(RELEASE), wait(), patch(RELEASE, {"spec": {"version": "1.1"}}), wait()),
    faults=("F1", "F2", "F3", "F4", "F19"),
    oracles=("O2", "O1", "O10", "O14"),
)
