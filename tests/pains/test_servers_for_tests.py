"""Servers to test against that are like the real one only at first sight: what was wrong with them is right in the embedded one.

Nothing here is a fault of a controller's. That the same holds on a real server shows that it is the truth.
"""

from __future__ import annotations

import asyncio
import socket
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from setpoint import Client, Context, Controller, Invalid, ObjectMeta, OwnerReference, Request, Resource, Struct, kind
from setpoint.api import ApiError, Operation
from setpoint.api.watch import INITIAL_EVENTS_END
from setpoint.client.install import DEFINITION
from setpoint.k8s.core.v1 import ConfigMap, Container, Namespace, Pod, PodSpec, Secret
from setpoint.manager import Options
from setpoint.objects import Object, encode, kind_of
from setpoint.testing import Cluster

from .planes import Embedded, Real
from .scenes import Thing, ThingSpec

CONFIG_MAPS = kind_of(ConfigMap)


def _owned(cluster: Embedded | Real, name: str, *owners: Object, blocks: bool = False, **more: Any) -> ConfigMap:
    references = [
        OwnerReference(
            api_version=kind_of(type(owner)).api_version,
            kind=kind_of(type(owner)).kind,
            name=owner.name,
            uid=owner.uid or "",
            controller=number == 0,
            block_owner_deletion=blocks or None,
        )
        for number, owner in enumerate(owners)
    ]
    made: ConfigMap = cluster.create(ConfigMap(metadata=cluster.meta(name, owner_references=references, **more)))
    return made


def _is_gone(cluster: Embedded | Real, obj: Object) -> bool:
    found = cluster.get(type(obj), obj.key)
    return found is None or found.uid != obj.uid


# ---- namespaces


