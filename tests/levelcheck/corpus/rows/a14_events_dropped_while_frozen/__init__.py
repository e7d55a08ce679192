"""zalando-incubator/kopf#255: while another operator seems to be at work, events are dropped, and not looked at later.

Operators tell each other by records that they renew, and freeze while another one's record is alive. A pod that was killed leaves its
record behind, which lives on for a while. Its successor is frozen for that long, drops every event, also those of its initial list, and
looks at nothing anew when it thaws.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, wait

from .outside import Board


def example(name: str) -> dict[str, object]:
    return {
        "apiVersion": "corpus.example.com/v1",
        "kind": "Memo",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"text": name},
    }


ROW = Row(
    name="A14",
    bug="zalando-incubator/kopf#255",
    workload=Workload.of(apply(example("one")), wait(), apply(example("two")), wait()),
    faults=("F1", "F13", "F15"),
    oracles=("O2", "O1"),
    edge=True,
    outside={"board": Board},
)
