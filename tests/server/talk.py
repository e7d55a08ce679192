"""How the tests of the server speak to it: a few words for an `Operation`, and plain values back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from setpoint.api import Answer, GroupVersionResource, Operation, Stream
from setpoint.api.operation import APPLY_PATCH, MERGE_PATCH
from setpoint.cluster.server import ApiServer, MemoryStorage
from setpoint.world import World, simulate

CONFIGMAPS = GroupVersionResource("", "v1", "configmaps")
NAMESPACES = GroupVersionResource("", "v1", "namespaces")
PODS = GroupVersionResource("", "v1", "pods")
CRDS = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")
WIDGETS = GroupVersionResource("example.com", "v1", "widgets")


class Refused(Exception):
    """The server answered with an error; `status` is what it said."""

    def __init__(self, answer: Answer) -> None:
        self.code = answer.status
        self.status: dict[str, Any] = msgspec.json.decode(answer.body)
        super().__init__(f"{self.code} {self.status.get('message')}")


class Talk:
    """A server of its own, and words for what is asked of it. `warnings` are those of the last answer."""

    def __init__(self, world: World, **storage: Any) -> None:
        self.world = world
        self.server = ApiServer(world, storage=MemoryStorage(**storage))
        self.warnings: tuple[str, ...] = ()
        self.last = Answer(status=0)

    async def do(
        self, verb: Any, resource: GroupVersionResource | None, where: str = "", body: Any = None, *, sub: str = "", content_type: str = "",
        accept: str = "application/json", agent: str = "tests/1", **options: str,
    ) -> Any:  # fmt: skip
        """Asks, and gives the decoded body. `where` is `namespace/name`, `namespace/` or `name`. Raises Refused."""
        namespace, slash, name = where.rpartition("/")
        operation = Operation(
            verb=verb,
            resource=resource,
            namespace=namespace if slash else "",
            name=name,
            subresource=sub,
            body=body if isinstance(body, bytes) else msgspec.json.encode(body) if body is not None else b"",
            content_type=content_type,
            accept=accept,
            user_agent=agent,
            options=options,
        )
        outcome = await self.server.handle(operation)
        assert isinstance(outcome, Answer)
        self.last, self.warnings = outcome, outcome.warnings
        if not outcome.ok:
            raise Refused(outcome)
        return msgspec.json.decode(outcome.body)

    async def create(self, resource: GroupVersionResource, obj: Any, **options: Any) -> Any:
        """Creates in the object's own namespace."""
        return await self.do("create", resource, f"{obj['metadata'].get('namespace', '')}/", obj, **options)

    async def merge(self, resource: GroupVersionResource, where: str, patch: Any, **options: Any) -> Any:
        """A merge patch."""
        return await self.do("patch", resource, where, patch, content_type=MERGE_PATCH, **options)

    async def apply(self, resource: GroupVersionResource, where: str, body: Any, manager: str = "applier", **options: Any) -> Any:
        """An apply patch."""
        return await self.do("patch", resource, where, body, content_type=APPLY_PATCH, fieldManager=manager, **options)

    async def watch(self, resource: GroupVersionResource, where: str = "", accept: str = "application/json", **options: str) -> Watch:
        """Opens a watch."""
        operation = Operation(verb="watch", resource=resource, namespace=where.rstrip("/"), accept=accept, options=options)
        outcome = await self.server.handle(operation)
        if isinstance(outcome, Answer):
            raise Refused(outcome)
        return Watch(outcome)

    async def establish(self, crd: Any = None) -> None:
        """Defines widgets."""
        await self.create(CRDS, crd or WIDGET_CRD)

    @property
    def revision(self) -> int:
        """The newest revision."""
        return self.server.storage.revision


class Watch:
    """A stream, read as decoded events."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    async def read(self) -> list[Any] | None:
        """The next events, None at the end."""
        frames = await self.stream.read()
        return None if frames is None else [msgspec.json.decode(frame) for frame in frames]

    async def told(self) -> list[tuple[str, str]]:
        """The next events as type and name."""
        return [(event["type"], event["object"]["metadata"].get("name", "")) for event in await self.read() or ()]


def talk(main: Callable[[Talk], Awaitable[None]], **storage: Any) -> None:
    """Runs a conversation with a fresh server in simulated time."""

    async def run(world: World) -> None:
        await main(Talk(world, **storage))

    simulate(run)


def config_map(name: str, namespace: str = "default", data: dict[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    """A ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        **({"data": data} if data else {}),
    }


def widget(name: str, spec: dict[str, Any] | None = None, namespace: str = "default", **metadata: Any) -> dict[str, Any]:
    """A Widget."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": spec if spec is not None else {"image": "a"},
    }


def names(listing: Any) -> list[str]:
    """The names in a list."""
    return [item["metadata"]["name"] for item in listing["items"]]


WIDGET_CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
                "additionalPrinterColumns": [{"name": "Image", "type": "string", "jsonPath": ".spec.image"}],
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "image": {"type": "string"},
                                    "replicas": {"type": "integer", "minimum": 1, "default": 2},
                                },
                            },
                            "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
                        },
                    }
                },
            }
        ],
    },
}
