"""State in a module global: the serial numbers of certificates, by which they are to be revoked.

A process that starts while the object is on its way out does not know the number. It believes that it has nothing to revoke, and lets the
object go: the certificate stays valid.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Workload, apply, delete, wait

from .outside import Authority

HOST = {
    "apiVersion": "isolation.example.com/v1",
    "kind": "Host",
    "metadata": {"name": "www", "namespace": "default"},
    "spec": {"domain": "www.example.com"},
}

ROW = Row(
    name="a module global",
    bug="the serial number of what is to be revoked is kept in a module global",
    workload=Workload.of(apply(HOST), wait(), delete(HOST)),
    faults=("F1", "F2", "F12", "F13", "F20"),
    oracles=("O1", "O8"),
    outside={"authority": Authority},
)
