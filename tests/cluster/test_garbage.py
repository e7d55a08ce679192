"""Garbage collection, from the outside."""

from __future__ import annotations

from datetime import timedelta

from setpoint.k8s.apiextensions.v1 import CustomResourceDefinition
from setpoint.k8s.core.v1 import ConfigMap, Event
from setpoint.testing import Cluster

from .things import Widget, a_map, a_realm, a_widget, reference

SOON = timedelta(seconds=1)


def names(cluster: Cluster, kind: type) -> list[str]:
    return [obj.name for obj in cluster.list(kind)]


def deletions(cluster: Cluster) -> list[str]:
    return [write for write in cluster.writes if write.startswith("delete ") and not write.endswith("setpoint-test")]


def test_what_an_object_owned_goes_with_it_through_several_levels_and_kinds(cluster: Cluster) -> None:
    top = cluster.create(a_widget("top"))
    middle = cluster.create(a_map("middle", top))
    low = cluster.create(a_widget("low", middle))
    cluster.create(a_map("lowest", low))
    cluster.create(a_map("stranger"))
    cluster.settle()
    cluster.delete(top)
    cluster.settle()
    assert names(cluster, ConfigMap) == ["stranger"]
    assert names(cluster, Widget) == []


def test_nothing_is_deleted_while_its_owner_lives(cluster: Cluster) -> None:
    owner = cluster.create(a_widget("owner"))
    cluster.create(a_map("owned", owner))
    cluster.settle()
    owner = cluster.refresh(owner)
    owner.spec.size = 5
    cluster.update(owner)
    cluster.settle(timedelta(hours=1))
    assert names(cluster, ConfigMap) == ["owned"]


def test_a_successor_of_the_same_name_is_another_owner(cluster: Cluster) -> None:
    first = cluster.create(a_map("owner"))
    cluster.create(a_widget("of-the-first", first))
    cluster.settle()
    cluster.delete(first)
    second = cluster.create(a_map("owner"))
    cluster.create(a_widget("of-the-second", second))
    late = a_widget("of-the-first-too", second)
    late.metadata.owner_references[0].uid = first.uid
    cluster.create(late)
    cluster.settle()
    assert names(cluster, Widget) == ["of-the-second"]


def test_an_object_that_comes_after_its_owner_has_gone_goes_too(cluster: Cluster) -> None:
    owner = cluster.create(a_map("owner"))
    cluster.settle()
    cluster.delete(owner)
    cluster.settle()
    cluster.create(a_widget("late", owner))
    cluster.settle()
    assert names(cluster, Widget) == []


def test_while_some_owners_are_left_only_the_references_to_the_others_go(cluster: Cluster) -> None:
    staying, leaving = cluster.create(a_widget("staying")), cluster.create(a_map("leaving"))
    shared = cluster.create(a_map("shared", staying, leaving))
    cluster.settle()
    cluster.delete(leaving)
    cluster.settle()
    assert cluster.refresh(shared).metadata.owner_references == [reference(staying)]
    cluster.delete(staying)
    cluster.settle()
    assert names(cluster, ConfigMap) == []


def test_a_cluster_scoped_owner_owns_what_is_in_namespaces(cluster: Cluster) -> None:
    realm = cluster.create(a_realm("realm"))
    cluster.create(a_map("owned", realm))
    cluster.settle()
    assert names(cluster, ConfigMap) == ["owned"]
    cluster.delete(realm)
    cluster.settle()
    assert names(cluster, ConfigMap) == []


def test_a_cluster_scoped_object_is_never_collected_for_an_owner_in_a_namespace(cluster: Cluster) -> None:
    owner = cluster.create(a_map("owner"))
    realm = cluster.create(a_realm("realm", owner))
    cluster.settle()
    cluster.delete(owner)
    cluster.settle()
    assert cluster.refresh(realm).metadata.owner_references == [reference(owner)]
    assert {event.reason for event in cluster.list(Event)} == {"OwnerRefInvalidNamespace"}


def test_an_owner_in_another_namespace_is_no_owner(cluster: Cluster) -> None:
    elsewhere = cluster.create(a_map("owner", namespace="kube-public"))
    cluster.create(a_widget("owned", elsewhere))
    cluster.settle()
    assert names(cluster, Widget) == []


def test_an_owner_of_a_kind_that_is_not_served_is_not_known_to_be_gone(cluster: Cluster) -> None:
    owned = a_map("owned", cluster.create(a_widget("owner")))
    owned.metadata.owner_references[0].kind = "Gadget"
    cluster.create(owned)
    cluster.settle(timedelta(hours=1))
    assert names(cluster, ConfigMap) == ["owned"]


def test_what_is_owned_goes_with_the_kind_of_its_owner(cluster: Cluster) -> None:
    owner = cluster.create(a_widget("owner"))
    cluster.create(a_map("owned", owner))
    cluster.settle()
    definition = cluster.get(CustomResourceDefinition, "widgets.example.com")
    assert definition is not None
    cluster.delete(definition)
    cluster.settle()
    assert names(cluster, ConfigMap) == []


def test_a_kind_that_goes_and_comes_back_is_collected_again(cluster: Cluster) -> None:
    cluster.create(a_widget("any"))
    cluster.settle()
    definition = cluster.get(CustomResourceDefinition, "widgets.example.com")
    assert definition is not None
    cluster.delete(definition)
    cluster.settle()
    definition.metadata.resource_version = None
    cluster.apply({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **manifest(definition)})
    cluster.settle()
    owner = cluster.create(a_map("owner"))
    cluster.create(a_widget("owned", owner))
    cluster.settle(SOON)
    cluster.delete(owner)
    cluster.settle(SOON)
    assert names(cluster, Widget) == []


def test_a_finalizer_holds_what_is_collected(cluster: Cluster) -> None:
    owner = cluster.create(a_map("owner"))
    held = cluster.create(a_widget("held", owner, finalizers=["example.com/held"]))
    below = cluster.create(a_map("below", held))
    cluster.delete(owner)
    cluster.settle()
    held = cluster.refresh(held)
    assert held.is_terminating
    assert cluster.refresh(below)
    held.metadata.finalizers = []
    cluster.update(held)
    cluster.settle()
    assert names(cluster, ConfigMap) == []


def test_it_is_prompt(cluster: Cluster) -> None:
    top = cluster.create(a_widget("top"))
    cluster.create(a_map("low", cluster.create(a_map("middle", top))))
    cluster.settle()
    cluster.delete(top)
    cluster.advance(timedelta(seconds=1.0))
    assert names(cluster, ConfigMap) == []


def manifest(definition: CustomResourceDefinition) -> dict:
    from setpoint.objects import to_builtins

    content = to_builtins(definition)
    return {"metadata": {"name": definition.name}, "spec": content["spec"]}
