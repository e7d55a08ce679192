"""A transport for tests: outcomes that were thought out in advance, and what was sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import msgspec

from setpoint.api import Answer, Operation, Outcome
from setpoint.client import Client, Connection
from setpoint.objects import Condition, Field, Object, ObjectMeta, Resource, Struct, kind
from setpoint.world import World


class WebAppSpec(Struct):
    image: str
    replicas: Annotated[int, Field(ge=0)] = 1


class WebAppStatus(Struct):
    ready_replicas: int = 0
    conditions: list[Condition] = []


@kind(group="apps.example.com", version="v1")
class WebApp(Resource[WebAppSpec, WebAppStatus]):
    """A kind with spec and status."""


@kind(group="", version="v1")
class ConfigMap(Object):
    """A kind without either."""

    data: dict[str, str] = {}


class Script:
    """Answers each operation with the next outcome; a function is asked for it."""

    def __init__(self, *outcomes: Outcome | Callable[[Operation], Outcome]) -> None:
        self.outcomes = list(outcomes)
        self.sent: list[Operation] = []

    async def send(self, operation: Operation, /) -> Outcome:
        self.sent.append(operation)
        assert self.outcomes, f"not expected: {operation}"
        outcome = self.outcomes.pop(0)
        return outcome(operation) if callable(outcome) else outcome

    async def close(self) -> None:
        self.outcomes.clear()

    @property
    def bodies(self) -> list[Any]:
        return [msgspec.json.decode(operation.body) for operation in self.sent if operation.body]


def ok(content: Mapping[str, Any], status: int = 200) -> Answer:
    return Answer(status=status, body=msgspec.json.encode(content))


def no(status: int, reason: str = "", message: str = "", **details: Any) -> Answer:
    body: dict[str, Any] = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": message}
    if details:
        body["details"] = details
    headers = {"retry-after": str(details["retryAfterSeconds"])} if "retryAfterSeconds" in details else {}
    return Answer(status=status, body=msgspec.json.encode(body), headers=headers)


def client_of(script: Script, world: World, **options: Any) -> Client:
    return Client(Connection(script, world), **options)


def webapp_content(version: int = 1, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps.example.com/v1",
        "kind": "WebApp",
        "metadata": {"name": "web", "namespace": "default", "uid": "u-web", "resourceVersion": str(version), "generation": 1},
        "spec": {"image": "nginx", "replicas": 2, **spec},
    }


def new_webapp(**meta: Any) -> WebApp:
    return WebApp(metadata=ObjectMeta(name="web", namespace="default", **meta), spec=WebAppSpec(image="nginx", replicas=2))
