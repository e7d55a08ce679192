"""Objects as the OpenAPI schemas of a real kube-apiserver allow them: `objects` of any sort, and the one that `holds_everything`.

The schemas are recorded by ``tools/generate_k8s.py``; the classes are not asked.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st

from setpoint.objects import Object

Json: TypeAlias = Any
_RECORDED = json.loads(gzip.decompress((Path(__file__).parent / "data" / "schemas.json.gz").read_bytes()))
KINDS: dict[str, dict[str, Any]] = _RECORDED["kinds"]
"""What discovery says of each kind, by the name of its schema."""
SCHEMAS: dict[str, dict[str, Any]] = _RECORDED["schemas"]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
TIME, MICRO_TIME, QUANTITY = _META + "Time", _META + "MicroTime", "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
OPEN = (_SCHEMA, _META + "FieldsV1", "io.k8s.apimachinery.pkg.runtime.RawExtension")
"""Any JSON, which stays as it is."""
UNIONS: dict[str, tuple[Json, ...]] = {
    _SCHEMA + "SchemaPropsOrArray": ({"$ref": _SCHEMA + "SchemaProps"}, {"type": "array", "items": {"$ref": _SCHEMA + "SchemaProps"}}),
    _SCHEMA + "SchemaPropsOrBool": ({"$ref": _SCHEMA + "SchemaProps"}, {"type": "boolean"}),
    _SCHEMA + "SchemaPropsOrStringArray": ({"$ref": _SCHEMA + "SchemaProps"}, {"type": "array", "items": {"type": "string"}}),
}
"""Of these the document only says in words what they are."""

DEPTH = 12
"""Levels below which only what is required is there: some schemas contain themselves."""


IDENTIFYING = sorted(
    {
        key
        for schema in SCHEMAS.values()
        for inner in schema.get("properties", {}).values()
        for key in inner.get("x-kubernetes-list-map-keys", ())
    }
    | {"name", "type", "containerPort", "port", "key", "ip", "mountPath", "uid"}
)
"""Fields that tell the items of a list apart: an item that has another one is another item."""


def class_of(name: str) -> type[Object]:
    """The class that stands for a kind."""
    kind = KINDS[name]
    module = import_module(f"setpoint.k8s.{kind['group'].partition('.')[0] or 'core'}.{kind['version']}")
    found = getattr(module, kind["kind"])
    assert isinstance(found, type)
    assert issubclass(found, Object)
    return found


def reference_of(schema: Json) -> str | None:
    """The name of the schema that this one refers to."""
    reference = schema.get("allOf", [schema])[0].get("$ref")
    return reference.rpartition("/")[2] if isinstance(reference, str) else None


# ---- any object

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | _TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_TEXT, inner, max_size=2),
    max_leaves=4,
)
_OPEN = st.dictionaries(_TEXT, _JSON, max_size=2)
_INTEGERS = {"int32": st.integers(-(2**31), 2**31 - 1), "int64": st.integers(-(2**63), 2**63 - 1)}
_PLAIN = {
    "boolean": st.booleans(),
    "number": st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9),
    "object": _OPEN,
}
_QUANTITIES = st.builds(str.__add__, st.integers(0, 10**6).map(str), st.sampled_from(["", "m", "k", "Ki", "Gi", "e3", ".5"]))


@st.composite
def _times(draw: st.DrawFn) -> str:
    """A time in one of the spellings of RFC 3339."""
    time = draw(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)))
    minutes = draw(st.sampled_from([0, 0, 120, -330]))
    zone = timezone(timedelta(minutes=minutes))
    text = time.replace(tzinfo=zone).isoformat(timespec=draw(st.sampled_from(["seconds", "milliseconds", "microseconds"])))
    return text.replace("+00:00", "Z") if draw(st.booleans()) else text


_SPECIAL: dict[str, st.SearchStrategy[Json]] = {
    TIME: _times(),
    MICRO_TIME: _times(),
    QUANTITY: _QUANTITIES | st.integers(0, 99),
    INT_OR_STRING: st.integers(0, 2**31 - 1) | _TEXT,
    OPEN[0]: _JSON,
    OPEN[1]: _OPEN,
    OPEN[2]: _OPEN,
}


@st.composite
def objects(draw: st.DrawFn, name: str) -> Json:
    """An object of a kind, which has a name, as all have that a server holds."""
    kind = KINDS[name]
    content = draw(_structs(name, 0))
    content["metadata"] = {**(content.get("metadata") or {}), "name": "one"}
    return {**content, "apiVersion": f"{kind['group']}/{kind['version']}".lstrip("/"), "kind": kind["kind"]}


@st.composite
def _structs(draw: st.DrawFn, name: str, depth: int) -> Json:
    schema = SCHEMAS[name]
    required = schema.get("required", [])
    optional = [field for field in schema.get("properties", {}) if field not in required]
    chosen = draw(st.lists(st.sampled_from(optional), unique=True, max_size=4 if depth < 4 else 2)) if optional and depth < DEPTH else []
    content = {field: draw(_values(schema["properties"][field], depth + 1)) for field in (*required, *chosen)}
    if chosen and draw(st.integers(0, 9)) == 0:
        content[chosen[0]] = None
    return content


def _values(schema: Json, depth: int) -> st.SearchStrategy[Json]:
    reference = reference_of(schema)
    if reference in _SPECIAL:
        return _SPECIAL[reference]
    if reference in UNIONS:
        return st.one_of([_values(form, depth) for form in UNIONS[reference]])
    if reference:
        return _structs(reference, depth)
    if schema["type"] == "array":
        return st.lists(_values(schema["items"], depth), max_size=2)
    if schema["type"] == "object" and "additionalProperties" in schema:
        return st.dictionaries(_TEXT, _values(schema["additionalProperties"], depth), max_size=2)
    if schema["type"] == "integer":
        return _INTEGERS[schema["format"]]
    if schema.get("format") == "byte":
        return st.binary(max_size=6).map(lambda data: base64.b64encode(data).decode())
    if schema["type"] == "string":
        return st.sampled_from(schema["enum"]) | _TEXT if "enum" in schema else _TEXT
    return _PLAIN[schema["type"]]


# ---- the object that holds everything

_SAMPLES = {
    TIME: "2026-01-02T03:04:05Z",
    MICRO_TIME: "2026-01-02T03:04:05.678901Z",
    QUANTITY: "1500m",
    INT_OR_STRING: "25%",
    **{name: {"any": [None, {"thing": {}}]} for name in OPEN},
}
_PLAIN_SAMPLES = {"integer": 7, "boolean": False, "number": 0.5, "string": "text", "object": {"free": [1]}}


def holds_everything(name: str) -> Json:
    """An object of a kind with every field that there is, down to the leaves; a schema inside itself is left empty."""
    kind = KINDS[name]
    content = _everything({"$ref": name}, ())
    return {**content, "apiVersion": f"{kind['group']}/{kind['version']}".lstrip("/"), "kind": kind["kind"]}


def _everything(schema: Json, above: tuple[str, ...]) -> Json:
    reference = reference_of(schema)
    if reference in _SAMPLES:
        return _SAMPLES[reference]
    if reference in UNIONS:
        return _everything(UNIONS[reference][0], above)
    if reference in above:
        return {}
    if reference:
        properties = SCHEMAS[reference].get("properties", {})
        return {field: _everything(inner, (*above, reference)) for field, inner in properties.items()}
    if schema["type"] == "array":
        return [_everything(schema["items"], above)]
    if schema["type"] == "object" and "additionalProperties" in schema:
        return {"some/key": _everything(schema["additionalProperties"], above)}
    return "AP8=" if schema.get("format") == "byte" else _PLAIN_SAMPLES[schema["type"]]


# ---- the same JSON


def normal(name: str, content: Json) -> Json:
    """One spelling of all that mean the same: no empty list or map, no null, times in UTC, quantities as text.

    What an object inside an object says of its kind is left out: its place says so already.
    """
    return {**_normal({"$ref": name}, content), "apiVersion": content["apiVersion"], "kind": content["kind"]}


def _normal(schema: Json, value: Json) -> Json:
    reference = reference_of(schema)
    if reference in (TIME, MICRO_TIME):
        time = datetime.fromisoformat(value).astimezone(UTC)
        return (time if reference == MICRO_TIME else time.replace(microsecond=0)).isoformat()
    if reference == QUANTITY:
        return str(value)
    if reference in UNIONS:
        form = UNIONS[reference][0 if isinstance(value, dict) else 1]
        return _normal(form, value)
    if reference in OPEN or reference == INT_OR_STRING:
        return value
    if reference:
        return _normal_struct(reference, value)
    if schema["type"] == "array":
        return [_normal(schema["items"], item) for item in value]
    if "additionalProperties" in schema:
        return {key: _normal(schema["additionalProperties"], item) for key, item in value.items()}
    return value


def _normal_struct(name: str, content: Json) -> Json:
    schema = SCHEMAS[name]
    found = {}
    for field, value in content.items():
        inner = schema.get("properties", {}).get(field)
        if inner is None:
            found[field] = value  # unknown
        elif not (
            value is None or (name in KINDS and field in ("apiVersion", "kind")) or (value in ([], {}) and _may_be_empty(schema, field))
        ):
            found[field] = _normal(inner, value)
    return found


def _may_be_empty(schema: Json, field: str) -> bool:
    """Whether an empty list or map says no more than none. A struct that is there and empty says that it is there."""
    inner = schema["properties"][field]
    is_plain = reference_of(inner) is None and inner["type"] in ("array", "object")
    return field not in schema.get("required", []) and is_plain


def in_each_struct(name: str, content: Json, change: Callable[[Json], Json]) -> Json:
    """The object with a change in each of the structs that it is made of, itself included: inside lists and maps too."""
    return _in_each({"$ref": name}, content, change)


def _in_each(schema: Json, value: Json, change: Callable[[Json], Json]) -> Json:
    reference = reference_of(schema)
    if reference in UNIONS:
        return _in_each(UNIONS[reference][0 if isinstance(value, dict) else 1], value, change)
    if value is None or reference in _SPECIAL:
        return value
    if reference:
        properties = SCHEMAS[reference].get("properties", {})
        return change({key: _in_each(properties[key], item, change) if key in properties else item for key, item in value.items()})
    if schema["type"] == "array":
        return [_in_each(schema["items"], item, change) for item in value]
    if "additionalProperties" in schema:
        return {key: _in_each(schema["additionalProperties"], item, change) for key, item in value.items()}
    return value
