"""kubermatic/kubermatic#6759 (and tigera/operator PR 4492, nolar/kopf#1106): one controller takes away the finalizer of another.

To add its own finalizer the controller sent a merge patch of the whole list, made from the copy in its cache. A merge patch replaces lists
and says nothing of the version that it was made from. So a finalizer that somebody else had added in the meantime was gone, and with it
the promise that the object waits for that one's clean-up.

Here a cluster is provisioned once its credentials are there. A backup controller, which puts a finalizer of its own on each cluster,
belongs to the environment.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import State
from setpoint.levelcheck.workload import Workload, advance, apply, wait

from .kinds import BACKUP, PROTECTED

CLUSTER = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Cluster",
    "metadata": {"name": "prod", "namespace": "default"},
    "spec": {"region": "north"},
}
CREDENTIALS = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "prod", "namespace": "default"},
    "stringData": {"token": "t0ken"},
}


def foreign_finalizer_stays(state: State) -> str | None:
    """What the backup controller has put on a cluster is there until it takes it off."""
    for cluster in state.list("clusters.corpus.example.com"):
        metadata = cluster["metadata"]
        lives = "deletionTimestamp" not in metadata  # of a cluster that is deleted the backup controller lets go by itself
        if lives and PROTECTED in metadata.get("annotations", {}) and BACKUP not in metadata.get("finalizers", []):
            return f"the finalizer of the backup controller was taken off Cluster {metadata['name']}"
    return None


ROW = Row(
    name="E1",
    bug="kubermatic/kubermatic#6759",
    workload=Workload.of(apply(CLUSTER), advance(1), apply(CREDENTIALS), wait()),
    faults=("F5", "F7", "F19", "F8", "F14"),
    oracles=("O7", "O1", "O8"),
    environment=("tests.levelcheck.corpus.rows.e01_foreign_finalizer_is_lost.backup:controller",),
    invariants=(foreign_finalizer_stays,),
)
