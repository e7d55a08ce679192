"""kubernetes/cloud-provider-gcp#981 (and reddit/achilles-sdk PR 129): it tries for ever to add its finalizer to a dying object.

When the object was being deleted and its own finalizer was still there, the controller cleaned up and took it off. Another controller's
finalizer kept the object, and the next change of it had this one run again: there was no finalizer of its own now, so it went the way of a
living object and added it. The server refuses that for an object that is being deleted, as invalid and not as a conflict, each time anew.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, patch, wait

from .outside import Cloud

GATEWAY = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Gateway",
    "metadata": {"name": "edge", "namespace": "default", "finalizers": ["audit.example.com/hold"]},
    "spec": {"port": 80},
}

ROW = Row(
    name="E3",
    bug="kubernetes/cloud-provider-gcp#981",
    workload=Workload.of(apply(GATEWAY), wait(), delete(GATEWAY), wait(), patch(GATEWAY, {"metadata": {"finalizers": None}}), wait()),
    faults=("F0", "F18", "F11"),
    oracles=("O10", "O11", "O2", "O16"),
    outside={"cloud": Cloud},
)
