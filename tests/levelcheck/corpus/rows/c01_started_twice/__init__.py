"""kubernetes/kubernetes#59848: what was deleted long ago is started again, beside its successor.

A node's agent restarts and lists the tasks of its node from an API server that lags behind. It sees one that was deleted long ago and
starts it, while a task of the same name, of which there must be one at a time, runs on another node.

The agent of the other node belongs to the environment.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions, State
from setpoint.levelcheck.workload import Workload, apply, recreate, wait


def task(node: str) -> dict[str, object]:
    return {
        "apiVersion": "corpus.example.com/v1",
        "kind": "Task",
        "metadata": {"name": "db-0", "namespace": "default", "finalizers": ["corpus.example.com/agent"]},
        "spec": {"node": node},
    }


def runs_once(state: State) -> str | None:
    """A name runs on one node at most."""
    running: dict[str, str] = {}
    for container in state.list("containers.corpus.example.com"):
        name, node = container["spec"]["task"], container["spec"]["node"]
        if name in running:
            return f"{name} runs on {running[name]} and on {node}"
        running[name] = node
    return None


ROW = Row(
    name="C1",
    bug="kubernetes/kubernetes#59848",
    workload=Workload.of(apply(task("north")), wait(), recreate(task("south")), wait()),
    faults=("F6",),
    oracles=("O7", "O5"),
    assumptions=Assumptions(lists="old"),
    environment=("tests.levelcheck.corpus.rows.c01_started_twice.south:controller",),
    invariants=(runs_once,),
)
