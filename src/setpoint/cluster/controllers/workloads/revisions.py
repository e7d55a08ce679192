"""ControllerRevisions: the templates that a StatefulSet or a DaemonSet has had, for updates and for `kubectl rollout`.

https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/controller-revision-v1/
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from setpoint.client.errors import AlreadyExists
from setpoint.cluster.controllers.workloads.adoption import adopt, is_orphan
from setpoint.cluster.controllers.workloads.templates import canonical, hash_of
from setpoint.controller import Context
from setpoint.k8s.apps.v1 import ControllerRevision, DaemonSet, StatefulSet
from setpoint.k8s.core.v1 import PodTemplateSpec
from setpoint.objects import ObjectMeta, from_builtins, to_builtins

HASH_LABEL = "controller-revision-hash"
HISTORY = 10
"""Old revisions that are kept where nothing says how many."""


class Revisions(msgspec.Struct):
    """All revisions of an owner, oldest first, of which `update` has its present template."""

    update: ControllerRevision
    all: list[ControllerRevision]

    def named(self, name: str | None) -> ControllerRevision:
        """The revision of that name; the present one if it is gone."""
        return next((revision for revision in self.all if revision.name == name), self.update)


async def revisions_of(ctx: Context, owner: StatefulSet | DaemonSet) -> Revisions:
    """The revisions, after the present template has become the latest of them."""
    found = sorted(
        await ctx.list(ControllerRevision, namespace=owner.namespace, owner=owner), key=lambda one: (one.revision or 0, one.name)
    )
    template = canonical(owner.spec.template)
    latest = max((revision.revision or 0 for revision in found), default=0)
    same = [revision for revision in found if canonical(template_of(revision)) == template]
    if not same:
        update = await _create(ctx, owner, latest + 1)
        return Revisions(update, [*found, update])
    update = same[-1]
    if (update.revision or 0) < latest:
        # Back to a template of before: that is the latest revision now.
        update.revision = latest + 1
        update = await ctx.update(update)
    return Revisions(update, [*(revision for revision in found if revision.name != update.name), update])


async def _create(ctx: Context, owner: StatefulSet | DaemonSet, number: int) -> ControllerRevision:
    collisions = 0
    while True:
        digest = hash_of(owner.spec.template, collisions)
        labels = owner.spec.selector.match_labels | {HASH_LABEL: digest}
        metadata = ObjectMeta(name=f"{owner.name}-{digest}", namespace=owner.namespace, labels=labels)
        data = {"spec": {"template": {**to_builtins(owner.spec.template), "$patch": "replace"}}}
        revision = ControllerRevision(metadata=metadata, data=data, revision=number)
        try:
            return await ctx.create(revision, owner=owner)
        except AlreadyExists:
            there = await ctx.get(ControllerRevision, revision.key, live=True)
            if there is not None and any(ref.uid == owner.uid for ref in there.metadata.owner_references):
                return there
            if there is not None and is_orphan(there) and there.data == data:
                return await adopt(ctx, owner, there)
            collisions += 1


def template_of(revision: ControllerRevision) -> PodTemplateSpec:
    """The template that a revision keeps."""
    content = {key: value for key, value in revision.data["spec"]["template"].items() if key != "$patch"}
    return from_builtins(PodTemplateSpec, content)


async def forget(ctx: Context, revisions: Revisions, used: Iterable[str], limit: int | None) -> None:
    """Deletes the oldest of those that nobody uses and that are beyond the history that is kept."""
    kept = dict.fromkeys([*used, revisions.update.name])
    unused = [revision for revision in revisions.all if revision.name not in kept and not revision.is_terminating]
    for revision in unused[: max(0, len(unused) - (HISTORY if limit is None else limit))]:
        await ctx.delete(revision)
