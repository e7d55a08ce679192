"""What an object owns, of whatever kind, and what its deletion asks to be done with that.

A deletion in the foreground is held by one finalizer, one that leaves behind what the object owned by another.

https://kubernetes.io/docs/concepts/architecture/garbage-collection/#cascading-deletion
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from setpoint.api import GroupVersionKind
from setpoint.client.errors import NotServed
from setpoint.cluster.controllers.kinds import Kind, Kinds
from setpoint.controller import Context, Reader
from setpoint.objects import Index, Object, ObjectMeta, OwnerReference

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
NOT_COLLECTED = ("events",)
"""Events are about objects and owned by none; they go by age."""

Wish: TypeAlias = Literal["", "foreground", "orphan"]

BY_OWNER: Index[Object] = Index(Object, lambda obj: [owner.uid for owner in obj.metadata.owner_references])
BY_KIND_OF_OWNER: Index[Object] = Index(Object, lambda obj: [owner_kind(owner) for owner in obj.metadata.owner_references])


def wish_of(obj: Object) -> Wish:
    """What is to be done, before the object goes, with what it owns."""
    finalizers = obj.metadata.finalizers
    if not obj.is_terminating or not finalizers:
        return ""
    return "foreground" if FOREGROUND in finalizers else "orphan" if ORPHAN in finalizers else ""


def waits_for(owner: Object, dependent: Object) -> bool:
    """Whether an owner that is deleted in the foreground stays as long as that object is there."""
    return any(ref.uid == owner.uid and ref.block_owner_deletion for ref in dependent.metadata.owner_references)


def owner_kind(owner: OwnerReference) -> str:
    """The kind of an owner, whatever the version: `Widget.example.com`."""
    return f"{owner.kind}.{owner_group(owner)}"


def owner_group(owner: OwnerReference) -> str:
    """The API group of an owner."""
    return GroupVersionKind.parse(owner.api_version, owner.kind).group


def references(metadata: ObjectMeta, *, without: str) -> list[OwnerReference]:
    """The owners but one."""
    return [owner for owner in metadata.owner_references if owner.uid != without]


class Dependents:
    """Finds what objects own among all kinds that there are."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def kinds(self) -> Iterator[Kind]:
        """The kinds whose objects have or are owners at all."""
        return (kind for kind in self._kinds if collects(kind))

    def _watched(self) -> Iterator[Kind]:
        return (kind for kind in self.kinds() if not kind.asleep)

    async def known(self, reader: Reader, uid: str) -> list[tuple[Kind, Object]]:
        """What the caches know an object to own."""
        return [(kind, obj) for kind in self._watched() for obj in await reader.list(kind.head, index=BY_OWNER(uid))]

    async def of_kind(self, reader: Reader, kind: str) -> list[tuple[Kind, Object]]:
        """What the caches know to be owned by any object of a kind, named as by `owner_kind`."""
        return [(other, obj) for other in self._watched() for obj in await reader.list(other.head, index=BY_KIND_OF_OWNER(kind))]

    async def there(self, ctx: Context, kind: Kind, owner: Object) -> list[tuple[Kind, Object]]:
        """What an object owns at this moment. A cache that has not heard of something yet must not decide that an owner may go."""
        found: list[tuple[Kind, Object]] = []
        for other in self.kinds():
            if other.info.namespaced or not kind.info.namespaced:
                found += [(other, obj) for obj in await _owned(ctx, other, owner)]
        return found


def collects(kind: Kind) -> bool:
    """Whether objects of the kind have or are owners at all."""
    return kind.info.plural not in NOT_COLLECTED


async def _owned(ctx: Context, kind: Kind, owner: Object) -> list[Object]:
    try:
        objs = await ctx.list(kind.head, namespace=(owner.namespace or None) if kind.info.namespaced else None, live=True)
    except NotServed:
        return []  # the kind has gone since, and its objects with it
    return [obj for obj in objs if any(ref.uid == owner.uid for ref in obj.metadata.owner_references)]
