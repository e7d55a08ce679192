"""The edge cases of server-side apply that structured-merge-diff's own tests name, as requests for a real API server.

A table to tick off: the names are theirs, by their test files; what was asked and answered is recorded (`record_listed.py`) and replayed on
all of our server (`test_listed.py`). Cases that custom resources cannot hold are put to built-in kinds. Beyond requests are:

- field renames, fields whose conversion depends on others, real version conversion (`multiple_appliers_test.go`): no kind here has versions
  that differ in more than what their schemas leave out, so there is nothing to convert. Versions that do differ in that are here.
- overrides at a reference (`field_level_overrides_test.go`): definitions of custom resources know no references; `test_overrides.py`.
- walks over sets, serialization, unknown and malformed path elements: `test_fieldset.py`, `test_walks.py`.
- what Kubernetes adds (`fieldmanager` tests): the last section here, and `scenarios.py`.

A step is (verb, manager, what, options): `apply` sends an object with that spec; `update` puts that spec in the place of the live one, or
creates; `merge` is a patch of the whole object; `schema` and `versions` change the definition. Options: `version` (of the API), `force`,
`sub`, `dry`, `validation`; `raw` sends the body as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Json = dict[str, Any]
Step = tuple[Any, ...]
What = Json | bytes | Callable[[Json], Json]
GROUP = "listed.setpoint.dev"

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
STRINGS = {"type": "array", "items": STRING}
SET = {**STRINGS, "x-kubernetes-list-type": "set"}


def _struct(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def _map(values: Json, **more: Any) -> Json:
    return {"type": "object", "additionalProperties": values, **more}


def keyed(*keys: str, required: tuple[str, ...] = (), **properties: Any) -> Json:
    """A list whose items are known by keys."""
    return {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(keys),
        "items": {
            "type": "object",
            "required": [key for key in keys if key in required or "default" not in properties[key]],
            "properties": properties,
        },
    }


def _fields() -> Json:
    inner = _struct(string=STRING, numeric=INTEGER)
    return {
        "string": STRING,
        "numeric": INTEGER,
        "bool": {"type": "boolean"},
        "set": SET,
        "numbers": {"type": "array", "items": INTEGER, "x-kubernetes-list-type": "set"},
        "list": STRINGS,
        "atomicMap": _map(STRING, **{"x-kubernetes-map-type": "atomic"}),
        "map": _map(STRING),
        "struct": _struct(
            string=STRING, numeric=INTEGER, inner=inner, map=_map(STRING), set=SET, parts=keyed("name", name=STRING, value=STRING)
        ),
        "listOfMaps": keyed("name", name=STRING, value=_map(STRING)),
        "listOfLists": keyed("name", name=STRING, value=SET),
        "mapOfMaps": _map(_map(STRING)),
        "mapOfLists": _map(SET),
        "mapOfMapsOfMaps": _map(_map(_map(STRING))),
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "parts": keyed("name", name=STRING, value=STRING, number=INTEGER, parts=keyed("name", name=STRING, value=STRING)),
        "ports": keyed("port", "protocol", port=INTEGER, protocol={**STRING, "default": "TCP"}, name=STRING),
        "pairs": keyed("a", "b", a={**STRING, "default": "A"}, b={**STRING, "default": "B"}, value=STRING),
        "nested": keyed(
            "name", name=STRING, pairs=keyed("a", "b", a={**STRING, "default": "A"}, b={**STRING, "default": "B"}, value=STRING)
        ),
        "floats": keyed("number", "name", number={**INTEGER, "default": 1.0}, name={**STRING, "default": "x"}, value=STRING),
    }


def _schema(**fields: Any) -> Json:
    status = _struct(string=STRING, map=_map(STRING), parts=keyed("name", name=STRING, value=STRING))
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}, "status": status}}


def _version(name: str, schema: Json, *, storage: bool = False) -> Json:
    parts = {"status": {}, "scale": {"specReplicasPath": ".spec.numeric", "statusReplicasPath": ".status.numeric"}}
    return {"name": name, "served": True, "storage": storage, "subresources": parts, "schema": {"openAPIV3Schema": schema}}


def _definition(plural: str, kind: str, *versions: Json) -> Json:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": list(versions),
        },
    }


_ALL = _schema(**_fields())
_LESS = _schema(**{name: field for name, field in _fields().items() if name not in ("bool", "map")})
GADGETS = _definition("gadgets", "Gadget", _version("v1", _ALL), _version("v2", _ALL, storage=True), _version("v3", _LESS))

# Definitions that a case changes: the case's own.
_GRANULAR = _schema(struct=_struct(a=STRING, b=_struct(c=STRING, d=STRING)))
_ATOMIC = _schema(struct={**_struct(a=STRING, b=_struct(c=STRING, d=STRING)), "x-kubernetes-map-type": "atomic"})
_ONE_KEY = _schema(parts=keyed("name", name=STRING, value=STRING))
_ONE_KEY_KIND = _schema(parts=keyed("name", name=STRING, value=STRING, kind={**STRING, "default": "plain"}))
_TWO_KEYS = _schema(parts=keyed("name", "kind", name=STRING, value=STRING, kind={**STRING, "default": "plain"}))
_TWO_KEYS_NO_DEFAULT = _schema(parts=keyed("name", "kind", name=STRING, value=STRING, kind=STRING))
_KIND_NO_DEFAULT = _schema(parts=keyed("name", name=STRING, value=STRING, kind=STRING))


def _a(manager: str, spec: What | None = None, **options: Any) -> Step:
    return ("apply", manager, spec or {}, options)


def _u(manager: str, spec: What | None = None, **options: Any) -> Step:
    return ("update", manager, spec or {}, options)


def _m(manager: str, patch: Any, **options: Any) -> Step:
    return ("merge", manager, patch, options)


def _named(*names: str, **more: Any) -> list[Json]:
    return [{"name": name, **more} for name in names]


def _extracted(manager: str, field: str, add: Any = None, without: tuple[str, ...] = ()) -> Callable[[Json], Json]:
    """What a manager owns of a map, a set or a list by name in the live object, as it would apply it again, with something more or less."""

    def spec(live: Json) -> Json:
        owned: Json = next((entry["fieldsV1"] for entry in live["metadata"].get("managedFields", []) if entry["manager"] == manager), {})
        below = owned.get("f:spec", {}).get(f"f:{field}")
        value = (live.get("spec") or {}).get(field)
        if below is None:
            return {} if add is None else {field: add}
        if isinstance(value, dict):
            mine: Any = {key: item for key, item in value.items() if (f"f:{key}" in below or not below) and key not in without}
            return {field: {**mine, **(add or {})}}
        if isinstance(value, list):
            names = [key.partition(":")[2] for key in below]
            items = [
                item for item in value if not below or any((item["name"] if isinstance(item, dict) else item) in name for name in names)
            ]
            items = [item for item in items if (item["name"] if isinstance(item, dict) else item) not in without]
            return {field: [*items, *(add or [])]}
        return {field: value if add is None else add}

    return spec


def _deployment(*env: Json) -> Json:
    labels = {"app": "listed"}
    pod = {"containers": [{"name": "c", "image": "i", "env": list(env)}]}
    return {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}


def _env(name: str, value: str) -> Json:
    return {"name": name, "value": value}


ON_DEPLOYMENT, ON_CONFIG_MAP = "Deployment", "ConfigMap"

LEAF: dict[str, list[Step]] = {
    "leaf_apply_twice": [_a("a", {"numeric": 1, "string": "s"}), _a("a", {"numeric": 2, "string": "s", "bool": False})],
    "leaf_apply_update_apply_no_conflict": [_a("a", {"numeric": 1}), _u("c", {"numeric": 1, "bool": True}), _a("a", {"numeric": 2})],
    "leaf_apply_update_apply_with_conflict": [
        _a("a", {"numeric": 1, "string": "s"}),
        _u("c", {"numeric": 1, "string": "controller", "bool": True}),
        _a("a", {"numeric": 2, "string": "user"}),
        _a("a", {"numeric": 2, "string": "user"}, force=True),
    ],
    "leaf_apply_twice_remove": [_a("a", {"numeric": 1, "string": "s", "bool": False}), _a("a", {"string": "new"})],
    "leaf_apply_twice_remove, other versions": [
        _a("a", {"numeric": 1, "string": "s", "bool": False}),
        _a("a", {"string": "new"}, version="v2"),
    ],
    "leaf_apply_update_apply_with_conflict, other versions": [
        _a("a", {"numeric": 1, "string": "s"}),
        _u("c", {"numeric": 1, "string": "controller"}, version="v2"),
        _a("a", {"numeric": 2, "string": "user"}),
        _a("a", {"numeric": 2, "string": "user"}, force=True, version="v2"),
    ],
    "leaf_apply_remove_empty_set": [_a("a", {"string": "s"}), _a("a")],
    "leaf_update_remove_empty_set": [_u("c", {"string": "s"}), _u("c")],
    "update_apply_omits": [_a("a", {"numeric": 2}), _u("c", {"numeric": 1}), _a("a")],
    "apply_twice_list_is_atomic": [_a("a", {"list": ["a", "a", "c"]}), _a("a", {"list": ["b", "c"]})],
}

SETS: dict[str, list[Step]] = {
    "apply_twice": [_a("a", {"set": ["a", "c"]}), _a("a", {"set": ["a", "b", "c", "d"]})],
    "apply_twice_remove": [_a("a", {"set": ["a", "b", "c", "d"]}), _a("a", {"set": ["a", "c"]})],
    "apply_twice_reorder": [_a("a", {"set": ["a", "b", "c", "d"]}), _a("a", {"set": ["a", "d", "c", "b"]})],
    "apply_update_apply_no_overlap": [
        _a("a", {"set": ["a", "c"]}),
        _u("c", {"set": ["a", "b", "c", "d"]}),
        _a("a", {"set": ["a", "aprime", "c", "cprime"]}),
    ],
    "apply_update_apply_with_overlap": [
        _a("a", {"set": ["a", "c"]}),
        _u("c", {"set": ["a", "b", "c", "d"]}),
        _a("a", {"set": ["a", "b", "c"]}),
    ],
    "apply_update_apply_reorder": [
        _a("a", {"set": ["a", "b", "c", "d"]}),
        _u("c", {"set": ["a", "d", "c", "b"]}),
        _a("a", {"set": ["a", "b", "c", "d"]}),
    ],
    "apply_twice_different_versions": [_a("a", {"set": ["a", "c"]}), _a("a", {"set": ["a", "b", "c", "d"]}, version="v2")],
    "apply_twice_remove_across_versions": [
        _a("a", {"set": ["a", "b", "c", "d"]}),
        _a("a", {"set": ["a", "c", "e"]}, version="v2"),
        _a("a", {"set": ["a"]}, version="v3"),
    ],
    "apply_update_apply_no_overlap_and_different_version": [
        _a("a", {"set": ["a", "c"]}),
        _u("c", {"set": ["a", "b", "c", "d"]}, version="v2"),
        _a("a", {"set": ["a", "aprime", "c", "cprime"]}),
    ],
    "apply_update_apply_with_overlap_and_different_version": [
        _a("a", {"set": ["a", "c"]}),
        _u("c", {"set": ["a", "b", "c", "d"]}, version="v2"),
        _a("a", {"set": ["a", "b", "c"]}),
    ],
    "apply_update_apply_reorder_across_versions": [
        _a("a", {"set": ["a", "b", "c", "d"]}),
        _u("c", {"set": ["a", "d", "c", "b"]}, version="v2"),
        _a("a", {"set": ["a", "b", "c", "d"]}, version="v2"),
    ],
    "apply_remove_empty_set": [_a("a", {"set": ["a"]}), _a("a")],
    "update_remove_empty_set": [_u("c", {"set": ["a"]}), _u("c")],
    "sets of numbers": [_a("a", {"numbers": [1, 2]}), _a("b", {"numbers": [2, 3]}), _a("a", {"numbers": []})],
}

MULTIPLE: dict[str, list[Step]] = {
    "remove_one": [
        _a("one", {"parts": _named("a", "b")}),
        _a("two", {"parts": _named("c")}, version="v2"),
        _a("one", {"parts": _named("a")}, version="v3"),
    ],
    "same_value_no_conflict": [_a("one", {"parts": _named("a", value="0")}), _a("two", {"parts": _named("a", value="0")}, version="v2")],
    "change_value_yes_conflict": [_a("one", {"parts": _named("a", value="0")}), _a("two", {"parts": _named("a", value="1")}, version="v2")],
    "remove_one_keep_one": [
        _a("one", {"parts": _named("a", "b", "c")}),
        _a("two", {"parts": _named("c", "d")}, version="v2"),
        _a("one", {"parts": _named("a")}, version="v3"),
    ],
    "remove_one_keep_one_with_sub_item": [
        _a("one", {"parts": _named("a") + _named("b", value="0")}),
        _a("two", {"parts": _named("b", value="0")}, version="v2"),
        _a("one", {"parts": _named("a")}, version="v3"),
    ],
    "remove_one_keep_one_with_two_sub_items": [
        _a("one", {"parts": _named("a") + _named("b", value="0")}),
        _a("two", {"parts": _named("b", number=0)}, version="v2"),
        _a("one", {"parts": _named("a")}, version="v3"),
    ],
    "remove_one_keep_one_with_dangling_subitem": [
        _a("one", {"parts": _named("a", "b")}),
        _a("two", {"parts": _named("b", value="0")}, version="v2"),
        _u("c", {"parts": [*_named("a"), {"name": "b", "value": "0", "number": 7}]}, version="v2"),
        _a("one", {"parts": _named("a")}),
    ],
    "remove_one_with_dangling_subitem_keep_one": [
        _a("one", {"parts": _named("a")}),
        _u("c", {"parts": _named("a", value="0")}),
        _a("two", {"parts": _named("b")}),
        _a("one"),
    ],
    "remove_one_with_managed_subitem_keep_one": [
        _a("one", {"parts": _named("a")}),
        _a("two", {"parts": _named("a", value="0") + _named("b")}),
        _a("one"),
        _a("two", {"parts": _named("b")}),
    ],
    "unset_scalar_sole_owner": [_a("a", {"string": "s"}), _a("a")],
    "unset_scalar_shared_with_applier": [_a("a", {"string": "s"}), _a("b", {"string": "s"}), _a("a")],
    "unset_scalar_shared_with_updater": [_a("a", {"string": "s"}), _u("c", {"string": "t"}), _a("a", {"string": "t"}), _a("a")],
    "updater_claims_field": [_a("a", {"string": "s", "bool": True}), _u("c", {"string": "t", "bool": True}), _a("a", {"bool": True})],
    "unset_complex_sole_owner": [_a("a", {"struct": {"string": "s", "inner": {"numeric": 1}}, "map": {"k": "v"}, "set": ["a"]}), _a("a")],
    "unset_complex_shared_with_applier": [
        _a("a", {"struct": {"string": "s", "inner": {"numeric": 1}}, "map": {"k": "v"}}),
        _a("b", {"struct": {"inner": {"numeric": 1}}}),
        _a("a"),
    ],
    "applier_updater_shared_ownership": [
        _u("c", {"mapOfMaps": {"a": {"b": "1"}}}),
        _a("a", {"mapOfMaps": {"a": {"b": "1"}, "c": {}}}),
        _u("c", {"mapOfMaps": {"c": {}}}),
        _a("a", {"mapOfMaps": {}}),
    ],
    "appliers_remove_from_controller": [
        _u("c", {"mapOfMaps": {"a": {"b": "1", "c": "2"}, "d": {}}}),
        _a("one", {"mapOfMaps": {"a": {"b": "1"}}}),
        _a("two", {"mapOfMaps": {"a": {"b": "1", "e": "3"}}}, version="v2"),
        _a("one"),
        _a("two", version="v3"),
    ],
    "multiple_appliers_recursive_map": [
        _a("one", {"mapOfMapsOfMaps": {"a": {"b": {}}, "c": {"d": {"e": "1"}}}}),
        _a("two", {"mapOfMapsOfMaps": {"a": {}, "c": {"d": {"f": "1"}}}}, version="v2"),
        _u("c", {"mapOfMapsOfMaps": {"a": {"b": {"x": "1"}}, "c": {"d": {"e": "1", "f": "1"}}}}, version="v2"),
        _a("one", {"mapOfMapsOfMaps": {}}),
        _a("two", {"mapOfMapsOfMaps": {"c": {"d": {}}}}, version="v3"),
    ],
    "multiple_appliers_recursive_map_deduced": [
        _a("one", {"free": {"a": {"b": {}}, "c": {"d": None}}}),
        _a("two", {"free": {"a": {}, "c": {"d": {}}}}, version="v2"),
        _a("two", {"free": {"a": {}, "c": {"d": {}}}}, version="v2", force=True),
        _u("c", {"free": {"a": {"b": None}, "c": {"d": {"e": 1}}}}, version="v2"),
        _a("one", {"free": {}}),
        _a("two", {"free": {"c": {"d": {}}}}, version="v3"),
    ],
    "versions whose schemas differ": [
        _a("one", {"bool": True, "map": {"a": "1"}, "string": "s"}),
        _a("two", {"string": "t"}, version="v3"),
        _a("two", {"string": "t"}, version="v3", force=True),
        _a("one", {"bool": True, "map": {"a": "1"}}),
        _a("one", {"bool": True}, version="v3"),
        _a("one", {"numeric": 1}, version="v3"),
    ],
    "atomic map, forced": [
        _a("one", {"atomicMap": {"a": "1", "b": "2"}}),
        _a("two", {"atomicMap": {"a": "1"}}),
        _a("two", {"atomicMap": {"a": "1"}}, force=True),
        _a("one", {"atomicMap": {"a": "1"}}),
        _a("one"),
    ],
    "many conflicts": [
        _a("one", {"string": "a", "set": ["x"], "parts": _named("p", value="1")}),
        _a("two", {"numeric": 1, "map": {"k": "v"}}),
        _u("three", {"string": "a", "set": ["x"], "parts": _named("p", value="2"), "numeric": 1, "map": {"k": "w"}}),
        _a("four", {"string": "b", "numeric": 2, "map": {"k": "x"}, "parts": _named("p", value="3")}),
        _a("four", {"string": "b", "numeric": 2, "map": {"k": "x"}, "parts": _named("p", value="3")}, force=True),
    ],
    "apply of another version than the body's": [
        _a("a", {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {}}, version="v2", raw=True)
    ],
}

NESTED: dict[str, list[Step]] = {
    "listOfLists_change_value": [
        _a("a", {"listOfLists": [{"name": "a", "value": ["b", "c"]}]}),
        _a("a", {"listOfLists": [{"name": "a", "value": ["a", "c"]}]}),
    ],
    "listOfLists_change_key_and_value": [
        _a("a", {"listOfLists": [{"name": "a", "value": ["b"]}]}),
        _a("a", {"listOfLists": [{"name": "b", "value": ["a"]}]}),
    ],
    "listOfMaps_change_value": [
        _a("a", {"listOfMaps": [{"name": "a", "value": {"b": "x", "c": "y"}}]}),
        _a("a", {"listOfMaps": [{"name": "a", "value": {"a": "x", "c": "z"}}]}),
    ],
    "listOfMaps_change_key_and_value": [
        _a("a", {"listOfMaps": [{"name": "a", "value": {"b": "x"}}]}),
        _a("a", {"listOfMaps": [{"name": "b", "value": {"a": "x"}}]}),
    ],
    "mapOfLists_change_value": [_a("a", {"mapOfLists": {"b": ["a", "c"]}}), _a("a", {"mapOfLists": {"b": ["b", "c"]}})],
    "mapOfLists_change_key_and_value": [_a("a", {"mapOfLists": {"b": ["a", "c"]}}), _a("a", {"mapOfLists": {"a": ["b", "c"]}})],
    "mapOfMaps_change_value": [_a("a", {"mapOfMaps": {"b": {"a": "1", "c": "2"}}}), _a("a", {"mapOfMaps": {"b": {"b": "1", "c": "3"}}})],
    "mapOfMaps_change_key_and_value": [_a("a", {"mapOfMaps": {"b": {"a": "1"}}}), _a("a", {"mapOfMaps": {"a": {"b": "1"}}})],
    "mapOfMapsRecursive_change_middle_key": [
        _a("a", {"mapOfMapsOfMaps": {"a": {"b": {"c": "1"}}}}),
        _a("a", {"mapOfMapsOfMaps": {"a": {"d": {"c": "1"}}}}),
    ],
    "struct_apply_remove_all": [_a("a", {"struct": {"string": "s", "inner": {"string": "t"}}}), _a("a")],
    "struct_apply_remove_dangling": [_a("a", {"struct": {"string": "s"}}), _u("c", {"struct": {"string": "s", "numeric": 1}}), _a("a")],
    "struct_apply_update_remove_all": [_a("a", {"struct": {"string": "s"}}), _u("c", {"string": "x"}), _a("a")],
    "struct_apply_update_dict_dangling": [
        _a("a", {"struct": {"map": {"a": "1"}}}),
        _u("c", {"struct": {"map": {"a": "1", "b": "2"}}}),
        _a("a", {"struct": {}}),
        _a("a"),
    ],
    "struct_apply_update_dict_null": [
        _a("a", {"struct": {"map": None}}),
        _a("a", {"free": {"map": None}}),
        _u("c", {"free": {"map": {"a": 1}}}),
        _a("a", {"free": {}}),
    ],
    "struct_apply_update_took_over": [
        _a("a", {"struct": {"string": "s", "parts": _named("a", value="1")}}),
        _u("c", {"struct": {"string": "t", "parts": _named("a", value="2")}}),
        _a("a", {"struct": {"parts": _named("a")}}),
        _a("a"),
    ],
    "apply_update_apply_nested": [
        _a("a", {"parts": [{"name": "p", "parts": _named("x", value="1")}]}),
        _u(
            "c",
            {
                "parts": [
                    {
                        "name": "p",
                        "parts": _named(
                            "x",
                            value="2",
                        )
                        + _named("y"),
                    }
                ]
            },
            version="v2",
        ),
        _a("a", {"parts": [{"name": "p", "parts": _named("x", value="3")}]}),
        _a("a", {"parts": [{"name": "p", "parts": _named("x", value="3")}]}, force=True),
        _a("a", {"parts": _named("p")}),
    ],
}

KEYS: dict[str, list[Step]] = {
    "removing_obsolete_applied_structs": [_a("a", {"parts": _named("a", number=1)}), _a("a", {"parts": _named("b", number=2)})],
    "apply_missing_defaulted_key_A": [_a("a", {"pairs": [{"b": "b", "value": "1"}]})],
    "apply_missing_defaulted_key_B": [_a("a", {"pairs": [{"a": "a", "value": "1"}]})],
    "apply_missing_every_key": [_a("a", {"pairs": [{"value": "1"}]})],
    "apply_missing_defaulted_key_with_conflict": [
        _a("one", {"pairs": [{"a": "a", "value": "1"}]}),
        _a("two", {"pairs": [{"a": "a", "b": "B", "value": "2"}]}),
        _a("two", {"pairs": [{"a": "a", "b": "B", "value": "2"}]}, force=True),
    ],
    "apply_missing_defaulted_key_ambiguous_A": [_a("a", {"pairs": [{"b": "b", "value": "1"}, {"a": "A", "b": "b", "value": "2"}]})],
    "apply_missing_defaulted_key_ambiguous_B": [_a("a", {"pairs": [{"a": "a", "value": "1"}, {"a": "a", "b": "B", "value": "2"}]})],
    "apply_missing_every_key_nested": [_a("a", {"nested": [{"name": "n", "pairs": [{"value": "1"}]}]})],
    "apply_missing_undefaulted_defaulted_key": [_a("a", {"ports": [{"protocol": "UDP"}]}), _a("a", {"ports": [{"name": "x"}]})],
    "ports of one number": [
        _a("a", {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]}),
        _a("b", {"ports": [{"port": 80, "protocol": "TCP", "name": "web"}]}),
        _a("a", {"ports": [{"port": 80, "protocol": "UDP"}]}),
    ],
    "apply_integer_key_with_float_default": [
        _a("a", {"floats": [{"name": "y", "value": "1"}]}),
        _a("a", {"floats": [{"number": 1, "name": "y", "value": "2"}]}),
    ],
    "an item without its key": [_a("a", {"parts": [{"value": "1"}]}), _a("a", {"parts": [{"name": None, "value": "1"}]})],
    "the same item twice": [_a("a", {"parts": _named("a", "a")}), _a("a", {"set": ["a", "a"]})],
}

DUPLICATES: dict[str, tuple[str, list[Step]]] = {
    "sets: ownership with duplicates": (
        ON_CONFIG_MAP,
        [_u("c", {"finalizers": ["x.io/a", "x.io/a", "x.io/b"]}), _a("a", {"finalizers": ["x.io/a"]})],
    ),
    "sets: adding a duplicate": (
        ON_CONFIG_MAP,
        [
            _u("c", {"finalizers": ["x.io/a", "x.io/b"]}),
            _u("d", {"finalizers": ["x.io/a", "x.io/b", "x.io/a"]}),
            _a("a", {"finalizers": ["x.io/b"]}),
        ],
    ),
    "sets: removing a duplicate": (
        ON_CONFIG_MAP,
        [
            _u("c", {"finalizers": ["x.io/a", "x.io/b", "x.io/a"]}),
            _u("d", {"finalizers": ["x.io/a", "x.io/b"]}),
            _u("e", {"finalizers": ["x.io/b"]}),
        ],
    ),
    "sets: applying without the duplicates": (
        ON_CONFIG_MAP,
        [
            _u("c", {"finalizers": ["x.io/a", "x.io/a", "x.io/b"]}),
            _a("a", {"finalizers": ["x.io/b", "x.io/c"]}),
            _a("a", {"finalizers": ["x.io/c"]}),
        ],
    ),
    "sets: a duplicate is applied": (ON_CONFIG_MAP, [_a("a", {"finalizers": ["x.io/a", "x.io/a"]})]),
    "lists: ownership with duplicates": (ON_DEPLOYMENT, [_u("c", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "1")))]),
    "lists: merging with duplicates": (
        ON_DEPLOYMENT,
        [
            _u("c", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "1"))),
            _a("a", _deployment(_env("A", "3"))),
            _a("a", _deployment(_env("A", "3")), force=True),
            _a("a", _deployment()),
        ],
    ),
    "lists: ignoring duplicates": (
        ON_DEPLOYMENT,
        [
            _u("c", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "1"))),
            _a("a", _deployment(_env("C", "3"))),
            _a("a", _deployment(_env("B", "3")), force=True),
        ],
    ),
    "lists: adding a duplicate": (
        ON_DEPLOYMENT,
        [_u("c", _deployment(_env("A", "1"), _env("B", "1"))), _u("d", _deployment(_env("A", "1"), _env("A", "1"), _env("B", "1")))],
    ),
    "lists: removing a duplicate": (
        ON_DEPLOYMENT,
        [_u("c", _deployment(_env("A", "1"), _env("A", "2"))), _u("d", _deployment(_env("A", "1"))), _u("e", _deployment(_env("A", "2")))],
    ),
    "lists: changing a duplicated item": (
        ON_DEPLOYMENT,
        [
            _u("c", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "1"))),
            _u("d", _deployment(_env("A", "1"), _env("A", "3"), _env("B", "1"))),
        ],
    ),
    "lists: changing a non-duplicated item": (
        ON_DEPLOYMENT,
        [
            _u("c", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "1"))),
            _u("d", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "2"))),
        ],
    ),
    "lists: an unrelated change": (
        ON_DEPLOYMENT,
        [_u("c", _deployment(_env("A", "1"), _env("A", "2"))), _u("d", {**_deployment(_env("A", "1"), _env("A", "2")), "replicas": 3})],
    ),
    "lists: applying without the duplicates": (
        ON_DEPLOYMENT,
        [
            _a("a", _deployment(_env("A", "1"), _env("B", "1"))),
            _u("c", _deployment(_env("A", "1"), _env("A", "2"), _env("B", "1"))),
            _a("a", _deployment(_env("B", "1"))),
        ],
    ),
}

SCHEMAS: dict[str, tuple[Json, list[Step]]] = {
    "granular to atomic": (
        _GRANULAR,
        [_a("a", {"struct": {"a": "1"}}), ("schema", "", _ATOMIC, {}), _a("b", {"struct": {"a": "2"}}), _u("c", {"struct": {"a": "3"}})],
    ),
    "granular to atomic with child fields": (
        _GRANULAR,
        [
            _a("a", {"struct": {"b": {"c": "1"}}}),
            _a("b", {"struct": {"b": {"d": "1"}}}),
            ("schema", "", _ATOMIC, {}),
            _a("a", {"struct": {"b": {"c": "2"}}}),
            _a("a", {"struct": {"b": {"c": "2"}}}, force=True),
        ],
    ),
    "atomic to granular": (
        _ATOMIC,
        [
            _a("a", {"struct": {"a": "1", "b": {"c": "1"}}}),
            ("schema", "", _GRANULAR, {}),
            _a("b", {"struct": {"a": "2"}}),
            _a("a", {"struct": {"a": "1"}}),
            _a("a"),
        ],
    ),
    "new required key with default": (
        _ONE_KEY,
        [
            _a("a", {"parts": _named("p", value="1")}),
            ("schema", "", _TWO_KEYS, {}),
            _a("b", {"parts": _named("p", value="2")}),
            _a("b", {"parts": _named("p", value="2", kind="plain")}, force=True),
            _a("a", {"parts": _named("p", value="1", kind="other")}),
        ],
    ),
    "new optional key": (
        _ONE_KEY,
        [
            _a("a", {"parts": _named("p", value="1")}),
            ("schema", "", _ONE_KEY_KIND, {}),
            _a("b", {"parts": _named("p", value="1", kind="other")}),
            _a("b", {"parts": _named("p", value="1", kind="other")}, force=True),
            _a("a", {"parts": []}),
        ],
    ),
    "promoting a field to a key: the identical item merges": (
        _ONE_KEY_KIND,
        [
            _a("a", {"parts": _named("p", value="1", kind="k")}),
            ("schema", "", _TWO_KEYS, {}),
            _a("a", {"parts": _named("p", value="2", kind="k")}),
        ],
    ),
    "promoting a field to a key: a distinct item is added": (
        _ONE_KEY_KIND,
        [
            _a("a", {"parts": _named("p", value="1", kind="k")}),
            ("schema", "", _TWO_KEYS, {}),
            _a("b", {"parts": _named("p", value="2", kind="l")}),
            _a("a", {"parts": _named("p", value="3")}),
        ],
    ),
    "promoting a field to a key: missing is distinct": (
        _KIND_NO_DEFAULT,
        [
            _a("a", {"parts": _named("p", value="1")}),
            ("schema", "", _TWO_KEYS_NO_DEFAULT, {}),
            _a("b", {"parts": _named("p", value="2", kind="k")}),
            _a("a", {"parts": _named("p", value="3", kind="k")}, force=True),
        ],
    ),
}

VERSIONS: dict[str, list[Step]] = {
    "obsolete version of an updater": [
        _u("old", {"string": "s", "numeric": 1}),
        _u("new", {"string": "s", "numeric": 2}, version="v2"),
        ("versions", "", ["v2", "v3"], {}),
        _u("new", {"string": "t", "numeric": 2}, version="v2"),
        _a("a", {"string": "u"}, version="v2"),
    ],
    "obsolete version of an applier": [
        _a("a", {"string": "s", "numeric": 1}),
        ("versions", "", ["v2", "v3"], {}),
        _a("b", {"numeric": 2}, version="v2"),
        _a("a", {"string": "t"}, version="v2"),
        _a("b", {"numeric": 3}, version="v3", force=True),
    ],
}

IGNORED: dict[str, list[Step]] = {
    "update_does_not_own_ignored": [
        _u("c", {"string": "s"}),
        _m("c", {"status": {"string": "x"}}),
        _m("s", {"spec": {"string": "t"}, "status": {"string": "y"}}, sub="status"),
    ],
    "update_does_not_own_deep_ignored": [
        _u("c", {"string": "s"}),
        _m("s", {"metadata": {"labels": {"a": "1"}}, "status": {"map": {"k": "v"}}}, sub="status"),
    ],
    "apply_does_not_own_ignored": [
        _a(
            "a",
            {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {}, "spec": {"string": "s"}, "status": {"string": "x"}},
            raw=True,
        )
    ],
    "apply_does_not_own_deep_ignored": [
        _a("a", {"string": "s"}),
        _a(
            "s",
            {
                "apiVersion": f"{GROUP}/v1",
                "kind": "Gadget",
                "metadata": {"labels": {"a": "1"}},
                "spec": {"string": "t"},
                "status": {"map": {"k": "v"}},
            },
            raw=True,
            sub="status",
        ),
        _a(
            "s",
            {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "status": {"map": {"k": "v"}}, "metadata": {"labels": {"a": "1"}}},
            raw=True,
            sub="status",
            force=True,
        ),
    ],
    "update_does_not_steal_ignored": [
        _u("c", {"string": "s"}),
        _m("s", {"status": {"string": "x"}}, sub="status"),
        _m("c", {"status": {"string": "y"}, "spec": {"numeric": 1}}),
    ],
    "apply_does_not_steal_ignored": [
        _a("a", {"string": "s"}),
        _m("s", {"status": {"string": "x"}}, sub="status"),
        _a("b", {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {}, "status": {"string": "y"}}, raw=True, force=True),
    ],
    "does_use_ignored_fields_versions": [
        _a("s", {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {}}, raw=True),
        _a(
            "s",
            {"apiVersion": f"{GROUP}/v2", "kind": "Gadget", "metadata": {}, "status": {"string": "x"}},
            raw=True,
            sub="status",
            version="v2",
        ),
        _a(
            "s",
            {"apiVersion": f"{GROUP}/v3", "kind": "Gadget", "metadata": {}, "status": {"map": {"a": "b"}}},
            raw=True,
            sub="status",
            version="v3",
        ),
    ],
    "preserve_unknown_fields": [
        _a("a", {"free": {"num": 5, "deep": {"list": [1, {"a": 2}], "unknown": True}}}),
        _a("b", {"free": {"num": 6, "deep": {"list": [2]}}}),
        _a("b", {"free": {"num": 6, "deep": {"list": [2]}}}, force=True),
        _a("a", {"free": {"deep": {}}}),
    ],
}

EXTRACTED: dict[str, list[Step]] = {
    "apply_one_extract_apply_one_own_both": [_a("one", {"parts": _named("a")}), _a("one", _extracted("one", "parts", _named("b")))],
    "extract_apply_from_beginning": [
        _a("one", {"parts": _named("a")}),
        _a("one", _extracted("one", "parts", _named("b"))),
    ],
    "apply_after_extract_remove_fields": [_a("one", {"parts": _named("a", "b")}), _a("one", _extracted("one", "parts", without=("a",)))],
    "apply_one_controller_remove_extract_apply_one": [
        _a("one", {"parts": _named("a")}),
        _u("c", {"parts": []}),
        _a("one", _extracted("one", "parts", _named("b"))),
    ],
    "extract_apply_retain_ownership_after_controller_update": [
        _a("one", {"parts": _named("a", "b")}),
        _u("c", {"parts": _named("c", "d", "a")}),
        _a("one", _extracted("one", "parts", _named("e"))),
    ],
    "extract_apply_share_ownership_after_another_apply": [
        _a("one", {"parts": _named("a", "b")}),
        _a("two", {"parts": _named("b", "c")}),
        _a("one", _extracted("one", "parts", _named("d"))),
    ],
    "apply_two_cant_delete_object_also_owned_by_extract_apply": [
        _a("one", {"parts": _named("a", "b")}),
        _a("two", {"parts": _named("b")}),
        _a("one", _extracted("one", "parts", _named("c"))),
        _a("two", {"parts": []}),
    ],
    "extract_apply_empty_structure_list": [_a("one", {"parts": []}), _a("one", _extracted("one", "parts", _named("a")))],
    "extract_apply_empty_structure_remove_list": [_a("one", {"parts": []}), _a("one", {"string": "s"})],
    "extract_apply_empty_structure_add_later_list": [
        _a("one", {"parts": []}),
        _a("two", {"parts": _named("a")}),
        _a("one", _extracted("one", "parts")),
    ],
    "extract_apply_empty_structure_map": [_a("one", {"map": {}}), _a("one", _extracted("one", "map", {"a": "1"}))],
    "extract_apply_empty_structure_remove_map": [_a("one", {"map": {}}), _a("one", {"string": "s"})],
    "extract_apply_empty_structure_add_later_map": [
        _a("one", {"map": {}}),
        _a("two", {"map": {"a": "1"}}),
        _a("one", _extracted("one", "map", {"b": "2"})),
    ],
    "extract_apply_atomic_list": [_a("one", {"list": ["a", "b"]}), _a("one", _extracted("one", "list", ["c"]))],
    "extract_apply_atomic_map": [_a("one", {"atomicMap": {"a": "1"}}), _a("one", _extracted("one", "atomicMap", {"b": "2"}))],
}

NULLS: dict[str, list[Step]] = {
    "null and empty maps": [
        _a("a", {"map": None}),
        _a("a", {"map": {}}),
        _a("a", {"map": {"k": "v"}}),
        _a("a", {"map": {}}),
        _u("c", {"map": {}}),
        _a("a", {"map": None}),
    ],
    "null and empty structs": [
        _a("a", {"struct": {}}),
        _a("a", {"struct": {"inner": {}}}),
        _a("a", {"struct": None}),
        _a("a", {"struct": {}}),
    ],
    "null and empty lists": [
        _a("a", {"parts": []}),
        _a("a", {"list": []}),
        _a("a", {"set": []}),
        _a("a", {"parts": None}),
        _a("a", {"list": None}),
    ],
    "null in free fields": [
        _a("a", {"free": {"n": None, "m": {}, "l": []}}),
        _a("b", {"free": {"n": {}, "m": None, "l": None}}),
        _a("b", {"free": {"n": {}, "m": None, "l": None}}, force=True),
        _a("a", {"free": {}}),
    ],
    "spec is null": [
        _a("a", {"apiVersion": f"{GROUP}/v1", "kind": "Gadget", "metadata": {}, "spec": None}, raw=True),
        _a("a", {"string": "s"}),
    ],
    "deduced: another type": [
        _a("a", {"free": {"x": 1}}),
        _a("b", {"free": {"x": {"y": 1}}}),
        _a("b", {"free": {"x": {"y": 1}}}, force=True),
        _a("b", {"free": {"x": [1]}}, force=True),
    ],
}

_BODY = {"apiVersion": f"{GROUP}/v1", "kind": "Gadget"}

_DOCUMENTS = b"""apiVersion: listed.setpoint.dev/v1
kind: Gadget
metadata: {name: kubernetes-yaml}
spec:
  string: a
