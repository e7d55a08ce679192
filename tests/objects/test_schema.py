"""From classes to structural schemas and CustomResourceDefinitions."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import msgspec
import pytest

from setpoint.objects import (
    UNSET,
    Condition,
    Field,
    IntOrString,
    Object,
    Quantity,
    Resource,
    Rule,
    SchemaError,
    Struct,
    UnsetType,
    crd,
    decode,
    kind,
    schema_of,
)

from .kinds import WebApp, WebAppSpec, WebAppStatus


class Mode(StrEnum):
    FAST = "fast"
    SLOW = "slow"


class Level(IntEnum):
    ONE = 1


Colour = NewType("Colour", str)


class Port(Struct):
    """A port that is open."""

    port: int
    protocol: str = "TCP"


RULE = Rule(
    "self.port < 1024",
    message="use a low port",
    message_expression="'not ' + string(self.port)",
    reason="FieldValueForbidden",
    field_path=".port",
    optional_old_self=True,
)


class All(Struct):
    text: str
    flag: bool
    ratio: float
    blob: bytes
    since: datetime
    anything: Any
    free: dict[str, Any]
    labels: dict[str, str]
    names: Annotated[list[Annotated[str, Field(min_length=1)]], Field(list_type="set", max_items=3)]
    ports: Annotated[list[Port], Field(list_map_keys=["port", "protocol"])]
    conditions: list[Condition] = []
    mode: Mode = Mode.FAST
    level: Level | None = None
    tier: Literal["x", "y"] | UnsetType | None = UNSET
    target: IntOrString | None = None
    memory: Quantity | None = None
    part: Annotated[float, Field(gt=0, lt=1, multiple_of=0.5)] | None = None
    host: Annotated[str, Field(pattern="^a", immutable=True, cel=["size(self) < 3"], description="Where.")] | None = None
    inner: Port | None = None
    colour: Colour | None = None
    grid: Annotated[list[list[Annotated[int, Field(ge=1)]]], Field(max_items=3)] = []
    limits: Annotated[dict[Literal["cpu", "memory"], Quantity], Field(max_properties=2, map_type="atomic")] = {}
    whole: Annotated[dict[str, Any], Field(embedded_resource=True)] = {}
    checked: Annotated[Port | None, Field(cel=[RULE])] = None


def property_of(cls: type[Struct], wire: str) -> Any:
    return schema_of(cls)["properties"][wire]


@pytest.mark.parametrize(
    ("wire", "schema"),
    [
        ("text", {"type": "string"}),
        ("flag", {"type": "boolean"}),
        ("ratio", {"type": "number"}),
        ("blob", {"type": "string", "format": "byte"}),
        ("since", {"type": "string", "format": "date-time"}),
        ("anything", {"x-kubernetes-preserve-unknown-fields": True}),
        ("free", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        ("labels", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("names", {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 3, "x-kubernetes-list-type": "set"}),
        ("mode", {"type": "string", "enum": ["fast", "slow"], "default": "fast"}),
        ("level", {"type": "integer", "enum": [1]}),
        ("tier", {"type": "string", "nullable": True, "anyOf": [{"enum": ["x", "y"]}, {"minLength": 1, "maxLength": 0}]}),
        ("target", {"x-kubernetes-int-or-string": True}),
        ("colour", {"type": "string"}),
        ("grid", {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 1}}, "maxItems": 3}),
        ("whole", {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-embedded-resource": True}),
        ("part", {"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": True, "multipleOf": 0.5}),
    ],
)
def test_each_type_has_its_schema(wire: str, schema: dict[str, Any]) -> None:
    assert property_of(All, wire) == schema


def test_a_nested_struct_is_written_out_with_its_description() -> None:
    port = {
        "description": "A port that is open.",
        "type": "object",
        "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}},
        "required": ["port"],
    }
    assert property_of(All, "inner") == port
    lists = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]}
    assert property_of(All, "ports") == {"type": "array", "items": port, **lists}


def test_conditions_are_a_map_by_type() -> None:
    conditions = property_of(All, "conditions")
    assert (conditions["x-kubernetes-list-type"], conditions["x-kubernetes-list-map-keys"]) == ("map", ["type"])


def test_rules_and_immutability_are_validations() -> None:
    assert property_of(All, "host") == {
        "type": "string",
        "description": "Where.",
        "pattern": "^a",
        "x-kubernetes-validations": [{"rule": "size(self) < 3"}, {"rule": "self == oldSelf", "message": "host is immutable"}],
    }


def test_a_rule_says_its_message_its_reason_and_its_field() -> None:
    assert property_of(All, "checked")["x-kubernetes-validations"] == [
        {
            "rule": "self.port < 1024",
            "message": "use a low port",
            "messageExpression": "'not ' + string(self.port)",
            "reason": "FieldValueForbidden",
            "fieldPath": ".port",
            "optionalOldSelf": True,
        }
    ]


def test_rules_on_a_whole_object_are_at_the_root_and_on_a_whole_spec_at_the_spec() -> None:
    @kind(group="g.example.com", version="v1", cel=["self.metadata.name != 'x'", RULE])
    class Ruled(Resource[Annotated[WebAppSpec, Field(cel=["self.replicas > 0"])], WebAppStatus]):
        pass

    schema = schema_of(Ruled)
    assert [rule["rule"] for rule in schema["x-kubernetes-validations"]] == ["self.metadata.name != 'x'", "self.port < 1024"]
    assert schema["properties"]["spec"]["x-kubernetes-validations"] == [{"rule": "self.replicas > 0"}]
    with pytest.raises(TypeError, match=r"@kind\(cel=...\) takes a list"):
        kind(group="g.example.com", version="v1", cel="self.x")


def test_a_map_has_the_schema_of_its_values() -> None:
    limits = property_of(All, "limits")
    assert (limits["type"], limits["maxProperties"], limits["x-kubernetes-map-type"]) == ("object", 2, "atomic")
    assert limits["additionalProperties"]["x-kubernetes-int-or-string"] is True


def test_what_has_no_default_is_required_in_the_order_of_the_class() -> None:
    required = ["text", "flag", "ratio", "blob", "since", "anything", "free", "labels", "names", "ports"]
    assert schema_of(All)["required"] == required


def test_there_is_no_reference_and_no_any_of_but_for_an_enum_that_may_be_null() -> None:
    written = json.dumps({wire: schema for wire, schema in schema_of(All)["properties"].items() if wire != "tier"})
    assert "$ref" not in written
    assert "anyOf" not in written


class Node(Struct):
    children: list[Node] = []


class Tree(Struct):
    root: Node | None = None


class Cut(Struct):
    children: Annotated[list[Annotated[Cut, Field(preserve_unknown_fields=True)]], Field(max_items=2)] = []


def test_a_type_that_contains_itself_is_refused_with_its_cycle() -> None:
    with pytest.raises(SchemaError, match=r"Node\.children: a schema cannot contain itself \(Tree\.root -> Node\.children -> Node\)"):
        schema_of(Tree)
    items = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert property_of(Cut, "children") == {"type": "array", "items": items, "maxItems": 2}


ItemT = TypeVar("ItemT")


class Box(Struct, Generic[ItemT]):
    item: ItemT
    spare: list[ItemT] = []


class Boxes(Struct):
    port: Box[Port]
    text: Box[str] | None = None
    many: list[Box[Box[Port]]] = []


def test_a_generic_struct_is_described_and_read_with_its_type_arguments() -> None:
    box = {"type": "object", "properties": {"item": {"type": "string"}, "spare": {"type": "array", "items": {"type": "string"}}}}
    assert property_of(Boxes, "text") == {**box, "required": ["item"]}
    inner = property_of(Boxes, "many")["items"]["properties"]["item"]
    assert inner == property_of(Boxes, "port")
    assert inner["properties"]["item"]["required"] == ["port"]
    # A null inside is passed over only by what knows the type of each item.
    read = decode(Boxes, b'{"port": {"item": {"port": 1, "protocol": null}, "spare": null}}')
    assert read == Boxes(port=Box(item=Port(port=1)))


class Bag(Struct):
    values: Annotated[list[Annotated[Port, Field(map_type="atomic")]], Field(list_type="set")] = []


def test_a_set_may_hold_structs_that_are_each_a_value_as_a_whole() -> None:
    found = property_of(Bag, "values")
    assert (found["x-kubernetes-list-type"], found["items"]["x-kubernetes-map-type"]) == ("set", "atomic")


def test_a_field_refuses_what_no_schema_can_say() -> None:
    with pytest.raises(TypeError, match=r'list_type="map".* needs list_map_keys'):
        Field(list_type="map")
    with pytest.raises(ValueError, match="JSON has no such number"):
        Field(le=float("inf"))


class Wide(Struct):
    size: Annotated[int, Field(le=2**63 - 1)] = 0
    far: Annotated[float, Field(le=1e300)] = 0.0


def test_a_bound_is_written_as_the_server_will_write_it() -> None:
    """The server keeps bounds as floats: more digits than those have would be a difference for ever."""
    assert json.dumps(property_of(Wide, "size")["maximum"]) == "9223372036854776000"
    assert property_of(Wide, "far")["maximum"] == 1e300
    assert isinstance(property_of(Wide, "far")["maximum"], float)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no such statement yet")
def test_a_type_statement_is_what_it_stands_for() -> None:
    names: dict[str, Any] = {"__name__": __name__, "Struct": Struct, "Annotated": Annotated, "Field": Field}
    source = """
