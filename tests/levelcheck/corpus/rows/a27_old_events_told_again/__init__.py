"""kubernetes-client/python#819: a watch that is cut goes on from an old version, and tells what happened long ago.

The client remembered the version of the item that it was given last by a list, in whatever order that was, and not the version that it had
come to. After a cut it began there again, and told additions, changes and deletions of months. A handler that obeys the types of events
deletes what belongs to an object that was deleted once and has been made again since.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, patch, wait

REPO = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Repo",
    "metadata": {"name": "r", "namespace": "default"},
    "spec": {"text": "one"},
}

ROW = Row(
    name="A27",
    bug="kubernetes-client/python#819",
    workload=Workload.of(apply(REPO), wait(), delete(REPO), wait(), apply(REPO), wait(), patch(REPO, {"spec": {"text": "two"}}), wait()),
    faults=("F9", "F10"),
    oracles=("O5", "O6", "O1"),
    edge=True,
)
