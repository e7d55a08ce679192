"""`Widget`: the kind of `controller_runtime/` as a Setpoint class."""

from __future__ import annotations

from setpoint import Condition, Resource, Struct, kind


class NameValue(Struct):
    name: str
    value: str | None = None


class Port(Struct):
    name: str | None = None
    port: int | None = None
    target_port: int | None = None
    protocol: str | None = None


class Resources(Struct):
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}


class Strategy(Struct):
    type: str | None = None
    max_surge: int | None = None
    max_unavailable: int | None = None


class Probe(Struct):
    path: str | None = None
    port: int | None = None
    period_seconds: int | None = None


class WidgetSpec(Struct):
    display_name: str | None = None
    description: str | None = None
    image: str | None = None
    image_pull_policy: str | None = None
    replicas: int | None = None
    paused: bool | None = None
    priority: int | None = None
    revision: int | None = None
    tier: str | None = None
    region: str | None = None
    owner: str | None = None
    schedule: str | None = None
    timeout_seconds: int | None = None
    ratio: str | None = None
    labels: dict[str, str] = {}
    args: list[str] = []
    env: list[NameValue] = []
    ports: list[Port] = []
    resources: Resources | None = None
    strategy: Strategy | None = None
    probe: Probe | None = None
    selector: dict[str, str] = {}


class WidgetStatus(Struct):
    observed_generation: int | None = None
    phase: str | None = None
    ready_replicas: int | None = None
    endpoint: str | None = None
    conditions: list[Condition] = []


@kind(group="bench.setpoint.dev", version="v1")
class Widget(Resource[WidgetSpec, WidgetStatus]):
    """The object that all programs hold."""