def test_a_namespace_that_is_deleted_goes_with_all_that_is_in_it(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#880, kubernetes-sigs/kubebuilder#2857: a namespace that is deleted stays Terminating for ever, and
    the objects in it are left alone. What has a finalizer is waited for, and that is said.
    """
    name = f"{cluster.namespace}-gone"
    space = cluster.create(Namespace(metadata=ObjectMeta(name=name)))
    for finalizers in ([], ["pains.example.com/hold"]):
        cluster.create(ConfigMap(metadata=ObjectMeta(name=f"held-{len(finalizers)}", namespace=name, finalizers=finalizers)))
    cluster.delete(space)
    cluster.until(lambda: cluster.get(ConfigMap, f"{name}/held-0") is None)
    held = cluster.get(ConfigMap, f"{name}/held-1")
    assert held.is_terminating
    remaining = "NamespaceFinalizersRemaining"
    cluster.until(lambda: {c.type: c.status for c in cluster.refresh(space).status.conditions}.get(remaining) == "True")
    assert cluster.refresh(space).status.phase == "Terminating"
    cluster.change(held, lambda found: found.metadata.finalizers.clear())
    cluster.until(lambda: cluster.get(Namespace, name) is None, "the end of the namespace")


# ---- garbage


def test_what_an_object_owned_goes_with_it(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#1459, #626, #1263, java-operator-sdk/jenvtest#31: A is deleted, and B, which it owns, stays."""
    a = _owned(cluster, "a")
    b = _owned(cluster, "b", a)
    c = _owned(cluster, "c", b)
    cluster.delete(a)
    cluster.until(lambda: _is_gone(cluster, b) and _is_gone(cluster, c), "the end of what was owned")


def test_an_owner_of_the_same_name_is_not_the_owner(cluster: Embedded | Real) -> None:
    """The same threads: who compares names alone keeps what belonged to the predecessor. While one owner is left, the object is kept."""
    first, other = _owned(cluster, "a"), _owned(cluster, "other")
    orphan, shared = _owned(cluster, "orphan", first), _owned(cluster, "shared", first, other)
    cluster.delete(first)
    second = _owned(cluster, "a")
    cluster.until(lambda: _is_gone(cluster, orphan))
    cluster.until(lambda: [owner.name for owner in cluster.refresh(shared).metadata.owner_references] == ["other"])
    assert not _is_gone(cluster, second)


def test_what_is_in_no_namespace_is_not_collected_for_an_owner_in_one(cluster: Embedded | Real) -> None:
    """The same threads: an owner that cannot be one is none that is gone."""
    owner = _owned(cluster, "a")
    reference = OwnerReference(api_version="v1", kind="ConfigMap", name="a", uid=owner.uid or "")
    space = cluster.create(Namespace(metadata=ObjectMeta(name=f"{cluster.namespace}-owned", owner_references=[reference])))
    cluster.delete(owner)
    cluster.advance(timedelta(seconds=30))
    assert not cluster.refresh(space).is_terminating
    cluster.delete(space)


@pytest.mark.parametrize("policy", ["Foreground", "Orphan"])
def test_a_deletion_that_waits_for_what_is_owned_or_leaves_it_does_not_go_on_for_ever(cluster: Embedded | Real, policy: str) -> None:
    """kubernetes-sigs/controller-runtime#1528: what is deleted in the foreground gets its finalizer, which nobody ever takes off."""
    owner = _owned(cluster, "a")
    blocking = _owned(cluster, "blocking", owner, blocks=True, finalizers=["pains.example.com/hold"])
    cluster.send("delete", CONFIG_MAPS, "a", {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy})
    if policy == "Orphan":
        cluster.until(lambda: _is_gone(cluster, owner))
        assert cluster.refresh(blocking).metadata.owner_references == []
        cluster.change(blocking, lambda found: found.metadata.finalizers.clear())
        return
    cluster.until(lambda: cluster.refresh(blocking).is_terminating, "the deletion of what blocks")
    assert cluster.refresh(owner).metadata.finalizers == ["foregroundDeletion"]
    cluster.change(blocking, lambda found: found.metadata.finalizers.clear())
    cluster.until(lambda: _is_gone(cluster, owner), "the end of the owner")


# ---- lists and watches


def test_a_streaming_list_ends_with_the_bookmark_that_says_so(cluster: Embedded | Real) -> None:
    """kubernetes#135895, #129408, PR#139716, kubernetes-sigs/external-dns#6235, istio/istio#59268,
    k8snetworkplumbingwg/network-attachment-definition-client#85, phenixblue/k8shark#153, stackshy/cloudemu#880, tgoodwin/kamera#79:
    clients ask for the objects there are by a watch; the server never sends the bookmark that ends them, and each informer waits, for a
    minute or for ever.
    """
    for name in ("a", "b"):
        _owned(cluster, name)

    async def read(client: Client) -> list[Any]:
        options = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
        operation = Operation(verb="watch", resource=CONFIG_MAPS.group_version_resource, namespace=cluster.namespace, options=options)
        stream, frames = await client.connection.watch(operation), list[Any]()
        try:
            async with asyncio.timeout(10):
                while not frames or frames[-1]["type"] != "BOOKMARK":
                    frames += [msgspec.json.decode(frame) for frame in await stream.read() or []]
        finally:
            await stream.close()
        return frames

    *added, mark = cluster.ask(read)
    assert {"a", "b"} <= {frame["object"]["metadata"]["name"] for frame in added}
    assert {frame["type"] for frame in added} == {"ADDED"}
    assert mark["object"]["metadata"]["annotations"] == {INITIAL_EVENTS_END: "true"}
    assert all(int(frame["object"]["metadata"]["resourceVersion"]) <= int(mark["object"]["metadata"]["resourceVersion"]) for frame in added)


@pytest.mark.parametrize("how", ["refused", "silent"])
def test_a_server_without_streaming_lists_is_read_all_the_same(embedded: Embedded, how: str) -> None:
    """The same threads, from the client's side: against a server that refuses them, or one that sends the objects and then says nothing."""
    seen: list[str] = []
    reader = Controller(Thing, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        seen.append(request.name)

    for number in range(5):
        embedded.thing(f"t{number}")
    embedded.launch(reader, prepare=lambda line: line.in_pages("things", 2) if how == "refused" else line.without_bookmarks("things"))
    embedded.until(lambda: len(seen) == 5)
    assert embedded.now_in_seconds < 30
    embedded.thing("later")
    embedded.until(lambda: "later" in seen)


def test_no_event_is_lost_between_a_list_and_the_watch_after_it(cluster: Embedded | Real) -> None:
    """kubernetes#87472: what happens after a list and before the watch that it leads to is never told of."""
    _owned(cluster, "before")
    version = cluster.send("list", CONFIG_MAPS)["metadata"]["resourceVersion"]
    gone = _owned(cluster, "between")
    cluster.delete(gone)

    async def follow(client: Client) -> list[str]:
        told: list[str] = []
        operation = Operation(
            verb="watch",
            resource=CONFIG_MAPS.group_version_resource,
            namespace=cluster.namespace,
            options={"resourceVersion": version},
        )
        stream = await client.connection.watch(operation)
        try:
            async with asyncio.timeout(10):
                while len(told) < 2:
                    frames = [msgspec.json.decode(frame) for frame in await stream.read() or []]
                    told += [f"{frame['type']} {frame['object']['metadata']['name']}" for frame in frames]
        finally:
            await stream.close()
        return [one for one in told if "kube-root-ca" not in one]

    assert cluster.ask(follow) == ["ADDED between", "DELETED between"]


# ---- what the server fills in, and what it does not


def test_the_generation_is_raised_when_a_deletion_begins(cluster: Embedded | Real) -> None:
    """cloudnative-pg/cloudnative-pg#10848: a change was built on the belief that a deletion does not raise the generation, as the fake had
    it; a real server does.
    """
    thing = cluster.thing(finalizers=("pains.example.com/hold",))
    cluster.delete(thing)
    found = cluster.refresh(thing)
    assert (thing.metadata.generation, found.metadata.generation) == (1, 2)
    cluster.delete(found)
    assert cluster.refresh(thing).metadata.generation == 2
    cluster.change(found, lambda found: found.metadata.finalizers.clear())


def test_what_is_created_has_a_time_and_a_uid_of_its_own(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#3402, #2019, kubernetes#98833: a fake sets neither."""
    first = _owned(cluster, "a")
    cluster.delete(first)
    second = _owned(cluster, "a")
    assert first.uid
    assert second.uid
    assert first.uid != second.uid
    assert second.metadata.creation_timestamp is not None
    assert second.metadata.resource_version not in (None, "", first.metadata.resource_version)


def test_strings_of_a_secret_are_folded_into_its_data(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#236: a fake keeps stringData as it is, and what reads data finds nothing."""
    made = cluster.create(Secret(metadata=cluster.meta("s"), data={"a": b"old", "b": b"kept"}, string_data={"a": "new"}))
    assert made.data == {"a": b"new", "b": b"kept"}
    assert not made.string_data
    assert "stringData" not in cluster.send("get", kind_of(Secret), "s")


def test_a_create_that_is_refused_leaves_the_object_as_it_was(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#918: the object passed to create is changed, also if it fails; so the next try fails too."""
    for wrong, error in (("there", ApiError), ("No Name", Invalid)):
        if wrong == "there":
            _owned(cluster, "there")
        obj = ConfigMap(metadata=cluster.meta(wrong), data={"k": "v"})
        before = encode(obj)
        with pytest.raises(error):
            cluster.create(obj)
        assert encode(obj) == before
        assert obj.metadata.resource_version is None


def test_an_object_that_exists_is_neither_created_nor_changed_without_its_version(cluster: Embedded | Real) -> None:
    """kubernetes-sigs/controller-runtime#1084, #2866: a fake takes a second create, or an update of an old version."""
    made = _owned(cluster, "a")
    with pytest.raises(ApiError) as caught:
        _owned(cluster, "a")
    assert (caught.value.code, caught.value.status.reason) == (409, "AlreadyExists")
    cluster.change(made, lambda found: found.data.update(a="1"))
    old = cluster.send("get", CONFIG_MAPS, "a")
    old["metadata"]["resourceVersion"] = made.metadata.resource_version
    with pytest.raises(ApiError) as caught:
        cluster.send("update", CONFIG_MAPS, "a", {**old, "data": {"a": "2"}})
    assert (caught.value.code, caught.value.status.reason) == (409, "Conflict")


def test_nothing_has_to_be_fetched_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """kubernetes-sigs/controller-tools#1333, apache/uniffle#2775, openshift/lvm-operator#2360: the place from which everybody's tests fetch
    their server answers 401, and they fail everywhere.
    """

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a test that needs a network is no test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with Cluster() as cluster:
        pod = Pod(metadata=ObjectMeta(name="a", namespace="default"), spec=PodSpec(containers=[Container(name="c", image="i")]))
        assert cluster.create(pod).uid


# ---- kinds that come later


@kind(group="late.pains.example.com", version="v1")
class Late(Resource[ThingSpec, Struct]):
    """A kind that is not there at the start."""


def test_a_kind_that_is_installed_after_the_start_is_waited_for(cluster: Embedded | Real) -> None:
    """llm-d/llm-d-model-service#186, kubernetes-sigs/kubebuilder#337: the definition is not there yet at the start: "no matches for kind",
    and the process ends, again and again.
    """
    seen: list[str] = []
    reader = Controller(Late, name="reader")

    @reader.reconciler
    async def read(ctx: Context, request: Request) -> None:
        if await ctx.get(Late, request) is not None:
            seen.append(request.name)

    process = cluster.host(reader, options=Options(namespace=cluster.namespace, grace=0.0), installing=False)
    cluster.advance(timedelta(seconds=3))
    (problem,) = process.manager.problems
    assert "waits for late.pains.example.com/v1, Kind=Late" in problem
    assert not process.life.done()
    assert process.manager.health.ready["caches"]() is not None
    cluster.create(Late(metadata=cluster.meta("a"), spec=ThingSpec()))  # which installs it
    cluster.until(lambda: seen == ["a"], "the run")
    assert process.manager.problems == []
    assert process.manager.health.ready["caches"]() is None
    cluster.send("delete", DEFINITION, f"lates.{kind_of(Late).group}")
