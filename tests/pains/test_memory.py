"""What a cache costs that nobody asked for, and what it costs to read objects."""

from __future__ import annotations

import subprocess
import sys
import time

import msgspec

from setpoint import Context, Controller, Request
from setpoint.cache.reflector import read_page
from setpoint.k8s.apps.v1 import ReplicaSet
from setpoint.k8s.core.v1 import ConfigMap, Pod, Secret
from setpoint.objects import decode

from .planes import Embedded, Real
from .scenes import Thing


def test_reading_a_kind_that_was_not_declared_watches_nothing(cluster: Embedded | Real) -> None:
    """k8ssandra/k8ssandra-operator#1752: reads of kinds that nobody had declared started informers for the whole cluster. With its
    6,500 pods, the operator was killed for want of memory as it started.
    """
    found: list[object] = []
    reading = Controller(Thing, name="reading", owns=[ConfigMap])

    @reading.reconciler
    async def read(ctx: Context, request: Request) -> None:
        found.append(await ctx.get(Secret, "wanted", namespace=request.namespace))
        found.append(await ctx.list(Pod, namespace=request.namespace))

    cluster.create(Secret(metadata=cluster.meta("wanted")))
    cluster.thing()
    line = cluster.launch(reading)
    cluster.settle()
    assert found[0] is not None
    assert found[1] == []
    assert [op.verb for plural in ("secrets", "pods") for op in line.asked("watch", "list", "get", plural=plural)] == ["get", "list"]
    assert {informer.info.plural for informer in cluster.managers[0].cache.informers} == {"things", "configmaps"}


def test_watching_large_secrets_for_their_names_keeps_none_of_them(cluster: Embedded | Real) -> None:
    """prometheus-operator/prometheus-operator#5410, cert-manager/cert-manager#4722: two hundred Secrets of a megabyte each kill an operator
    that only wants to know their names. The one Secret that is needed is read live.
    """
    reading, read = Controller(Thing, name="reading"), dict[str, int]()
    reading.watch(Secret, metadata_only=True, map=lambda secret: [Request(secret.namespace, "a")])

    @reading.reconciler
    async def look(ctx: Context, request: Request) -> None:
        secret = await ctx.get(Secret, f"{request.namespace}/secret-7")
        if secret is not None:
            read[secret.name] = len(secret.data["blob"])

    cluster.thing()
    for number in range(20):
        cluster.create(Secret(metadata=cluster.meta(f"secret-{number}"), data={"blob": bytes(150_000)}))
    line = cluster.launch(reading)
    cluster.settle()
    (informer,) = [informer for informer in cluster.managers[0].cache.informers if informer.info.plural == "secrets"]
    kept = [data for data in informer.list(namespace=cluster.namespace) if b"secret-" in data]
    assert len(kept) == 20
    assert sum(len(data) for data in kept) < 20 * 1500  # names, UIDs, and who manages which fields
    assert informer.size < 20 * 2500
    assert read == {"secret-7": 150_000}
    assert len(line.asked("get", plural="secrets")) <= 2
    assert line.received["secrets"] < 20 * 2500 + 2 * 250_000


def test_importing_the_framework_is_quick_and_loads_no_kind_that_is_not_used() -> None:
    """tomplus/kubernetes_asyncio#293, kubernetes-client/python#771: an import costs 17 seconds with some models, and 35 to 40 MB."""
    program = (
        "import sys, time; before = time.process_time(); import setpoint; "
        "from setpoint import Controller, Resource, Struct; from setpoint.k8s.core.v1 import ConfigMap; "
        "kinds = [name for name in sys.modules if name.startswith('setpoint.k8s.') and name.count('.') > 2]; "
        "print(time.process_time() - before, *kinds, *[line for line in open('/proc/self/status') if line.startswith('VmRSS')])"
    )
    told = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert float(told[0]) < 2.0  # a tenth of that on an idle machine
    assert not [name for name in told if ".apps." in name or ".batch." in name], told
    assert int(told[-2]) < 80 * 1024, "kB, Python's own ten thousand among them"


def _replica_set() -> bytes:
    """An object of the size that ReplicaSets have, 3 KB; NUMBER stands for its number."""
    env = [{"name": f"VARIABLE_{n}", "value": f"value {n} of NUMBER"} for n in range(20)]
    container = {"image": "registry.example.com/team/image:1.2.3", "env": env, "resources": {"limits": {"cpu": "100m"}}}
    containers = [{**container, "name": name} for name in ("main", "sidecar")]
    template = {"metadata": {"labels": {"app": "app-NUMBER"}}, "spec": {"containers": containers}}
    metadata = {"name": "set-NUMBER", "namespace": "default", "uid": "uid-NUMBER", "resourceVersion": "1NUMBER"}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "app-NUMBER"}}, "template": template}
    return msgspec.json.encode({"metadata": metadata, "spec": spec, "status": {"replicas": 1}})


def test_a_list_of_five_thousand_objects_is_read_in_no_time() -> None:
    """kubernetes-client/python#1921, tomplus/kubernetes_asyncio#293: listing 3,661 ReplicaSets takes 30 seconds, nearly all
    to build models. Here the list is split into bytes, and each of its objects is read as its class."""
    one = _replica_set()
    items = b",".join(one.replace(b"NUMBER", str(number).encode()) for number in range(5000))
    body = b'{"kind": "ReplicaSetList", "metadata": {"resourceVersion": "5000"}, "items": [%b]}' % items
    before = time.process_time()
    page = read_page(body)
    objects = [decode(ReplicaSet, data) for data in page.items]
    seconds = time.process_time() - before
    assert len(objects) == 5000
    assert objects[4999].spec.template.spec.containers[1].env[19].value == "value 19 of 4999"
    assert seconds < 3.0  # a tenth of that on an idle machine
