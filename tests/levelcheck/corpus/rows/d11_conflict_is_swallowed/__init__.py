"""FluxCD, as found by tgoodwin/kamera (PR 76): an observed generation that stays behind for ever.

At the end of a reconcile the status is patched, on condition that the object is still the version that was read. Where it is not, the
server answers with a conflict, which was logged and forgotten. What had changed the object was of no interest to the controller, which
runs for changes of the spec alone: so nothing made it run again.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, patch, wait

SOURCE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "GitSource",
    "metadata": {"name": "config", "namespace": "default"},
    "spec": {"url": "https://git.example.com/a"},
}

ROW = Row(
    name="D11",
    bug="tgoodwin/kamera#76",
    workload=Workload.of(apply(SOURCE), wait(), patch(SOURCE, {"spec": {"url": "https://git.example.com/b"}}), wait()),
    faults=("F4", "F5", "F19"),
    oracles=("O14", "O1", "O2"),
)
