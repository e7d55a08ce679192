"""rabbitmq/cluster-operator#928 and its like, xlab-uiuc/acto#11 (and #89 of percona, StarRocks#581): what is not wanted any more stays.

The operator merged the annotations that are wanted into those that are there. An annotation that the user takes out of the spec stays on
the child for ever, so that what there is depends on all that was ever wanted.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait


def cluster(annotations: dict[str, str]) -> dict[str, object]:
    return {
        "apiVersion": "corpus.example.com/v1",
        "kind": "RabbitmqCluster",
        "metadata": {"name": "mq", "namespace": "default"},
        "spec": {"annotations": annotations},
    }


ROW = Row(
    name="H1",
    bug="xlab-uiuc/acto#11",
    workload=Workload.of(apply(cluster({"team": "shop", "tier": "gold"})), wait(), apply(cluster({"team": "shop"})), wait()),
    faults=("F0",),
    oracles=("O12",),
    verdict="PATH-DEPENDENT",
)
