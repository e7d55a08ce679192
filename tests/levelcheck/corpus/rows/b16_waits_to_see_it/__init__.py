"""cert-manager/cert-manager#3565: a request that is slow to show in the cache is made twice, and then neither is used.

After the controller had created a request, under a random name, it waited until its cache showed it. If that took too long the reconcile
failed and was tried again; the cache still showed nothing, so another request was created. Once it saw both it refused to choose, for ever.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck import Assumptions
from setpoint.levelcheck.workload import Workload, apply, wait

CERTIFICATE = {
    "apiVersion": "corpus.example.com/v1",
    "kind": "Certificate",
    "metadata": {"name": "shop", "namespace": "default"},
    "spec": {"domain": "shop.example.com"},
}

ROW = Row(
    name="B16",
    bug="cert-manager/cert-manager#3565",
    workload=Workload.of(apply(CERTIFICATE), wait()),
    faults=("F5", "F3"),
    oracles=("O9", "O2", "O1", "O10", "O5"),
    decisions=2,
    assumptions=Assumptions(own_writes="late"),
    roles={"certificaterequests.corpus.example.com": lambda request: "request"},
)
