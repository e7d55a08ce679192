"""The kinds of the contract: one that uses every form that a class can have, and others that know less of it."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Literal

from setpoint.objects import UNSET as UNSET
from setpoint.objects import (
    Column,
    Condition,
    Field,
    IntOrString,
    MicroTime,
    Object,
    Quantity,
    Resource,
    Rule,
    Scale,
    Struct,
    UnsetType,
    absent,
    kind,
)

GROUP = "contract.example.com"


class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Port(Struct):
    """A port that is open."""

    port: Annotated[int, Field(ge=1, le=65535)]
    protocol: Annotated[str, Field(enum=["TCP", "UDP"])] = "TCP"
    name: str | None = None
    weight: int | None = None


class Tuning(Struct):
    """Something optional with defaults inside."""

    workers: Annotated[int, Field(ge=1)] = 4
    ratio: Annotated[float, Field(gt=0, lt=1)] = 0.5
    flags: dict[str, bool] = {}


class Step(Struct):
    """An item of a list that has no key."""

    run: str
    retries: int | None = None


class Cut(Struct):
    """Contains itself, cut off."""

    children: Annotated[list[Annotated[Cut, Field(preserve_unknown_fields=True)]], Field(max_items=4)] = []


class GadgetSpec(Struct):
    """What is wanted."""

    size: Annotated[int, Field(ge=0, le=100)]
    host: Annotated[str, Field(pattern=r"^[a-z]+(\.[a-z]+)*$", min_length=1, max_length=20, description="Where.")] = "localhost"
    mode: Mode = Mode.FAST
    level: Level | None = None
    tier: Literal["gold", "tin"] | UnsetType | None = UNSET
    grade: Level | UnsetType | None = UNSET
    limit: int | UnsetType | None = UNSET
    enabled: bool = True
    share: Annotated[float, Field(ge=0, multiple_of=0.25)] | None = None
    blob: bytes | None = None
    since: datetime | None = None
    precisely: MicroTime | None = None
    target: IntOrString | None = None
    memory: Quantity | None = None
    labels: dict[str, str] = {}
    limits: Annotated[dict[str, Quantity], Field(max_properties=3)] = {}
    by_name: dict[str, Tuning] = {}
    free: dict[str, Any] = {}
    anything: Any = None
    names: Annotated[list[Annotated[str, Field(min_length=1)]], Field(list_type="set", max_items=3)] = []
    codes: Annotated[list[int], Field(list_type="atomic")] = []
    ports: Annotated[list[Port], Field(list_map_keys=["port", "protocol"])] = []
    steps: list[Step] = []
    grid: list[list[int]] = []
    selector: Annotated[dict[str, str], Field(map_type="atomic")] = {}
    tuning: Tuning = absent(Tuning)
    tree: Cut | None = None
    open: Annotated[Tuning | None, Field(preserve_unknown_fields=True)] = None
    embedded: Annotated[dict[str, Any], Field(embedded_resource=True)] = {}
    cluster_ip: str | None = None
    api_url: Annotated[str | None, Field(name="apiURL")] = None


class GadgetStatus(Struct):
    """What is there."""

    ready: int = 0
    selector: str | None = None
    observed_generation: int | None = None
    conditions: list[Condition] = []
    notes: list[str] = []


@kind(
    group=GROUP,
    version="v1",
    short_names=["gad"],
    categories=["contract"],
    columns=[
        Column(name="Size", type="integer", path=".spec.size"),
        Column(name="Host", type="string", path=".spec.host", priority=1, description="Where it is."),
        Column(name="Since", type="date", path=".spec.since"),
    ],
    scale=Scale(spec=".spec.size", status=".status.ready", selector=".status.selector"),
)
class Gadget(Resource[GadgetSpec, GadgetStatus]):
    """Uses every form that a class can have."""


class NarrowPort(Struct):
    port: int
    protocol: str = "TCP"
    weight: int | None = None


class NarrowStep(Struct):
    run: str


class NarrowSpec(Struct):
    size: int
    ports: Annotated[list[NarrowPort], Field(list_map_keys=["port", "protocol"])] = []
    steps: list[NarrowStep] = []


class NarrowStatus(Struct):
    ready: int = 0


@kind(group=GROUP, version="v1", name="Gadget")
class NarrowGadget(Resource[NarrowSpec, NarrowStatus]):
    """The same kind to somebody who knows less of it."""


@kind(group=GROUP, version="v1", scope="Cluster", short_names=["reg"])
class Region(Object):
    """A kind without spec, status and namespace."""

    weight: int = 1


class Span(Struct):
    low: int = 0
    high: int = 0


ORDERED = Rule(
    "self.low <= self.high",
    message="low above high",
    message_expression="self.high > 0 ? 'high is below low' : 'there is no high'",
    reason="FieldValueForbidden",
    field_path=".high",
)


class RuledSpec(Struct):
    fixed: Annotated[str, Field(immutable=True, max_length=10)] | None = None
    window: Annotated[Tuning | None, Field(cel=[Rule("self.workers < 100", message="too many workers")])] = None
    span: Annotated[Span | None, Field(cel=[ORDERED])] = None
    once: Annotated[int | None, Field(cel=[Rule("oldSelf.optMap(old, old <= self).orValue(true)", optional_old_self=True)])] = None


@kind(group=GROUP, version="v1", plural="ruled", cel=[Rule("self.metadata.name != 'odd'", message="no odd name")])
class Ruled(Resource[Annotated[RuledSpec, Field(cel=["!has(self.once) || self.once > 0"])], GadgetStatus]):
    """A kind with validation rules in the Common Expression Language."""


class LampSpec(Struct):
    watts: int = 40


@kind(group=GROUP, version="v2", name="Lamp")
class Lamp(Resource[LampSpec, NarrowStatus]):
    """A kind with a past."""


@kind(group=GROUP, version="v1", name="Lamp", stored=True, deprecated="use v2 of lamps")
class FormerLamp(Resource[LampSpec, NarrowStatus]):
    """The version in which lamps are still stored."""


@kind(group=GROUP, version="v1beta1", name="Lamp", deprecated=True)
class EarlyLamp(Resource[LampSpec, NarrowStatus]):
    """A version that the server warns of in its own words."""


@kind(group=GROUP, version="v1alpha1", name="Lamp", served=False)
class FirstLamp(Resource[LampSpec, NarrowStatus]):
    """A version that is not served any more."""


KINDS: list[type[Object]] = [Gadget, Region]
