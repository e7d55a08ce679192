"""Adoption: what a selector takes and nobody controls is taken over by whoever would make the like.

So a StatefulSet that is deleted with `--cascade=orphan` and made anew, as people do who change its claims, goes on with the pods it had.

https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#pod-identity
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from setpoint.api import LabelSelector
from setpoint.api.selectors import Requirement
from setpoint.client.ownership import owner_reference
from setpoint.controller import Context
from setpoint.k8s.core.v1 import Pod
from setpoint.k8s.meta.v1 import LabelSelector as Stated
from setpoint.k8s.meta.v1 import LabelSelectorRequirement
from setpoint.objects import Index, Object, OwnerReference, from_builtins

K = TypeVar("K", bound=Object)


def is_orphan(obj: Object) -> bool:
    """Whether nobody controls it, and it may be taken over."""
    return not obj.is_terminating and not any(owner.controller for owner in obj.metadata.owner_references)


ORPHANS: Index[Pod] = Index(Pod, lambda pod: [pod.namespace] if is_orphan(pod) else [])
"""Pods that nobody controls, by namespace."""


async def adopt(ctx: Context, owner: Object, orphan: K) -> K:
    """The object, after `owner` has become its controller. Raises `Conflict` if somebody else was faster."""
    reference = from_builtins(OwnerReference, owner_reference(owner))
    orphan.metadata.owner_references = [*orphan.metadata.owner_references, reference]
    return await ctx.update(orphan)


def takes(selector: Stated, labels: Mapping[str, str]) -> bool:
    """Whether a selector, as objects state it, takes something with these labels."""
    if not LabelSelector.parse(selector.match_labels).matches(labels):
        return False
    return all(_requirement(stated).matches(labels) for stated in selector.match_expressions)


def _requirement(stated: LabelSelectorRequirement) -> Requirement:
    match stated.operator:
        case "Exists":
            return Requirement(stated.key, "exists")
        case "DoesNotExist":
            return Requirement(stated.key, "!")
        case "NotIn":
            return Requirement(stated.key, "notin", tuple(stated.values))
        case _:
            return Requirement(stated.key, "in", tuple(stated.values))
