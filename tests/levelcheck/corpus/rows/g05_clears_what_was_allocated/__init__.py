"""pravega/zookeeper-operator, from Sieve's paper (section 5.2): a port that changes with each reconcile.

The operator wrote the service as it wants it over the one that is there, without the port that the cluster had allocated for it. The port
was thus given back, and another one was allocated. (How it does so inside is inferred. Today's API server keeps the ports of services in
such a case, so here somebody else allocates: a controller of the environment, for another kind.)
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

ENSEMBLE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Ensemble",
    "metadata": {"name": "zk", "namespace": "default"},
    "spec": {"replicas": 3},
}

ROW = Row(
    name="G5",
    bug="pravega/zookeeper-operator (Sieve, section 5.2)",
    workload=Workload.of(apply(ENSEMBLE), wait()),
    faults=("F0",),
    oracles=("O4", "O11", "O2", "O3"),
    environment=("tests.levelcheck.corpus.rows.g05_clears_what_was_allocated.allocator:controller",),
)