type Number = Annotated[int, Field(ge=1)]
type Many[T] = list[T]
type Endless = list[Endless]
class Aliased(Struct):
    one: Number
    many: Many[Number] = []
class Bad(Struct):
    endless: Endless = []
"""
    exec(
        compile(source, "aliases", "exec", dont_inherit=True), names
    )  # this module's annotations are text, for which these names are not there
    number = {"type": "integer", "minimum": 1}
    assert schema_of(names["Aliased"])["properties"] == {"one": number, "many": {"type": "array", "items": number}}
    with pytest.raises(SchemaError, match="Bad: the type Endless contains itself"):
        schema_of(names["Bad"])


class Bad1(Struct):
    tags: set[str] = set()


class Bad2(Struct):
    value: int | bool = 1


class Bad3(Struct):
    by_number: dict[int, str] = {}


class Bad4(Struct):
    ports: Annotated[list[Port], Field(list_map_keys=["number"])] = []


class Bad5(Struct):
    size: Annotated[int, msgspec.Meta(ge=1)] = 1


class Bad6(Struct):
    boxes: list[Box] = []  # type: ignore[type-arg]  # of what is not said


class Bad7(Struct):
    ratio: float = float("nan")


class Bad8(Struct):
    ports: Annotated[list[Port], Field(list_type="set")] = []


class Bad9(Struct):
    grid: Annotated[list[list[str]], Field(list_type="set")] = []


class Loose(Struct):
    name: str | None = None


class Bad10(Struct):
    names: Annotated[list[Loose], Field(list_map_keys=["name"])] = []


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (Bad1, r"Bad1\.tags: set\[str\]"),
        (Bad2, r"Bad2\.value: .*int \| bool"),
        (Bad3, r"Bad3\.by_number: .*keys"),
        (Bad4, r"'number', which Port"),
        (Bad5, r"Bad5\.size: msgspec\.Meta judges on reading.*use Field"),
        (Bad6, r"Box\.item: what ItemT is must be said where the class is used"),
        (Bad7, r"Bad7\.ratio: nan has no form in JSON"),
        (Bad8, r'Bad8\.ports: list_type="set" is for a list of plain values'),
        (Bad9, r'Bad9\.grid: list_type="set" is for a list of plain values'),
        (Bad10, r"Bad10\.names: list_map_keys names 'name', which may be left out: require it in Loose, or give it a default"),
    ],
)
def test_what_a_schema_cannot_say_is_refused_by_class_and_field(cls: type[Struct], says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        schema_of(cls)


def test_the_spec_is_required_if_something_in_it_is() -> None:
    @kind(group="g.example.com", version="v1")
    class Lax(Resource[WebAppStatus, WebAppStatus]):
        pass

    assert schema_of(WebApp)["required"] == ["spec"]
    assert "required" not in schema_of(Lax)
    assert "default" not in schema_of(WebApp)["properties"]["status"]


def test_the_definition_of_a_kind_says_what_was_declared() -> None:
    definition = crd(WebApp)
    (version,) = definition["spec"].pop("versions")
    assert definition == {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "webapps.apps.example.com"},
        "spec": {
            "group": "apps.example.com",
            "names": {"kind": "WebApp", "listKind": "WebAppList", "plural": "webapps", "singular": "webapp", "shortNames": ["wa"]},
            "scope": "Namespaced",
        },
    }
    assert version.pop("schema")["openAPIV3Schema"]["description"] == "A web application: one Deployment and one Service."
    assert version == {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.readyReplicas"}},
        "additionalPrinterColumns": [
            {"name": "Ready", "type": "integer", "jsonPath": ".status.readyReplicas"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
    }


def versioned(version: str, **config: Any) -> type[Object]:
    @kind(group=config.pop("group", "apps.example.com"), version=version, name="WebApp", **config)
    class Version(Resource[WebAppSpec, WebAppStatus]):
        pass

    return Version


def test_several_versions_make_one_definition_with_one_that_is_stored() -> None:
    classes = [versioned(name) for name in ("v1alpha1", "v1", "v2beta1", "v1beta2")]
    stored = {version["name"]: version["storage"] for version in crd(*classes)["spec"]["versions"]}
    assert list(stored.items()) == [("v1", True), ("v2beta1", False), ("v1beta2", False), ("v1alpha1", False)]
    assert [version["name"] for version in crd(*classes, storage="v1beta2")["spec"]["versions"] if version["storage"]] == ["v1beta2"]


def test_a_version_says_that_it_is_deprecated_no_longer_served_or_the_stored_one() -> None:
    definition = crd(
        versioned("v1"),
        versioned("v1beta2", stored=True),
        versioned("v1beta1", deprecated="apps.example.com/v1beta1 WebApp: use v1"),
        versioned("v1alpha1", deprecated=True, served=False),
    )
    versions = [{key: value for key, value in version.items() if key in SAYS} for version in definition["spec"]["versions"]]
    assert versions == [
        {"name": "v1", "served": True, "storage": False},
        {"name": "v1beta2", "served": True, "storage": True},
        {
            "name": "v1beta1",
            "served": True,
            "storage": False,
            "deprecated": True,
            "deprecationWarning": "apps.example.com/v1beta1 WebApp: use v1",
        },
        {"name": "v1alpha1", "served": False, "storage": False, "deprecated": True},
    ]


SAYS = ("name", "served", "storage", "deprecated", "deprecationWarning")


def test_classes_that_are_not_versions_of_one_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="stored in one version, not in v2 and v1"):
        crd(versioned("v1", stored=True), versioned("v2", stored=True))
    with pytest.raises(ValueError, match="scope differs"):
        crd(versioned("v1"), versioned("v2", scope="Cluster"))
    with pytest.raises(ValueError, match="two classes are version v1"):
        crd(versioned("v1"), versioned("v1"))
    with pytest.raises(ValueError, match="has no version v3"):
        crd(versioned("v1"), storage="v3")
    with pytest.raises(ValueError, match="a group with a domain"):
        crd(versioned("v1", group=""))


def test_a_type_that_cannot_be_found_names_the_class():
    class Lost(Struct):
        size: Nope | None = None  # noqa: F821  # that is the mistake

    @kind(group="example.com", version="v1")
    class Shop(Resource[Lost, WebAppStatus]):
        pass

    with pytest.raises(TypeError, match="the type of a field of Lost is not to be found: name 'Nope' is not defined") as raised:
        crd(Shop)
    causes = [raised.value.__cause__]
    while isinstance(causes[-1], Exception):
        causes.append(causes[-1].__context__)
    assert [type(cause) for cause in causes] == [TypeError, NameError, type(None)], "each comes of the one before it"


class Hue(Struct):
    color: str = "red"
    depth: int = 1
    share: float = 0.5
    names: dict[str, str] = {}


def dyed(*paths: str) -> dict[str, Any]:
    @kind(group="example.com", version="v1", selectable_fields=paths)
    class Dyed(Resource[Hue, Hue]):
        pass

    return crd(Dyed)["spec"]["versions"][0]


def test_selectable_fields_go_into_the_definition() -> None:
    assert dyed(".spec.color", ".status.depth", ".spec.names.en")["selectableFields"] == [
        {"jsonPath": ".spec.color"},
        {"jsonPath": ".status.depth"},
        {"jsonPath": ".spec.names.en"},
    ]
    assert "selectableFields" not in dyed()


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        ([".spec.colour"], "there is no 'colour'"),
        ([".metadata.name"], "there is no 'name'"),
        (["spec.color"], r'a path of names such as "\.spec\.color", not \'spec\.color\''),
        ([".spec.names[en]"], "a path of names"),
        ([".spec"], "is no text, whole number or boolean"),
        ([".spec.share"], "is no text, whole number or boolean"),
        ([".spec.color", ".spec.color"], "selectable twice"),
        ([f".spec.names.n{n}" for n in range(9)], "at most 8 selectable fields, not 9"),
    ],
)
def test_a_selectable_field_must_be_one_that_a_server_takes(paths: list[str], says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        dyed(*paths)


def test_selectable_fields_are_a_list() -> None:
    with pytest.raises(TypeError, match="takes a list"):
        kind(group="example.com", version="v1", selectable_fields=".spec.color")
