"""volcano-sh/volcano#5986: a late word of a pod that is gone removes its successor from the cache.

The controller keeps what it hears of pods in a cache of its own, by the pods' names. A pod is deleted and created again under its name.
What is heard late of the old one then overwrites the entry of the new one, and a job does not know its own pod any more.

Here there is one watch for each queue, as where caches are sharded, and the new pod is in another queue than the old one: so what each of
the watches tells is in order, and the two are not.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, recreate, wait

JOB = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "GangJob",
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"members": 1},
}


def pod(queue: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train-0", "namespace": "default", "labels": {"job": "train", "queue": queue}},
        "spec": {"containers": [{"name": "main", "image": "train:1"}]},
    }


ROW = Row(
    name="C13",
    bug="volcano-sh/volcano#5986",
    workload=Workload.of(apply(JOB), apply(pod("slow")), wait(), recreate(pod("fast")), wait()),
    faults=("F7", "F9", "F14", "F5", "F8"),
    oracles=("O1", "O14", "O2"),
)
