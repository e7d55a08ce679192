"""Strategies for patches that nobody thought of: they are drawn when answers are recorded, and replayed as they were."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["one", "two", "three", "four", "five"])
SHORT = st.sampled_from(["a", "b", "c", "x.io/a", "x.io/b", "x.io/n"])
_DIRECTIVE = st.sampled_from(["delete", "replace", "delete", "replace", "merge", "hop"])


def _maybe(fields: dict[str, st.SearchStrategy[Any]], required: dict[str, st.SearchStrategy[Any]] | None = None) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required or {}, optional=fields)


def _list(item: st.SearchStrategy[Any], size: int = 4) -> st.SearchStrategy[Any]:
    return st.lists(item, max_size=size)


def _keyed(key: str, keys: st.SearchStrategy[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Items of a list that merges by a key; now and then the directive for one, or for all."""
    item = _maybe(fields, {key: keys})
    delete = st.fixed_dictionaries({key: keys, "$patch": st.just("delete")})
    return st.one_of(item, item, item, delete, st.just({"$patch": "replace"}), _maybe({**fields, "$patch": _DIRECTIVE, key: keys}))


def _in_order(field: str, items: st.SearchStrategy[Any], names: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {field: st.none() | _list(items), f"$setElementOrder/{field}": _list(names, 5)}


_env = _keyed("name", st.sampled_from(["A", "B", "C"]), value=SHORT)
_port = _keyed("containerPort", st.sampled_from([80, 443, 8080]), name=st.sampled_from(["http", "https", "web"]))
_container = _keyed(
    "name",
    NAMES,
    image=st.sampled_from(["image:7", "image:8"]),
    args=st.none() | _list(SHORT),
    env=st.none() | _list(_env),
    ports=_list(_port),
    **{"$setElementOrder/env": _list(st.sampled_from([{"name": "A"}, {"name": "B"}, {"name": "C"}]))},
)
_volume = _keyed("name", st.sampled_from(["v", "w", "x"]), emptyDir=st.just({}) | st.none(), configMap=st.none() | st.just({"name": "d"}))
_pod = _maybe(
    {
        **_in_order("containers", _container, st.fixed_dictionaries({"name": NAMES})),
        "volumes": _list(_volume),
        "tolerations": st.none() | _list(st.fixed_dictionaries({"key": SHORT, "operator": st.just("Exists")})),
        "nodeSelector": st.none() | st.dictionaries(SHORT | st.just("disk"), SHORT | st.none(), max_size=2),
        "$retainKeys": _list(st.sampled_from(["containers", "volumes", "nodeSelector"])),
    }
)
_deployment = _maybe({"spec": _maybe({"replicas": st.integers(0, 5), "template": _maybe({"spec": _pod}, {})})}, {})
_finalizers = st.sampled_from(["x.io/a", "x.io/b", "x.io/c", "x.io/n", "x.io/m"])
_config_map = _maybe(
    {
        "metadata": _maybe(
            {
                **_in_order("finalizers", _finalizers, _finalizers),
                "$deleteFromPrimitiveList/finalizers": _list(_finalizers),
                "labels": _maybe({"a": SHORT | st.none(), "c": st.just("3"), "$patch": _DIRECTIVE}),
            }
        ),
        "data": _maybe({"x": st.none() | SHORT, "y": SHORT, "$patch": _DIRECTIVE, "$retainKeys": _list(st.sampled_from(["x", "y"]))}),
    }
)
_service = _maybe(
    {
        "spec": _maybe(
            _in_order(
                "ports",
                _keyed("port", st.sampled_from([53, 80, 81]), name=st.sampled_from(["dns", "web"])),
                st.sampled_from([{"port": 53}, {"port": 80}]),
            )
        )
    }
)

STRATEGIC = {"deployment": _deployment, "config map": _config_map, "service": _service}

_paths = st.sampled_from(
    ["/data/x", "/data/y", "/data/h", "/metadata/labels/a", "/metadata/labels", "/data", "/data/nope/x", ""]
    + [f"/metadata/finalizers/{at}" for at in ("0", "1", "-", "-1", "3", "4", "-4", "x", "+1")]
)
_values = st.sampled_from(["1", "x.io/n", None, {"a": "1"}, ["x.io/a"], "2"])
_operation = st.one_of(
    st.fixed_dictionaries({"op": st.sampled_from(["add", "replace", "test"]), "path": _paths, "value": _values}),
    st.fixed_dictionaries({"op": st.just("remove"), "path": _paths}),
    st.fixed_dictionaries({"op": st.sampled_from(["move", "copy"]), "from": _paths, "path": _paths}),
)
JSON = {"config map": st.lists(_operation, min_size=1, max_size=4)}

_keys = st.sampled_from(["a", "b", "deep", "text", "x", "y"])
_json = st.recursive(
    st.sampled_from([None, 1, "t", True, 1.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=8,
)
MERGE = {
    "custom": _maybe(
        {
            "spec": _maybe(
                {
                    "n": st.none() | st.integers(0, 3),
                    "free": st.none() | st.dictionaries(_keys, _json, max_size=3),
                    "list": _list(st.dictionaries(_keys, _json, max_size=2)),
                }
            )
        }
    )
}
