"""Writing: what each verb sends, what it keeps, and which error it raises."""

from __future__ import annotations

import msgspec
import pytest

from setpoint.api.operation import JSON
from setpoint.client import errors, verbs
from setpoint.k8s.core.v1 import ConfigMap
from setpoint.objects import Condition, ObjectMeta, Request, kind_of

from .kinds import GROUP, Gadget, GadgetSpec, GadgetStatus, Level, NarrowGadget, NarrowPort, NarrowStep, Port
from .site import Site, contract

WIDE = {
    "size": 1,
    "host": "a.b",
    "ports": [{"port": 80, "name": "web", "weight": 1}, {"port": 81, "protocol": "UDP", "name": "other"}],
    "steps": [{"run": "x", "retries": 3}, {"run": "y", "retries": 4}],
    "free": {"kept": {"deep": [1, None]}},
    "limit": None,
}


async def wide(site: Site, name: str = "wide") -> Request:
    """A gadget that knows more than `NarrowGadget` does, also inside the items of its lists."""
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {"name": name, "namespace": site.namespace}, "spec": WIDE}
    await site.client.create_raw(kind_of(Gadget), site.namespace, msgspec.json.encode(body))
    status = {"status": {"ready": 1, "notes": ["kept"], "observedGeneration": 7}}
    await site.client.patch(Gadget, name, status, subresource="status")
    site.sent.clear()
    return Request(site.namespace, name)


async def raw(site: Site, key: Request) -> dict[str, dict[str, object]]:
    body = await site.client.get_raw(kind_of(Gadget), key)
    assert body is not None
    found: dict[str, dict[str, object]] = msgspec.json.decode(body)
    return found


@contract
async def test_what_exists_is_not_created_again(site: Site) -> None:
    made = await site.client.create(ConfigMap(metadata=site.meta("a"), data={"k": "v"}))
    assert made.metadata.uid
    assert made.metadata.resource_version
    with pytest.raises(errors.AlreadyExists, match=r'create configmaps in .*: configmaps "a" already exists') as refused:
        await site.client.create(ConfigMap(metadata=site.meta("a")))
    assert refused.value.code == 409
    found = await site.client.get(ConfigMap, "a")
    assert found is not None
    assert found.data == {"k": "v"}


@contract
async def test_the_server_gives_a_name_that_is_asked_for_by_its_beginning(site: Site) -> None:
    metadata = ObjectMeta(generate_name="gen-", namespace=site.namespace)
    first, second = [await site.client.create(ConfigMap(metadata=metadata)) for _ in range(2)]
    assert first.name.startswith("gen-")
    assert first.name != second.name
    assert metadata.name is None


@contract
async def test_an_object_in_a_namespace_that_is_not_there_is_refused_with_a_remedy(site: Site) -> None:
    with pytest.raises(errors.NotFound, match="create the namespace first"):
        await site.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="no-such-namespace")))


@contract
async def test_an_update_keeps_what_its_class_does_not_know(site: Site) -> None:
    key = await wide(site)
    before = await raw(site, key)
    gadget = await site.client.get(NarrowGadget, key)
    assert gadget is not None
    gadget.spec.size = 2
    gadget.spec.ports[0].weight = 5
    gadget.spec.ports.append(NarrowPort(port=82))
    gadget.spec.steps.insert(0, NarrowStep(run="new"))
    gadget.metadata.labels["l"] = "m"
    assert await site.client.update(gadget) is gadget
    after = await raw(site, key)
    assert after["spec"] == {
        **before["spec"],
        "size": 2,
        "ports": [
            {"port": 80, "protocol": "TCP", "name": "web", "weight": 5},
            {"port": 81, "protocol": "UDP", "name": "other"},
            {"port": 82, "protocol": "TCP"},
        ],
        "steps": [{"run": "new"}, {"run": "x", "retries": 3}, {"run": "y", "retries": 4}],
    }
    assert after["status"] == before["status"]
    assert gadget.metadata.resource_version == after["metadata"]["resourceVersion"]
    assert gadget.metadata.generation == 2


