"""Kinds of which there are no objects are not watched; from the first one on they are, and nothing is missed in between."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from setpoint.cluster.controllers.kinds import Follower, Kind
from setpoint.controller import ControllerRuntime, Watch
from setpoint.k8s.apps.v1 import Deployment, DeploymentSpec, LabelSelector
from setpoint.k8s.core.v1 import ConfigMap, Container, Namespace, Pod, PodSpec, PodTemplateSpec, Secret
from setpoint.objects import ObjectMeta
from setpoint.testing import Cluster

from .things import Widget, a_map, a_widget


def watched(cluster: Cluster) -> list[str]:
    manager = cluster._plane._manager
    assert manager is not None
    return [informer.info.plural for informer in manager.cache.informers]


def names(cluster: Cluster, kind: type) -> list[str]:
    return [obj.name for obj in cluster.list(kind)]


def test_a_kind_is_watched_from_its_first_object_on(cluster: Cluster) -> None:
    cluster.settle()
    assert "configmaps" not in watched(cluster)
    cluster.create(a_map("first"))
    cluster.settle()
    assert watched(cluster).count("configmaps") == 1
    assert "secrets" not in watched(cluster)


def test_what_is_there_from_the_start_is_watched_from_the_start(cluster: Cluster) -> None:
    cluster.settle()
    assert {"namespaces", "services", "priorityclasses"} <= set(watched(cluster))


def test_dependents_of_first_objects_are_collected(cluster: Cluster) -> None:
    owner = cluster.create(a_map("owner"))
    cluster.create(Secret(metadata=a_map("owned", owner).metadata))
    cluster.delete(owner)
    cluster.settle()
    assert names(cluster, Secret) == []


def test_a_first_object_that_went_before_its_kind_was_watched_leaves_nothing_behind(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Follower._watch

    async def late(self: Follower, kind: Kind) -> None:
        await asyncio.sleep(10)
        await watch(self, kind)

    cluster.create(a_widget("other"))
    cluster.settle()
    monkeypatch.setattr(Follower, "_watch", late)
    owner = cluster.create(a_map("owner"))
    cluster.create(a_widget("owned", owner))
    cluster.advance(timedelta(seconds=1))
    cluster.delete(owner)
    cluster.advance(timedelta(seconds=1))
    assert names(cluster, Widget) == ["other", "owned"]
    cluster.settle()
    assert names(cluster, Widget) == ["other"]


def test_what_loses_its_owner_while_its_kind_is_waking_is_collected(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = ControllerRuntime.add_watch

    async def late(self: ControllerRuntime, added: Watch) -> None:
        if self.controller.name == "namespace":
            await asyncio.sleep(10)
        await watch(self, added)

    owner = cluster.create(a_widget("owner"))
    cluster.settle()
    monkeypatch.setattr(ControllerRuntime, "add_watch", late)
    cluster.create(a_map("owned", owner))
    cluster.advance(timedelta(seconds=1))
    cluster.delete(owner)
    cluster.settle()
    assert names(cluster, ConfigMap) == []


def test_who_watches_a_kind_that_could_not_be_woken_is_left_alone(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, failures = ControllerRuntime.add_watch, iter([OSError("once")])

    async def failing(self: ControllerRuntime, added: Watch) -> None:
        if added.kind is Pod and (error := next(failures, None)) is not None:
            raise error
        await watch(self, added)

    monkeypatch.setattr(ControllerRuntime, "add_watch", failing)
    labels = {"app": "web"}
    pods = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=PodSpec(containers=[Container(name="main", image="main:1")]))
    spec = DeploymentSpec(replicas=2, selector=LabelSelector(match_labels=labels), template=pods)
    web = cluster.create(Deployment(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
    cluster.settle()
    assert cluster.refresh(web).status.ready_replicas == 2
    assert next(failures, None) is None
    assert watched(cluster).count("pods") == 1


def test_a_kind_that_could_not_be_watched_is_tried_again(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, failures = Follower._watch, iter([OSError("once"), OSError("twice")])

    async def failing(self: Follower, kind: Kind) -> None:
        if (error := next(failures, None)) is not None:
            raise error
        await watch(self, kind)

    monkeypatch.setattr(Follower, "_watch", failing)
    owner = cluster.create(a_map("owner"))
    cluster.create(a_map("owned", owner))
    cluster.settle(timedelta(minutes=10))
    cluster.delete(owner)
    cluster.settle()
    assert names(cluster, ConfigMap) == []


def test_a_namespace_waits_for_first_objects_in_it(cluster: Cluster) -> None:
    space = cluster.create(Namespace(metadata=ObjectMeta(name="space")))
    held: Any = cluster.create(a_map("held", namespace="space", finalizers=["example.com/held"]))
    cluster.delete(space)
    cluster.settle(timedelta(seconds=5))
    assert names(cluster, Namespace).count("space") == 1
    held = cluster.refresh(held)
    held.metadata.finalizers = []
    cluster.update(held)
    cluster.advance(timedelta(seconds=10))  # it has heard, and has not looked again after a minute
    assert "space" not in names(cluster, Namespace)
