"""A place that refers to a type may say how that type is owned there: all of it by one, or its parts one by one.

OpenAPI can say so for maps alone (`x-kubernetes-map-type` beside a `$ref`); the types themselves know it for lists, too.
"""

from typing import Any

import pytest

from setpoint.cluster.server.structured import ApplyConflict, TypedSchema, apply
from setpoint.cluster.server.structured.atoms import Atom, Field, ListAtom, MapAtom

Json = dict[str, Any]
STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}


def by(manager: str, live: Json | None, schema: TypedSchema, value: Any) -> Json:
    thing = {"apiVersion": "v1", "kind": "T", "field": value}
    common: Json = {"api_version": "v1", "subresource": "", "now": "2026-01-01T00:00:00Z", "force": False}
    return apply(live, thing, schema, manager=manager, **common)


def referring(definition: Json, **said: str) -> TypedSchema:
    properties = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    field = {"allOf": [{"$ref": "#/components/schemas/named"}], **said}
    return TypedSchema.from_openapi({"type": "object", "properties": {**properties, "field": field}}, {"named": definition})


def holding(atom: Atom) -> TypedSchema:
    fields = {"apiVersion": Field(Atom("string")), "kind": Field(Atom("string")), "field": Field(atom)}
    return TypedSchema(
        Atom(map=MapAtom(fields, Atom("untyped", ListAtom(Atom("untyped"), True), MapAtom({}, Atom("untyped"), False)), False))
    )


def test_an_atomic_map_is_separable_where_it_is_said_to_be_granular() -> None:
    schema = referring({**STRINGS, "x-kubernetes-map-type": "atomic"}, **{"x-kubernetes-map-type": "granular"})
    live = by("a", None, schema, {"x": "1"})
    assert by("b", live, schema, {"y": "1"})["field"] == {"x": "1", "y": "1"}


def test_a_map_of_no_type_is_atomic_where_it_is_said_to_be() -> None:
    schema = referring(STRINGS, **{"x-kubernetes-map-type": "atomic"})
    live = by("a", None, schema, {"x": "1"})
    with pytest.raises(ApplyConflict, match=r"conflict with \"a\": \.field"):
        by("b", live, schema, {"y": "1"})


def test_an_associative_list_is_atomic_where_it_is_said_to_be() -> None:
    schema = holding(Atom(list=ListAtom(Atom("string"), False)).with_relationship(True))
    live = by("a", None, schema, ["x"])
    with pytest.raises(ApplyConflict, match=r"conflict with \"a\": \.field"):
        by("b", live, schema, ["y"])


def test_an_atomic_list_is_associative_where_it_is_said_to_be() -> None:
    schema = holding(Atom(list=ListAtom(Atom("string"), True)).with_relationship(False))
    live = by("a", None, schema, ["x"])
    assert by("b", live, schema, ["y"])["field"] == ["x", "y"]
