"""Namespaces that come and go while a process runs."""

from __future__ import annotations

from datetime import timedelta

from setpoint import Context, Controller, ObjectMeta, Request, Result
from setpoint.controller import RunStarted
from setpoint.k8s.core.v1 import ConfigMap, Namespace
from setpoint.manager import Options

from .planes import Embedded, Real
from .scenes import Thing, ThingSpec


def _a_while(cluster: Embedded | Real) -> timedelta:
    """Long enough for whatever is not to happen."""
    return timedelta(seconds=10) if cluster.real else timedelta(hours=2)


def _thing(cluster: Embedded | Real, namespace: str, name: str) -> Thing:
    made: Thing = cluster.create(Thing(metadata=ObjectMeta(name=name, namespace=namespace), spec=ThingSpec()))
    return made


def _mine(cluster: Embedded | Real, runs: list[str]) -> list[str]:
    """Runs, by the last part of the namespace's name."""
    return sorted({run.removeprefix(cluster.namespace) for run in runs})


def _tenant(cluster: Embedded | Real, **labels: str) -> str:
    name = f"{cluster.namespace}-tenant"
    cluster.create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))
    return name


def _keeper(runs: list[str]) -> Controller[Thing]:
    """Comes back to each Thing every hour."""
    keeper = Controller(Thing, name="keeper", owns=[ConfigMap])

    @keeper.reconciler
    async def keep(ctx: Context, request: Request) -> Result:
        thing = await ctx.get(Thing, request)
        runs.append(f"{request.namespace} {request.name}{'' if thing else ' is gone'}")
        return Result(requeue_after=3600.0)

    return keeper


def test_a_new_tenant_takes_no_restart(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#2829, #2585, #1590, #2254: which namespaces are watched can only be said at the start, so that the
    operator is started anew for every tenant.
    """
    tenant, runs = _tenant(cluster), list[str]()
    for namespace in (cluster.namespace, tenant):
        _thing(cluster, namespace, "there")
    process = cluster.host(_keeper(runs), options=Options(namespaces=(cluster.namespace,), grace=0.0))
    cluster.until(lambda: runs)
    cluster.advance(timedelta(seconds=5))
    assert _mine(cluster, runs) == [" there"]
    cluster.within(lambda: process.manager.set_namespaces([cluster.namespace, tenant]))
    cluster.until(lambda: len(runs) > 1)
    _thing(cluster, tenant, "new")
    cluster.until(lambda: len(runs) > 2)
    assert _mine(cluster, runs) == [" there", "-tenant new", "-tenant there"]
    assert runs.count(f"{cluster.namespace} there") == 1, "nobody else's objects are gone through again"


def test_a_tenant_that_leaves_is_let_go_and_not_taken_for_deleted(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#2829, #2254: what is not watched any more goes on holding watches, memory and timers; or it is
    told of as deleted, and cleaned up after.
    """
    tenant, runs = _tenant(cluster), list[str]()
    for namespace in (cluster.namespace, tenant):
        _thing(cluster, namespace, "there")
    process = cluster.host(_keeper(runs), options=Options(namespaces=(cluster.namespace, tenant), grace=0.0))
    cluster.until(lambda: len(runs) == 2)
    cluster.within(lambda: process.manager.set_namespaces([cluster.namespace]))
    cluster.advance(timedelta(seconds=5))
    runs.clear()
    asked = len(process.line.operations)
    found = cluster.get(Thing, f"{tenant}/there")
    cluster.change(found, lambda found: setattr(found.spec, "value", "changed"))
    _thing(cluster, tenant, "new")
    cluster.delete(found)
    cluster.advance(_a_while(cluster))
    assert [run for run in runs if run.startswith(tenant)] == []
    assert [op for op in process.line.operations[asked:] if op.namespace == tenant] == []
    assert not process.line.open_streams(tenant)
    for informer in process.manager.cache.informers:
        assert informer.list(namespace=tenant) == []
    started = [run for run in cluster.heard(RunStarted, controller="keeper") if run.request.namespace == tenant]
    assert len(started) == 1


def test_tenants_that_are_told_by_a_label_come_and_go_with_it(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#1590, #2254: nor can it be said which namespaces are meant but by their names."""
    mark = f"pains.example.com/{cluster.namespace}"
    tenant, runs = _tenant(cluster), list[str]()
    _thing(cluster, tenant, "there")
    process = cluster.host(_keeper(runs), options=Options(namespace_labels=mark, grace=0.0))
    cluster.until(lambda: process.manager.has_started)
    assert runs == []
    space = cluster.get(Namespace, tenant)
    cluster.change(space, lambda found: found.metadata.labels.update({mark: "yes"}))
    cluster.until(lambda: runs)
    cluster.change(space, lambda found: found.metadata.labels.pop(mark))
    cluster.until(lambda: not process.line.open_streams(tenant))
    runs.clear()
    _thing(cluster, tenant, "new")
    cluster.advance(_a_while(cluster))
    assert runs == []
