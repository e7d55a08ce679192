"""kubernetes/kubernetes#78124 (and #15203): a load balancer outlives its service.

The service controller kept the services that it had seen in memory. A deletion that it heard of was compared with that memory: what was
not in it was logged and ignored, what was in it had its load balancer removed. A new leader begins with an empty memory. So a service that
was deleted around a restart or a change of leaders kept its load balancer at the cloud provider, and its bill, for ever. The remedy
upstream was a finalizer.
"""

from tests.levelcheck.corpus.row import Row

from setpoint.levelcheck.workload import Workload, apply, delete, wait

from .outside import Cloud

SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "shop", "namespace": "default"},
    "spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": "shop"}},
}

ROW = Row(
    name="A1",
    bug="kubernetes/kubernetes#78124",
    workload=Workload.of(apply(SERVICE), wait(), delete(SERVICE)),
    faults=("F13", "F1", "F15", "F20"),
    oracles=("O8", "O1"),
    edge=True,
    outside={"cloud": Cloud},
)