---
apiVersion: v1
kind: ConfigMap
"""
_ALIASES = b"""apiVersion: listed.setpoint.dev/v1
kind: Gadget
metadata: {name: kubernetes-yaml}
spec:
  struct: &x {string: b, numeric: 1}
  free:
    y: *x
    z:
      <<: *x
      string: c
"""

KUBERNETES: dict[str, list[Step]] = {
    "apply without managed fields": [
        _u("c", {"string": "s"}),
        _m("c", {"metadata": {"managedFields": [{}]}}),
        _a("a", {"numeric": 1}),
        _a("a", {"string": "t"}),
    ],
    "managed fields are edited": [
        _a("a", {"string": "s"}),
        _m(
            "c",
            {
                "metadata": {
                    "managedFields": [
                        {
                            "manager": "b",
                            "operation": "Apply",
                            "apiVersion": f"{GROUP}/v1",
                            "fieldsType": "FieldsV1",
                            "fieldsV1": {"f:spec": {"f:string": {}}},
                        }
                    ]
                }
            },
        ),
        _a("a", {"string": "t"}),
        _m("c", {"metadata": {"managedFields": [{"manager": "b", "operation": "What"}]}}),
        _m("c", {"metadata": {"managedFields": None}}),
        _m("c", {"metadata": {"managedFields": []}}),
        _m("c", {"spec": {"numeric": 5}}),
    ],
    "managed fields of a subresource stay": [
        _a("a", {"string": "s"}),
        _m("s", {"status": {"string": "x"}, "metadata": {"managedFields": []}}, sub="status"),
    ],
    "no change, no new time": [_a("a", {"string": "s"}), _a("a", {"string": "s"}), _u("c", {"string": "s"}), _m("c", {})],
    "managed fields in what is applied": [
        _a("a", {**_BODY, "metadata": {"managedFields": [{}]}}, raw=True),
        _a("a", {**_BODY, "metadata": {"managedFields": []}}, raw=True),
        _a("a", {**_BODY, "metadata": {"managedFields": None}}, raw=True),
    ],
    "another kind": [
        _a("a", {"apiVersion": f"{GROUP}/v1", "kind": "Other", "metadata": {}}, raw=True),
        _a("a", {"metadata": {}}, raw=True),
        _a("a", {**_BODY, "metadata": {"name": "other"}}, raw=True),
    ],
    "a uid of what is not there": [_a("a", {**_BODY, "metadata": {"uid": "11111111-2222-3333-4444-555555555555"}}, raw=True)],
    "a version that is stale": [
        _a("a", {"string": "s"}),
        _a("a", {**_BODY, "metadata": {"resourceVersion": "1"}, "spec": {"string": "t"}}, raw=True),
    ],
    "dry run": [
        _a("a", {"string": "s"}, dry=True),
        _a("a", {"string": "s"}),
        _a("b", {"string": "t"}, dry=True),
        _a("b", {"string": "t"}, dry=True, force=True),
        _a("a", {"string": "s"}),
    ],
    "unknown fields": [
        _a("a", {"nothing": 1}),
        _a("a", {"nothing": 1}, validation="Strict"),
        _a("a", {"nothing": 1}, validation="Ignore"),
        _a("a", {**_BODY, "metadata": {"nothing": 1}}, raw=True),
    ],
    "repeated keys": [
        _a(
            "a",
            b'{"apiVersion":"listed.setpoint.dev/v1","kind":"Gadget",'
            b'"metadata":{"name":"kubernetes-repeated-keys"},"spec":{"string":"a","string":"b"}}',
            raw=True,
            validation="Strict",
        ),
        _a(
            "a",
            b'{"apiVersion":"listed.setpoint.dev/v1","kind":"Gadget",'
            b'"metadata":{"name":"kubernetes-repeated-keys"},"spec":{"string":"a","string":"b"}}',
            raw=True,
        ),
        _a(
            "a",
            b'{"apiVersion":"listed.setpoint.dev/v1","kind":"Gadget",'
            b'"metadata":{"name":"kubernetes-repeated-keys"},"spec":{"string":"c","string":"d"}}',
            raw=True,
            validation="Ignore",
        ),
    ],
    "YAML": [
        _a(
            "a",
            _DOCUMENTS,
            raw=True,
        ),
        _a(
            "a",
            _ALIASES,
            raw=True,
        ),
        _a(
            "a",
            b"apiVersion: listed.setpoint.dev/v1\nkind: Gadget\nmetadata: {name: kubernetes-yaml}\nspec:\n  string: a\n  string: b\n",
            raw=True,
            validation="Strict",
        ),
        _a(
            "a",
            b"apiVersion: listed.setpoint.dev/v1\nkind: Gadget\nmetadata: {name: kubernetes-yaml}\nspec:\n  string: a\n  string: b\n",
            raw=True,
        ),
        _a("a", b"- a\n- b\n", raw=True),
        _a("a", b"", raw=True),
        _a("a", b"text", raw=True),
    ],
    "scale": [
        _a("a", {"numeric": 2}),
        _m("s", {"spec": {"replicas": 3}}, sub="scale"),
        _a("a", {"numeric": 4}),
        _a("h", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}, "spec": {"replicas": 5}}, raw=True, sub="scale"),
        _a(
            "h",
            {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}, "spec": {"replicas": 5}},
            raw=True,
            sub="scale",
            force=True,
        ),
        _a(
            "h",
            {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}, "spec": {"replicas": 6}},
            raw=True,
            sub="scale",
            version="v2",
        ),
        _a("a", {"numeric": 6}),
        _a(
            "h", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}, "spec": {"what": 6}}, raw=True, sub="scale", version="v2"
        ),
        _a("h", {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}, "spec": {"replicas": -6}}, raw=True, sub="scale"),
        _a("h", {**_BODY, "metadata": {}}, raw=True, sub="scale"),
        _m("s", {"spec": {"replicas": 6}}, sub="scale"),
        _m("s", {"spec": {"replicas": 0}}, sub="scale"),
        _u("c", {"numeric": 1}),
        _m("s", {"spec": {"replicas": 1}}, sub="scale", version="v3"),
    ],
    "many updaters": [
        _u("creator", {"map": {"x": "1"}}),
        *(_m(f"updater-{n:02}", {"spec": {"map": {f"u{n}": "1"}}}, version=f"v{n % 2 + 1}") for n in range(13)),
    ],
    "a manager's name": [
        _a("a b", {"string": "s"}),
        _a("", {"string": "s"}),
        _a("x" * 129, {"string": "s"}),
    ],
}

TABLES: dict[str, dict[str, list[Step]]] = {
    "leaf": LEAF,
    "sets": SETS,
    "multiple appliers": MULTIPLE,
    "nested": NESTED,
    "keys": KEYS,
    "obsolete versions": VERSIONS,
    "ignored": IGNORED,
    "extract": EXTRACTED,
    "nulls": NULLS,
    "kubernetes": KUBERNETES,
}


def cases() -> dict[str, tuple[str, Json | None, list[Step]]]:
    """All cases: the kind, the definition of its own that a case needs, and the steps."""
    found: dict[str, tuple[str, Json | None, list[Step]]] = {}
    for table, rows in TABLES.items():
        for name, steps in rows.items():
            own = name in VERSIONS
            found[f"{table}: {name}"] = ("Mutant" if own else "Gadget", _mutant(len(found), _ALL) if own else None, steps)
    for name, (kind, steps) in DUPLICATES.items():
        found[f"duplicates: {name}"] = (kind, None, steps)
    for name, (schema, steps) in SCHEMAS.items():
        found[f"schema change: {name}"] = ("Mutant", _mutant(len(found), schema), steps)
    return found


def _mutant(number: int, schema: Json) -> Json:
    versions = [_version("v1", schema), _version("v2", schema, storage=True), _version("v3", schema)]
    return _definition(f"mutant{number}s", f"Mutant{number}", *versions)
