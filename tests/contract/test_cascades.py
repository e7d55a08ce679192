"""Deletions that wait for what is owned, or leave it behind: what the garbage collector makes of them."""

from __future__ import annotations

from typing import Any

from setpoint.client.verbs import Propagation
from setpoint.k8s.core.v1 import ConfigMap, Event, Namespace, Secret
from setpoint.objects import ObjectMeta, OwnerReference, kind_of

from .site import Plane, Site, contract

HOLD = "contract.example.com/hold"
NOBODY = "00000000-0000-4000-8000-000000000000"
"""The UID of an owner that there never was."""


def reference(owner: ConfigMap | Secret, *, blocks: bool | None = None) -> OwnerReference:
    kind = kind_of(type(owner)).kind
    return OwnerReference(api_version="v1", kind=kind, name=owner.name, uid=owner.uid, block_owner_deletion=blocks)


async def make(
    site: Site, name: str, *owners: ConfigMap | Secret, blocks: bool | None = None, finalizers: tuple[str, ...] = ()
) -> ConfigMap:
    meta = site.meta(name, owner_references=[reference(owner, blocks=blocks) for owner in owners], finalizers=list(finalizers))
    return await site.client.create(ConfigMap(metadata=meta))


async def secret(site: Site, name: str, *owners: ConfigMap | Secret, blocks: bool | None = None) -> Secret:
    meta = site.meta(name, owner_references=[reference(owner, blocks=blocks) for owner in owners])
    return await site.client.create(Secret(metadata=meta))


async def read(site: Site, obj: Any) -> Any:
    return await site.client.get(type(obj), obj.name)


async def gone(site: Site, obj: Any) -> bool:
    found = await read(site, obj)
    return found is None or found.uid != obj.uid


async def is_terminating(site: Site, obj: Any) -> bool:
    found = await read(site, obj)
    return found is not None and found.is_terminating


async def let_go(site: Site, obj: ConfigMap) -> None:
    found = await read(site, obj)
    found.metadata.finalizers = []
    await site.client.update(found)


async def delete(site: Site, obj: Any, propagation: Propagation) -> None:
    await site.client.delete(obj, propagation=propagation)


async def caught_up(site: Site) -> None:
    """Waits until the garbage collector has seen all that there is: it collects what is made now, in the order in which it hears of it."""
    orphans: list[ConfigMap | Secret] = []
    for kind in (ConfigMap, Secret):
        nobody = OwnerReference(api_version="v1", kind=kind_of(kind).kind, name="nobody", uid=NOBODY)
        meta = ObjectMeta(generate_name="orphan-", namespace=site.namespace, owner_references=[nobody])
        orphans.append(await site.client.create(kind(metadata=meta)))
    for orphan in orphans:
        await site.until(lambda orphan=orphan: gone(site, orphan))


@contract
async def in_the_foreground(site: Site) -> None:
    owner = await make(site, "owner")
    held = await make(site, "held", owner, blocks=True, finalizers=(HOLD,))
    free = await secret(site, "free", owner)
    await caught_up(site)
    await delete(site, owner, "Foreground")
    await site.until(lambda: gone(site, free))

    await site.until(lambda: is_terminating(site, held))
    await caught_up(site)
    assert (await read(site, owner)).metadata.finalizers == ["foregroundDeletion"]
    await let_go(site, held)
    await site.until(lambda: gone(site, owner))
    assert await gone(site, held)


def test_an_owner_that_is_deleted_in_the_foreground_goes_last(whole_plane: Plane) -> None:
    in_the_foreground(whole_plane)


@contract
async def not_blocked(site: Site) -> None:
    owner = await make(site, "owner")
    held = await make(site, "held", owner, finalizers=(HOLD,))
    await caught_up(site)
    await delete(site, owner, "Foreground")
    await site.until(lambda: gone(site, owner))
    await site.until(lambda: is_terminating(site, held))
    await let_go(site, held)


def test_what_does_not_block_is_deleted_and_not_waited_for(whole_plane: Plane) -> None:
    not_blocked(whole_plane)


@contract
async def through_levels(site: Site) -> None:
    top = await secret(site, "top")
    middle = await make(site, "middle", top, blocks=True)
    low = await make(site, "low", middle, blocks=True, finalizers=(HOLD,))
    await caught_up(site)
    await delete(site, top, "Foreground")
    await site.until(lambda: is_terminating(site, low))
    assert (await read(site, middle)).metadata.finalizers == ["foregroundDeletion"]
    assert (await read(site, top)).metadata.finalizers == ["foregroundDeletion"]
    await let_go(site, low)
    await site.until(lambda: gone(site, top))
    assert await gone(site, middle)


