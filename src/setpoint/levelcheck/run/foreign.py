"""What others do in the cluster: the user, and whoever else may write there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from setpoint.api import Answer, GroupVersionResource, Operation
from setpoint.api.operation import APPLY_PATCH, MERGE_PATCH
from setpoint.levelcheck.recording import Key
from setpoint.levelcheck.workload import Ref

if TYPE_CHECKING:
    from setpoint.levelcheck.run.execution import Execution

MARK = "level-check/touched"
FINALIZER = "level-check/foreign"


class Foreign:
    """Writes as somebody else: nothing that goes wrong by a plan happens to them."""

    def __init__(self, run: Execution) -> None:
        self._run = run
        self.finalizers: dict[Key, None] = {}
        """Objects that somebody else's finalizer is on."""

    async def apply(self, ref: Ref, manifest: bytes) -> str:
        """The user applies a manifest; gives what the server says against it, or nothing."""
        options = {"fieldManager": "user", "force": "true"}
        return _refusal(await self._send("patch", ref, options=options, body=manifest, content_type=APPLY_PATCH))

    async def patch(self, ref: Ref, patch: bytes, subresource: str) -> str:
        """The user sends a merge patch."""
        options = {"fieldManager": "user"}
        return _refusal(await self._send("patch", ref, subresource=subresource, options=options, body=patch, content_type=MERGE_PATCH))

    async def delete(self, ref: Ref, propagation: str) -> str:
        """The user deletes; what is gone already is no error."""
        answer = await self._send("delete", ref, options={"propagationPolicy": propagation})
        return "" if answer is None or answer.status == 404 else _refusal(answer)

    def is_there(self, ref: Ref) -> bool:
        """Whether there is such an object."""
        key = self.key(ref)
        return key is not None and self._run.stored(key) is not None

    def key(self, ref: Ref) -> Key | None:
        """The object's key; None while its kind is not served."""
        kind = self._run.kind_named(ref.api_version, ref.kind)
        if kind is None:
            return None
        namespace = (ref.namespace or "default") if kind.namespaced else ""
        return Key(kind.resource.group_resource, namespace, ref.name)

    async def do(self, how: str, object: str) -> None:
        """`delete`, `finalizer`, or `spec`, to an object that is named as a `Key` tells itself.

        For `spec`, a merge patch follows after a bar: `webapps.example.com default/shop|{"spec":{"replicas":3}}`.
        """
        object, _, patch = object.partition("|")
        key = key_from(object)
        if self._run.stored(key) is None:
            return
        match how:
            case "delete":
                # As kubectl does: a Job's pods would stay behind by default.
                await self._write("delete", key, b"", {"propagationPolicy": "Background"})
            case "spec":
                await self._write("patch", key, patch.encode())
            case "finalizer":
                await self.hold_on_to(key)
            case _:
                raise ValueError(f"nobody does {how!r}")

    async def touch(self, key: Key) -> None:
        """Somebody changes an object and takes that back: nothing is left of it but a newer resourceVersion."""
        if self._run.stored(key) is None:
            return
        for value in ("true", None):
            await self._write("patch", key, msgspec.json.encode({"metadata": {"annotations": {MARK: value}}}))

    async def hold_on_to(self, key: Key) -> None:
        """Somebody else's finalizer is put on an object."""
        there = self._run.stored(key) or {}
        finalizers = [*there.get("metadata", {}).get("finalizers", []), FINALIZER]
        await self._write("patch", key, msgspec.json.encode({"metadata": {"finalizers": finalizers}}))
        self.finalizers[key] = None

    async def let_go(self) -> list[Key]:
        """Takes those finalizers off again; gives the objects, still there, from which somebody has taken them already."""
        clobbered = []
        for key in list(self.finalizers):
            del self.finalizers[key]
            there = self._run.stored(key)
            if there is None:
                clobbered.append(key)
                continue
            finalizers = there["metadata"].get("finalizers", [])
            if FINALIZER not in finalizers:
                clobbered.append(key)
                continue
            left = [each for each in finalizers if each != FINALIZER]
            await self._write("patch", key, msgspec.json.encode({"metadata": {"finalizers": left or None}}))
        return clobbered

    async def _write(self, verb: str, key: Key, body: bytes, options: dict[str, str] | None = None) -> Answer | None:
        kind = self._run.kind_of_resource(key.resource)
        if kind is None:
            return None
        resource = kind.resource
        return await self._sent(verb, resource, key.namespace, key.name, "", options or {}, body, MERGE_PATCH, who="somebody")

    async def _send(
        self, verb: str, ref: Ref, *, options: dict[str, str], body: bytes = b"", content_type: str = "", subresource: str = ""
    ) -> Answer | None:
        kind = self._run.kind_named(ref.api_version, ref.kind)
        if kind is None:
            return None
        namespace = (ref.namespace or "default") if kind.namespaced else ""
        return await self._sent(verb, kind.resource, namespace, ref.name, subresource, options, body, content_type, who="user")

    async def _sent(
        self,
        verb: Any,
        resource: GroupVersionResource,
        namespace: str,
        name: str,
        subresource: str,
        options: dict[str, str],
        body: bytes,
        content_type: str,
        *,
        who: str,
    ) -> Answer:
        operation = Operation(
            verb=verb,
            resource=resource,
            namespace=namespace,
            name=name,
            subresource=subresource,
            options=options,
            body=body,
            content_type=content_type if body else "",
            user_agent=who,
        )
        with self._run.acting(who):
            answer = await self._run.plane.server.handle(operation)
        assert isinstance(answer, Answer), "this is no watch"
        return answer


def key_from(text: str) -> Key:
    """From what a `Key` gives as text."""
    resource, _, where = text.partition(" ")
    namespace, _, name = where.rpartition("/")
    return Key(resource, namespace, name)


def _refusal(answer: Answer | None) -> str:
    if answer is None:
        return "the server has no such kind"
    return "" if answer.ok else str(msgspec.json.decode(answer.body).get("message", answer.status))
