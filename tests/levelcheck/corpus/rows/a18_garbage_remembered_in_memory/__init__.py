"""marin-community/marin#7889: what is still to be cleaned up is known to one process alone.

A finished pod is deleted at once. The config map with its program is to go later, when the pod is gone: its name waits in a set in memory.
If the process ends in between, the pod, which alone named the config map, is gone, and so is the set. Nothing looks again.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

PROGRAM = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "program", "namespace": "default"},
    "data": {"main.py": "print(1)"},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "task",
        "namespace": "default",
        "labels": {"app": "task"},
        "annotations": {"corpus.example.com/program": "program", "setpoint.dev/run-for": "1"},
    },
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "python:3"}]},
}

ROW = Row(
    name="A18",
    bug="marin-community/marin#7889",
    workload=Workload.of(apply(PROGRAM), apply(POD), wait()),
    faults=("F1", "F3", "F13"),
    oracles=("O8", "O1"),
    edge=True,
)
