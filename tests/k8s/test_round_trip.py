"""Objects that are built from the API's own schemas go through the typed classes, and through a change, without loss."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from setpoint.api.patch import merge_patch
from setpoint.objects import Difference, Object, Part, decode, difference, encode, is_absent, kind_of

from .schemas import IDENTIFYING, KINDS, SCHEMAS, Json, class_of, holds_everything, in_each_struct, normal, objects, reference_of

UNKNOWN = "x-of-a-newer-server"
each_kind = pytest.mark.parametrize(
    "name", [pytest.param(name, id=name.partition(".api.")[2] or name.rpartition("apis.")[2]) for name in KINDS]
)
few = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # to shrink such objects takes minutes
    suppress_health_check=list(HealthCheck),
)


def through_the_class(name: str, content: Json) -> Json:
    return msgspec.json.decode(encode(decode(class_of(name), msgspec.json.encode(content))))


@each_kind
def test_every_field_that_there_is_comes_back(name: str) -> None:
    everything = holds_everything(name)
    assert normal(name, through_the_class(name, everything)) == normal(name, everything)


@each_kind
@given(data=st.data())
@few
def test_whatever_the_schema_allows_comes_back_as_the_same_json(name: str, data: st.DataObject) -> None:
    content = data.draw(objects(name))
    assert normal(name, through_the_class(name, content)) == normal(name, content)


@each_kind
@given(data=st.data())
@few
def test_what_a_class_does_not_know_survives_a_change(name: str, data: st.DataObject) -> None:
    """On the server, in every struct of the object, inside the items of lists too. And no null is sent but to take something out."""
    numbers = itertools.count()
    known = data.draw(objects(name))
    raw = in_each_struct(name, known, lambda struct: {**struct, UNKNOWN: {"number": next(numbers), "none": None}})
    obj = decode(class_of(name), msgspec.json.encode(raw))
    places = list(leaves(obj))
    chosen = data.draw(st.lists(st.sampled_from(range(len(places))), unique=True, max_size=3)) if places else []
    for number in chosen:
        change(places[number], number)
    obj.metadata.labels = {**obj.metadata.labels, "changed": "yes"}

    stored = written(raw, obj)

    assert unknown_in(stored) == unknown_in(raw)
    assert normal(name, without_unknown(stored)) == normal(name, msgspec.json.decode(encode(obj)))


@each_kind
def test_nothing_is_sent_but_what_was_stated(name: str) -> None:
    """An object of only what the class requires is sent as just that: no null, no empty list, no default."""
    bare = {**required(name, holds_everything(name)), **{field: holds_everything(name)[field] for field in ("apiVersion", "kind")}}
    obj = decode(class_of(name), msgspec.json.encode(bare))
    assert msgspec.json.decode(encode(obj)) == bare
    assert difference(encode(obj), obj, part="all") is None


def required(name: str, everything: Json) -> Json:
    """What the schema requires, all the way down."""
    schema, content = SCHEMAS[name], {}
    for field in schema.get("required", []):
        reference = reference_of(schema["properties"][field])
        has_fields = reference is not None and "properties" in SCHEMAS[reference]
        content[field] = required(reference, everything[field]) if reference and has_fields else everything[field]
    return content


# ---- changing an object

Place = tuple[Any, Any]
"""A struct and an attribute, a list and an index, or a map and a key, where a text or a number is."""


def leaves(value: Any) -> Any:
    """Where the texts and numbers of an object are that may change without making something else of it."""
    if isinstance(value, msgspec.Struct) and not is_absent(value):
        for info in msgspec.structs.fields(value):
            if info.encode_name not in ("resourceVersion", "managedFields", *IDENTIFYING):
                yield from _leaf(value, info.name, getattr(value, info.name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if not isinstance(item, (str, int)):  # an item that is plain has nothing that could be lost
                yield from leaves(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaf(value, key, item)


def _leaf(holder: Any, where: Any, value: Any) -> Any:
    if type(value) in (str, int):
        yield holder, where
    elif type(value).__module__.startswith("setpoint") or isinstance(value, (list, dict)):
        yield from leaves(value)


def change(place: Place, number: int) -> None:
    holder, where = place
    if isinstance(holder, dict):
        holder[where] = f"changed {number}"
    elif isinstance(getattr(holder, where), str):
        setattr(holder, where, f"changed {number}")
    else:
        setattr(holder, where, 1_000_000 + number)


def written(raw: Json, obj: Object) -> Json:
    """What the server holds after the object was updated, its status apart where it is a subresource."""
    parts: tuple[Part, ...] = ("main", "status") if kind_of(type(obj)).has_status else ("all",)
    for part in parts:
        found = difference(msgspec.json.encode(raw), obj, part=part)
        if found is not None:
            assert all(path_in(raw, path) for path in nulls(found)), "a null that takes nothing out"
            raw = applied(raw, found)
    return raw


def applied(raw: Json, found: Difference) -> Json:
    if found.json_patch is None:
        return merge_patch(raw, found.merge)
    raw = msgspec.json.decode(msgspec.json.encode(raw))
    for operation in found.json_patch:
        *above, last = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]]
        holder = raw
        for step in above:
            holder = holder[step]
        if operation["op"] == "add":
            holder[last] = operation["value"]
        else:
            del holder[last]
    return raw


def nulls(found: Difference) -> list[tuple[str, ...]]:
    """Where a merge patch has a null."""

    def walk(value: Json, path: tuple[str, ...]) -> Any:
        if value is None:
            yield path
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from walk(item, (*path, key))

    return list(walk(found.merge or {}, ()))


def path_in(value: Json, path: tuple[str, ...]) -> bool:
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False
        value = value[step]
    return True


def unknown_in(value: Json) -> list[Json]:
    """What no class knows, in the order of the object."""
    if isinstance(value, dict):
        own = [value[UNKNOWN]["number"]] if UNKNOWN in value else []
        return sorted(itertools.chain(own, *(unknown_in(item) for key, item in value.items() if key != UNKNOWN)))
    return sorted(itertools.chain(*map(unknown_in, value))) if isinstance(value, list) else []


def without_unknown(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: without_unknown(item) for key, item in value.items() if key != UNKNOWN}
    return [without_unknown(item) for item in value] if isinstance(value, list) else value
