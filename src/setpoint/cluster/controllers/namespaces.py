"""Namespaces that are deleted: everything in them is deleted first, of whatever kind, and then they are let go.

The kinds are those that the server names at that moment, and what is there is read live: an empty cache does not prove an empty namespace.
Pods go first, and the rest when none is left. Conditions say what is waited for, in the words of Kubernetes' own controller, which
`kubectl describe namespace` shows.

https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
"""

from __future__ import annotations

import msgspec

from setpoint.api import Operation
from setpoint.client import Client
from setpoint.client.errors import ApiError, NotServed
from setpoint.cluster.controllers.conditions import put_condition
from setpoint.cluster.controllers.kinds import Kind, head_class
from setpoint.controller import Context, Controller, Predicate, Result, Watch
from setpoint.controller.signatures import Mapper
from setpoint.k8s.core.v1 import Namespace, NamespaceCondition
from setpoint.objects import KindInfo, Object, Request, kind_of

OURS = "kubernetes"
"""The entry of `spec.finalizers` that this controller answers for."""
LOOK_AGAIN = 60.0
"""Seconds after which a namespace that is not empty is looked at again, should nothing be heard of what is left in it."""

went: Predicate[Object] = Predicate(lambda old, new: new is None)


class NamespaceEmptier:
    """The reconciler."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def controller(self, kinds: list[Kind]) -> Controller[Namespace]:
        """The controller that runs it, hearing of objects of these kinds that go."""
        controller = Controller(Namespace, name="namespace", reconciler=self)
        for kind in kinds:
            if kind.info.namespaced:
                controller.watch(kind.watched, map=namespace_of, predicate=went, metadata_only=True)
        return controller

    def watch(self, kind: Kind) -> Watch | None:
        """How a kind that has come is watched."""
        if not kind.info.namespaced:
            return None
        return Watch(kind.watched, Mapper(namespace_of, False, "namespace_of"), predicate=went, metadata_only=True)

    async def __call__(self, ctx: Context, request: Request) -> Result | None:
        """One run: deletes what is there, says what is left, and lets go if nothing is."""
        namespace = await ctx.get(Namespace, request)
        if namespace is None or not namespace.is_terminating or OURS not in namespace.spec.finalizers:
            return None
        content = Content(ctx, namespace.name)
        await content.delete(self._client)
        now = ctx.now()
        for condition in content.conditions():
            put_condition(namespace.status.conditions, condition, now)
        await ctx.update_status(namespace)
        if content.failures:
            raise content.failures[0]
        if content.left:
            return Result(requeue_after=LOOK_AGAIN)
        await self._let_go(namespace)
        return None

    async def _let_go(self, namespace: Namespace) -> None:
        """`finalize` is a PUT of the whole object, so the object is read as it is, every field of it."""
        info = kind_of(Namespace)
        live = await self._client.get_raw(info, namespace.key)
        if live is None:
            return
        content = msgspec.json.decode(live)
        if content["metadata"]["uid"] != namespace.uid:
            return
        content["spec"]["finalizers"] = [entry for entry in content["spec"].get("finalizers", ()) if entry != OURS]
        await self._client.call(
            Operation(
                verb="update",
                resource=info.group_version_resource,
                name=namespace.name,
                subresource="finalize",
                body=msgspec.json.encode(content),
                content_type="application/json",
            )
        )


def namespace_of(obj: Object) -> list[Request]:
    """The namespace that an object is in."""
    return [Request("", obj.namespace)] if obj.namespace else []


class Content:
    """What is in a namespace, and what became of the attempt to delete it."""

    def __init__(self, ctx: Context, namespace: str) -> None:
        self._ctx = ctx
        self._namespace = namespace
        self._undiscovered = ""
        self.failures: list[ApiError] = []
        self.left: dict[str, list[Object]] = {}
        """By resource, such as `widgets.example.com` or `pods.`, what is still there."""

    async def delete(self, client: Client) -> None:
        """Deletes everything that is not terminating already, and looks what is left. What fails is kept in `failures`."""
        try:
            served = await client.discovery.everything()
        except ApiError as error:
            self._undiscovered = error.message
            self.failures.append(error)
            return
        infos = [one.info for one in served if one.info.namespaced and "list" in one.verbs and "delete" in one.verbs]
        # What pods need while they stop must not go before them.
        for pods_only in (True, False):
            for info in infos:
                if (info.group_version_resource.group_resource == "pods") == pods_only:
                    await self._try_to_delete_all(info)
            if self.left or self.failures:
                return

    async def _try_to_delete_all(self, info: KindInfo) -> None:
        try:
            await self._delete_all(info)
        except NotServed:
            pass  # the kind has gone since, and its objects with it
        except ApiError as error:
            self.failures.append(error)

    async def _delete_all(self, info: KindInfo) -> None:
        head = head_class(info)
        found = await self._ctx.list(head, namespace=self._namespace, live=True)
        if not found:
            return
        for obj in found:
            if not obj.is_terminating:
                await self._ctx.delete(obj)
        left = await self._ctx.list(head, namespace=self._namespace, live=True)
        if left:
            self.left[f"{info.plural}.{info.group}"] = list(left)

    def conditions(self) -> list[NamespaceCondition]:
        """All of them, in their order."""
        failed = ", ".join(error.message for error in self.failures if not self._undiscovered)
        counts = ", ".join(f"{resource} has {len(left)} resource instances" for resource, left in sorted(self.left.items()))
        return [
            _condition(
                "NamespaceDeletionDiscoveryFailure",
                ("DiscoveryFailed", f"Discovery failed for some groups: {self._undiscovered}") if self._undiscovered else None,
                ("ResourcesDiscovered", "All resources successfully discovered"),
            ),
            _condition(
                "NamespaceDeletionGroupVersionParsingFailure",
                None,
                ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
            ),
            _condition(
                "NamespaceDeletionContentFailure",
                ("ContentDeletionFailed", f"Failed to delete all resource types, {len(self.failures)} remaining: {failed}")
                if failed
                else None,
                ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
            ),
            _condition(
                "NamespaceContentRemaining",
                ("SomeResourcesRemain", f"Some resources are remaining: {counts}") if counts else None,
                ("ContentRemoved", "All content successfully removed"),
            ),
            _condition(
                "NamespaceFinalizersRemaining",
                ("SomeFinalizersRemain", f"Some content in the namespace has finalizers remaining: {self._finalizers()}")
                if self._finalizers()
                else None,
                ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
            ),
        ]

    def _finalizers(self) -> str:
        counts: dict[str, int] = {}
        for left in self.left.values():
            for obj in left:
                for finalizer in obj.metadata.finalizers:
                    counts[finalizer] = counts.get(finalizer, 0) + 1
        return ", ".join(f"{finalizer} in {count} resource instances" for finalizer, count in sorted(counts.items()))


def _condition(type: str, problem: tuple[str, str] | None, fine: tuple[str, str]) -> NamespaceCondition:
    reason, message = problem or fine
    return NamespaceCondition(type=type, status="True" if problem else "False", reason=reason, message=message)
