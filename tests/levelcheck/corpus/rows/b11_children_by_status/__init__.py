"""tektoncd/pipeline#2558: a task runs twice, because its run is known only from a status that was not written.

The controller found the task run of a pipeline run by the name in the pipeline run's own status, and nowhere else. It created the task run
under a random name and then wrote the status. If that failed, the next run found no name and created another task run, and the first one
ran on beside it.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

RUN = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "PipelineRun",
    "metadata": {"name": "release", "namespace": "default"},
    "spec": {"task": "build"},
}

ROW = Row(
    name="B11",
    bug="tektoncd/pipeline#2558",
    workload=Workload.of(apply(RUN), wait()),
    faults=("F1", "F2", "F3", "F4", "F19"),
    oracles=("O9", "O1", "O5"),
    roles={"taskruns.corpus.example.com": lambda run: run["spec"]["task"]},
)
