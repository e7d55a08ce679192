"""tektoncd/pipeline#3126: a task runs twice after a label was changed.

The controller knew its task run by the status, and where that named none, by the owner references of what its lister showed. A change of a
label had it run again with a status from before, while the lister did not show the task run yet: neither told of it, and a second one was
created under another random name.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, patch, wait

RUN = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "PipelineRun",
    "metadata": {"name": "release", "namespace": "default"},
    "spec": {"task": "build"},
}

ROW = Row(
    name="D7",
    bug="tektoncd/pipeline#3126",
    workload=Workload.of(apply(RUN), patch(RUN, {"metadata": {"labels": {"team": "shop"}}}), wait()),
    faults=("F5", "F11", "F2", "F3", "F4", "F19"),
    oracles=("O9", "O1", "O5"),
    decisions=2,
    assumptions=Assumptions(own_writes="late"),
    roles={"taskruns.corpus.example.com": lambda run: run["spec"]["task"]},
    depth=2,
)
