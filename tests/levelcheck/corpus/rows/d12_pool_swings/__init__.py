"""opensandbox-group/OpenSandbox#1423: a pool that creates and deletes pods for ever, some 2,200 a minute.

The pool counted only pods that were ready when it looked whether there were enough, so those that were about to start were created once
more. What was too much was then deleted at one blow, all that was idle, while creation went in small steps. Each of the deletions was
another occasion to see too few. Once there was one pod too many, this went on for ever; two that become ready one after the other are
enough.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

POOL = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Pool",
    "metadata": {"name": "warm", "namespace": "default"},
    "spec": {"ready": 2},
}

ROW = Row(
    name="D12",
    bug="opensandbox-group/OpenSandbox#1423",
    workload=Workload.of(apply(POOL), wait()),
    faults=("F0",),
    oracles=("O2", "O11", "O16"),
)