@contract
async def test_a_status_is_written_alone(site: Site) -> None:
    key = await wide(site)
    before = await raw(site, key)
    gadget = await site.client.get(NarrowGadget, key)
    assert gadget is not None
    gadget.spec.size = 9
    gadget.status.ready = 5
    await site.client.update_status(gadget)
    after = await raw(site, key)
    assert after["spec"] == before["spec"]
    assert after["status"] == {"ready": 5, "notes": ["kept"], "observedGeneration": 7}
    assert after["metadata"]["generation"] == 1
    assert gadget.spec.size == 9
    await site.client.update(gadget)
    assert (await raw(site, key))["spec"] == {**before["spec"], "size": 9}


@contract
async def test_no_difference_is_no_request_and_a_stale_object_is_a_conflict_without_one(site: Site) -> None:
    key = await wide(site)
    gadget = await site.client.get(Gadget, key)
    assert gadget is not None
    await site.client.update(gadget)
    await site.client.update_status(gadget)
    assert site.writes == []
    await site.client.patch(Gadget, key, {"metadata": {"labels": {"a": "b"}}})
    site.sent.clear()
    gadget.spec.size = 3
    with pytest.raises(errors.Conflict, match="the object has been modified"):
        await site.client.update(gadget)
    assert site.writes == []
    version = {"metadata": {"resourceVersion": gadget.metadata.resource_version}, "spec": {"size": 3}}
    with pytest.raises(errors.Conflict, match="the object has been modified"):
        await site.client.patch(Gadget, key, version)
    await site.client.delete(Gadget, key)
    with pytest.raises(errors.NotFound):
        await site.client.update(gadget)


@contract
async def test_null_is_a_value_where_it_is_declared_one(site: Site) -> None:
    await site.client.create(Gadget(metadata=site.meta("n"), spec=GadgetSpec(size=1, limit=4)))
    gadget = await site.client.get(Gadget, "n")
    assert gadget is not None
    gadget.spec.limit = None
    gadget.spec.size = 2
    await site.client.update(gadget)
    assert site.sent[-1].content_type == "application/json-patch+json"
    stored = (await raw(site, gadget.key))["spec"]
    assert (stored["limit"], stored["size"], gadget.spec.limit) == (None, 2, None)
    patched = await site.client.patch(Gadget, "n", [{"op": "remove", "path": "/spec/limit"}])
    assert patched.spec.limit is msgspec.UNSET


@contract
async def test_null_is_a_value_of_a_nullable_enum_too(site: Site) -> None:
    gadget = await site.client.create(Gadget(metadata=site.meta("n"), spec=GadgetSpec(size=1, tier="tin", grade=Level.LOW)))
    gadget.spec.tier = gadget.spec.grade = None
    await site.client.update(gadget)
    stored = (await raw(site, gadget.key))["spec"]
    assert (stored["tier"], stored["grade"]) == (None, None)
    for wrong in ({"tier": "iron"}, {"tier": ""}, {"grade": 3}, {"grade": 0}):
        with pytest.raises(errors.Invalid, match=r"spec\.(tier|grade)"):
            await site.client.patch(Gadget, "n", {"spec": wrong})


@contract
async def test_a_dry_run_changes_nothing(site: Site) -> None:
    operation = verbs.create(kind_of(ConfigMap), site.namespace, b"", field_manager="dry")
    body = msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dry"}})
    operation = msgspec.structs.replace(operation, body=body, content_type=JSON, options={"dryRun": "All"})
    assert (await site.connection.call(operation)).status == 201
    assert await site.client.get(ConfigMap, "dry") is None


@contract
async def test_what_breaks_the_schema_is_invalid_with_each_cause(site: Site) -> None:
    spec = GadgetSpec(size=-1, host="UPPER", ports=[Port(port=0, protocol="SCTP")], names=["a", "b", "c", "d"])
    with pytest.raises(errors.Invalid, match=r"create gadgets\.contract\.example\.com in ") as refused:
        await site.client.create(Gadget(metadata=site.meta("bad"), spec=spec))
    assert sorted({cause.field.lstrip(".") for cause in refused.value.causes}) == [
        "spec.host",
        "spec.names",
        "spec.ports[0].port",
        "spec.ports[0].protocol",
        "spec.size",
    ]
    assert refused.value.code == 422
    gadget = await site.client.create(Gadget(metadata=site.meta("good"), spec=GadgetSpec(size=1)))
    gadget.status = GadgetStatus(conditions=[Condition(type="A", status="True", reason="")])
    with pytest.raises(errors.Invalid, match="reason in body should be at least 1 chars long"):
        await site.client.update_status(gadget)