def test_what_is_owned_is_deleted_in_the_foreground_too_where_it_owns_something(whole_plane: Plane) -> None:
    through_levels(whole_plane)


@contract
async def in_a_circle(site: Site) -> None:
    first = await make(site, "first")
    second = await make(site, "second", first, blocks=True)
    found = await read(site, first)
    found.metadata.owner_references = [reference(second, blocks=True)]
    await site.client.update(found)
    await caught_up(site)
    await delete(site, first, "Foreground")
    await site.until(lambda: gone(site, first))
    await site.until(lambda: gone(site, second))


def test_two_that_own_each_other_do_not_wait_for_ever(whole_plane: Plane) -> None:
    in_a_circle(whole_plane)


@contract
async def left_behind(site: Site) -> None:
    owner, other = await secret(site, "owner"), await make(site, "other")
    alone, shared = await make(site, "alone", owner, blocks=True), await make(site, "shared", owner, other)
    await caught_up(site)
    await delete(site, owner, "Orphan")
    await site.until(lambda: gone(site, owner))
    assert (await read(site, alone)).metadata.owner_references == []
    assert (await read(site, shared)).metadata.owner_references == [reference(other)]


def test_what_is_left_behind_has_no_owner_any_more(whole_plane: Plane) -> None:
    left_behind(whole_plane)


@contract
async def shared(site: Site) -> None:
    leaving, staying = await make(site, "leaving"), await make(site, "staying")
    both = await make(site, "both", leaving, staying, blocks=True)
    await caught_up(site)
    await delete(site, leaving, "Foreground")
    await site.until(lambda: gone(site, leaving))
    kept = await read(site, both)
    assert not kept.is_terminating
    assert kept.metadata.owner_references == [reference(staying, blocks=True)]


def test_what_somebody_else_owns_too_is_taken_from_an_owner_that_waits(whole_plane: Plane) -> None:
    shared(whole_plane)


@contract
async def minds_changed(site: Site) -> None:
    owner = await make(site, "owner")
    held = await make(site, "held", owner, blocks=True, finalizers=(HOLD,))
    await caught_up(site)
    await delete(site, owner, "Foreground")
    await site.until(lambda: is_terminating(site, held))
    await delete(site, owner, "Background")
    assert await gone(site, owner)
    await let_go(site, held)
    await site.until(lambda: gone(site, held))


def test_a_wait_can_be_ended_by_another_deletion(whole_plane: Plane) -> None:
    minds_changed(whole_plane)


@contract
async def wishes_of_their_own(site: Site) -> None:
    owner = await make(site, "owner")
    middle = await make(site, "middle", owner, finalizers=("orphan",))
    low = await make(site, "low", middle)
    await caught_up(site)
    await delete(site, owner, "Background")
    await site.until(lambda: gone(site, middle))
    assert (await read(site, low)).metadata.owner_references == []


def test_an_object_with_the_finalizer_leaves_behind_what_it_owns_also_when_it_is_collected(whole_plane: Plane) -> None:
    wishes_of_their_own(whole_plane)


@contract
async def unblocked(site: Site) -> None:
    owner = await make(site, "owner")
    held = await make(site, "held", owner, blocks=True, finalizers=(HOLD,))
    await caught_up(site)
    await delete(site, owner, "Foreground")
    await site.until(lambda: is_terminating(site, held))
    found = await read(site, held)
    found.metadata.owner_references[0].block_owner_deletion = False
    await site.client.update(found)
    await site.until(lambda: gone(site, owner))
    await let_go(site, held)


def test_what_ceases_to_block_is_waited_for_no_longer(whole_plane: Plane) -> None:
    unblocked(whole_plane)


@contract
async def misplaced(site: Site) -> None:
    owner = await make(site, "owner")
    name = f"{site.namespace}-owned"
    space = await site.client.create(Namespace(metadata=ObjectMeta(name=name, owner_references=[reference(owner)])))
    await delete(site, owner, "Background")

    async def told() -> list[Event]:
        return [event for event in await site.client.list(Event) if event.involved_object.name == name]

    [event, *_] = await site.until(told)
    assert (event.reason, event.type) == ("OwnerRefInvalidNamespace", "Warning")
    assert event.message == (f'ownerRef [v1/ConfigMap, namespace: , name: owner, uid: {owner.uid}] does not exist in namespace ""')
    assert not (await site.client.get(Namespace, name)).is_terminating  # type: ignore[union-attr]  # it is there
    await site.client.delete(space)


def test_an_owner_that_cannot_be_one_is_told_of(whole_plane: Plane) -> None:
    misplaced(whole_plane)
