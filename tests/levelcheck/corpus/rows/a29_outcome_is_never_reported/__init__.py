"""tektoncd/pipelines-as-code#479: who started a run follows it, and if that process ends, its outcome is never reported.

A push starts a pipeline. The controller then waited for its end within the same process, to report it. After a restart the push counts as
started, and nothing looks for what has become of it. (That the wait was inside the process is inferred from the thread.)
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

PUSH = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Push",
    "metadata": {"name": "main", "namespace": "default"},
    "spec": {"commit": "c0ffee"},
}

ROW = Row(
    name="A29",
    bug="tektoncd/pipelines-as-code#479",
    workload=Workload.of(apply(PUSH), wait()),
    faults=("F1", "F2", "F3", "F4"),
    oracles=("O2", "O1", "O14"),
    edge=True,
)