@contract
async def test_an_apply_creates_and_a_second_one_changes_nothing(site: Site) -> None:
    wanted = Gadget(metadata=site.meta("a"), spec=GadgetSpec(size=1, ports=[Port(port=80)]))
    first = await site.client.apply(wanted)
    second = await site.client.apply(wanted)
    assert first == second
    assert wanted.metadata.resource_version is None
    third = await site.client.apply(Gadget(metadata=site.meta("a"), spec=GadgetSpec(size=2)))
    assert (third.spec.ports, third.metadata.generation) == ([], 2)


@contract
async def test_an_apply_takes_over_by_force_alone(site: Site) -> None:
    other = site.client_of("other")
    await site.client.apply(ConfigMap(metadata=site.meta("a"), data={"k": "ours", "l": "ours"}))
    with pytest.raises(errors.Conflict, match=r'conflict with "contract": \.data\.k .*force=True') as refused:
        await other.apply(ConfigMap(metadata=site.meta("a"), data={"k": "theirs"}), force=False)
    assert [(cause.reason, cause.field) for cause in refused.value.causes] == [("FieldManagerConflict", ".data.k")]
    taken = await other.apply(ConfigMap(metadata=site.meta("a"), data={"k": "theirs"}))
    assert taken.data == {"k": "theirs", "l": "ours"}
    left = await site.client.apply(ConfigMap(metadata=site.meta("a")))
    assert left.data == {"k": "theirs"}


@contract
async def test_an_applied_child_names_its_controller_and_no_second_one(site: Site) -> None:
    parents = [await site.client.create(Gadget(metadata=site.meta(name), spec=GadgetSpec(size=1))) for name in ("p", "q")]
    child = await site.client.apply(ConfigMap(metadata=ObjectMeta(name="c")), owner=parents[0])
    (reference,) = child.metadata.owner_references
    assert (reference.kind, reference.name, reference.uid, reference.controller) == ("Gadget", "p", parents[0].uid, True)
    with pytest.raises(errors.Invalid, match="another owner controls it already"):
        await site.client_of("another").apply(ConfigMap(metadata=ObjectMeta(name="c")), owner=parents[1])


@contract
async def test_a_delete_means_the_object_that_was_read(site: Site) -> None:
    old = await site.client.create(ConfigMap(metadata=site.meta("a")))
    await site.client.delete(ConfigMap, "a")
    new = await site.client.create(ConfigMap(metadata=site.meta("a")))
    await site.client.delete(old)
    found = await site.client.get(ConfigMap, "a")
    assert found is not None
    assert found.uid == new.uid
    await site.client.delete(new)
    await site.client.delete(new)
    assert await site.client.get(ConfigMap, "a") is None
    info, key = kind_of(ConfigMap), Request(site.namespace, "b")
    await site.client.create(ConfigMap(metadata=site.meta("b")))
    with pytest.raises(errors.Conflict, match="the ResourceVersion in the precondition"):
        await site.client.delete_raw(info, key, resource_version="1")


@contract
async def test_a_finalizer_holds_what_is_deleted_until_it_is_taken_away(site: Site) -> None:
    gadget = await site.client.create(Gadget(metadata=site.meta("f", finalizers=["example.com/held"]), spec=GadgetSpec(size=1)))
    await site.client.delete(gadget)
    held = await site.client.get(Gadget, "f")
    assert held is not None
    assert held.is_terminating
    held.metadata.finalizers.append("example.com/more")
    with pytest.raises(errors.Invalid, match="no new finalizers can be added if the object is being deleted"):
        await site.client.update(held)
    held.metadata.finalizers.clear()
    await site.client.update(held)
    assert await site.client.get(Gadget, "f") is None
