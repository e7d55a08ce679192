"""Reading: objects, lists in pages, selectors, and what is not there."""

from __future__ import annotations

import msgspec
import pytest

from setpoint.api import Answer, Operation
from setpoint.client import errors, verbs
from setpoint.k8s.core.v1 import ConfigMap, Secret
from setpoint.objects import ListMeta, ObjectMeta, Request, Resource, Struct, decode, kind, kind_of

from .kinds import Gadget, GadgetSpec, Region
from .site import Plane, Site, contract


class Page(msgspec.Struct):
    metadata: ListMeta
    items: list[msgspec.Raw]


async def five(site: Site) -> None:
    for number in range(5):
        metadata = site.meta(f"s{number}", labels={"parity": "even" if number % 2 == 0 else "odd", "number": str(number)})
        await site.client.create(Secret(metadata=metadata, type="Opaque" if number else "example.com/first"))


@contract
async def test_what_is_not_there_reads_as_none_and_a_kind_that_is_not_there_raises(site: Site) -> None:
    assert await site.client.get(ConfigMap, "nothing") is None
    assert await site.client.list(Secret, namespace="no-such-namespace") == []

    @kind(group="nowhere.example.com", version="v1")
    class Nowhere(Resource[Struct, Struct]):
        pass

    with pytest.raises(errors.NotServed, match=r"nowheres in nowhere\.example\.com/v1: is its CustomResourceDefinition applied"):
        await site.client.get(Nowhere, "x")
    with pytest.raises(errors.NotServed):
        await site.client.list(Nowhere)


@contract
async def test_a_list_in_pages_is_one_exact_snapshot(site: Site) -> None:
    await five(site)
    info = kind_of(Secret)
    first_answer = await site.connection.call(verbs.list_page(info, site.namespace, limit=2))
    first = msgspec.json.decode(first_answer.body, type=Page)
    assert (len(first.items), first.metadata.remaining_item_count) == (2, 3)
    await site.client.create(Secret(metadata=site.meta("s11")))
    await site.client.delete(Secret, "s4")
    await site.client.patch(Secret, "s3", {"metadata": {"labels": {"number": "changed"}}})

    names, numbers, page = [], [], first
    while True:
        secrets = [decode(Secret, item) for item in map(bytes, page.items)]
        names += [secret.name for secret in secrets]
        numbers += [secret.metadata.labels["number"] for secret in secrets]
        assert page.metadata.resource_version == first.metadata.resource_version
        if not page.metadata.continue_:
            break
        answer = await site.connection.call(verbs.list_page(info, site.namespace, limit=2, continue_=page.metadata.continue_))
        page = msgspec.json.decode(answer.body, type=Page)
    assert names == ["s0", "s1", "s2", "s3", "s4"]
    assert numbers == ["0", "1", "2", "3", "4"]
    assert page.metadata.remaining_item_count is None
    assert [secret.name for secret in await site.client.list(Secret, namespace=site.namespace, limit=2)] == ["s0", "s1", "s11", "s2", "s3"]


@contract
async def test_a_page_with_a_selector_does_not_say_how_many_remain(site: Site) -> None:
    await five(site)
    operation = verbs.list_page(kind_of(Secret), site.namespace, labels="parity=even", limit=1)
    page = msgspec.json.decode((await site.connection.call(operation)).body, type=Page)
    assert page.metadata.continue_
    assert page.metadata.remaining_item_count is None


@contract
async def test_a_continue_token_that_is_forgotten_is_expired_and_offers_a_new_one(site: Site) -> None:
    if site.server is None:
        pytest.skip("a real server forgets old versions only every five minutes")
    await five(site)
    operation = verbs.list_page(kind_of(Secret), site.namespace, limit=2)
    page = msgspec.json.decode((await site.connection.call(operation)).body, type=Page)
    await site.client.delete(Secret, "s3")
    site.server.compact()
    with pytest.raises(errors.Expired, match="The provided continue parameter is too old"):
        await site.connection.call(verbs.list_page(kind_of(Secret), site.namespace, limit=2, continue_=page.metadata.continue_ or ""))


@contract
async def test_a_list_of_the_client_whose_version_is_forgotten_between_pages_is_read_again_as_a_whole(site: Site) -> None:
    if site.server is None:
        pytest.skip("a real server forgets old versions only every five minutes")
    await five(site)
    server, client, read = site.server, site.client, 0
    call = client.call

    async def forgetful(operation: Operation) -> Answer:
        nonlocal read
        answer = await call(operation)
        read += 1
        if read == 1:
            await site.client_of("another").delete(Secret, "s0")
            server.compact()
        return answer

    client.call = forgetful  # type: ignore[method-assign]
    assert [secret.name for secret in await client.list(Secret, namespace=site.namespace, limit=2)] == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("parity=even", ["s0", "s2", "s4"]),
        ("parity!=even", ["s1", "s3"]),
        ("parity in (even, other),number notin (0)", ["s2", "s4"]),
        ("number,!missing", ["s0", "s1", "s2", "s3", "s4"]),
        ("number>2", ["s3", "s4"]),
        ("number<1", ["s0"]),
        ("missing", []),
    ],
)
def test_label_selectors(plane: Plane, selector: str, names: list[str]) -> None:
    async def selects(site: Site) -> None:
        await five(site)
        assert [secret.name for secret in await site.client.list(Secret, namespace=site.namespace, labels=selector)] == names

    plane.run(selects)


@contract
async def test_field_selectors(site: Site) -> None:
    await five(site)
    for selector, names in [
        ("metadata.name=s2", ["s2"]),
        ("type=example.com/first", ["s0"]),
        ("type!=Opaque", ["s0"]),
        (f"metadata.namespace={site.namespace},metadata.name!=s1", ["s0", "s2", "s3", "s4"]),
    ]:
        assert [secret.name for secret in await site.client.list(Secret, namespace=site.namespace, fields=selector)] == names
    await site.client.create(Gadget(metadata=site.meta("g"), spec=GadgetSpec(size=1)))
    assert [g.name for g in await site.client.list(Gadget, namespace=site.namespace, fields="metadata.name=g")] == ["g"]
    with pytest.raises(errors.BadRequest, match=r"field label not supported: spec\.size"):
        await site.client.list(Gadget, namespace=site.namespace, fields="spec.size=1")
    with pytest.raises(errors.BadRequest, match=r'field label not supported: data\.x|"data\.x" is not a known'):
        await site.client.list(Secret, namespace=site.namespace, fields="data.x=1")


@contract
async def test_a_selector_that_is_none_is_refused(site: Site) -> None:
    for labels in ("a in b", "=x", "a=b=c", "a b"):
        with pytest.raises(errors.BadRequest, match="expected"):
            await site.client.list(Secret, namespace=site.namespace, labels=labels)


@contract
async def test_a_cluster_scoped_kind_without_spec_and_status_is_read_and_written(site: Site) -> None:
    name = f"region-{site.namespace}"
    created = await site.client.create(Region(metadata=ObjectMeta(name=name), weight=3))
    assert created.namespace == ""
    created.weight = 5
    await site.client.update(created)
    found = await site.client.get(Region, Request("", name))
    assert found is not None
    assert (found.weight, found.metadata.generation) == (5, 2)
    await site.client.delete(found)
    assert await site.client.get(Region, name) is None
