"""Nothing is lost on a write: what the class does not know stays, what did not change is not sent."""

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setpoint.objects import Difference, Object, Part, Untyped, adopt, decode, difference, encode

from .kinds import Deployment, EmptyDir, Port, Volume, WebApp


def base(**content: Any) -> bytes:
    metadata = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5", "unheard": 1, **content.pop("metadata", {})}
    return json.dumps({"metadata": metadata, **content}).encode()


POD: dict[str, Any] = {
    "containers": ["a"],
    "unheard": {"x": 1},
    "volumes": [{"name": "one", "odd": 1}, {"name": "two", "emptyDir": {"medium": "Memory", "odd": 2}}],
    "ports": [
        {"port": 80, "protocol": "TCP", "nodePort": 1, "odd": 3},
        {"port": 80, "protocol": "UDP", "odd": 4},
        {"port": 81, "protocol": "UDP"},
    ],
}
DEPLOYMENT = base(spec={"selector": {}, "template": POD})


def merged(was: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(was) if isinstance(was, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def patched(data: bytes, found: Difference | None) -> Any:
    content = json.loads(data)
    if found is None:
        return content
    assert found.merge is not None
    return merged(content, found.merge)


def template(obj: Deployment) -> Any:
    return patched(DEPLOYMENT, difference(DEPLOYMENT, obj))["spec"]["template"]


def test_no_difference_is_none() -> None:
    assert difference(DEPLOYMENT, decode(Deployment, DEPLOYMENT)) is None
    assert difference(base(spec={"image": "x", "replicas": None}), decode(WebApp, base(spec={"image": "x"}))) is None


def test_true_and_one_differ_at_any_depth() -> None:
    data = base(kind="Thing", apiVersion="v1", spec={"on": 1, "deep": [{"a": [0]}], "same": 1})
    obj = decode(Untyped, data)
    obj["spec"]["on"] = True
    obj["spec"]["same"] = 1.0
    obj["spec"]["deep"][0]["a"][0] = False
    found = difference(data, obj)
    assert found is not None
    assert found.merge == {"spec": {"on": True, "deep": [{"a": [False]}]}}
    assert found.merge["spec"]["on"] is True
    assert found.merge["spec"]["deep"][0]["a"][0] is False


def test_only_what_changed_is_named() -> None:
    obj = decode(Deployment, DEPLOYMENT)
    obj.spec.replicas = 0
    obj.metadata.labels["a"] = "b"
    assert difference(DEPLOYMENT, obj) == Difference(merge={"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 0}})


def test_the_patch_is_bound_to_the_version() -> None:
    assert Difference(merge={"metadata": {"labels": {}}}).at("5") == {"metadata": {"labels": {}, "resourceVersion": "5"}}


def test_what_is_taken_away_is_deleted_by_name() -> None:
    was = base(metadata={"labels": {"a": "1", "b": "2"}, "finalizers": ["x"]}, spec={"image": "x", "paused": True})
    obj = decode(WebApp, was)
    del obj.metadata.labels["a"]
    obj.metadata.finalizers.remove("x")
    obj.spec.paused = None
    assert difference(was, obj) == Difference(merge={"metadata": {"labels": {"a": None}, "finalizers": None}, "spec": {"paused": None}})


def test_unknown_fields_survive_an_edit_inside_a_list() -> None:
    obj = decode(Deployment, DEPLOYMENT)
    assert obj.spec.template.volumes[1].empty_dir is not None
    obj.spec.template.volumes[1].empty_dir.medium = None
    obj.spec.template.volumes.append(Volume(name="three", empty_dir=EmptyDir()))
    assert template(obj)["volumes"] == [
        {"name": "one", "odd": 1},
        {"name": "two", "emptyDir": {"odd": 2}},
        {"name": "three", "emptyDir": {}},
    ]
    assert template(obj)["unheard"] == {"x": 1}


def test_unknown_fields_survive_a_reorder_and_a_removal() -> None:
    obj = decode(Deployment, DEPLOYMENT)
    obj.spec.template.volumes.reverse()
    assert template(obj)["volumes"] == POD["volumes"][::-1]
    del obj.spec.template.volumes[0]
    assert template(obj)["volumes"] == POD["volumes"][:1]


def test_items_are_paired_by_all_keys_and_by_those_that_are_stated() -> None:
    obj = decode(Deployment, DEPLOYMENT)
    obj.spec.template.ports = [Port(port=81), Port(port=80, protocol="UDP", node_port=9), Port(port=80, protocol="TCP")]
    assert template(obj)["ports"] == [
        {"port": 81, "protocol": "UDP"},
        {"port": 80, "protocol": "UDP", "odd": 4, "nodePort": 9},
        {"port": 80, "protocol": "TCP", "odd": 3},
    ]


def test_items_without_keys_are_paired_by_equality_then_place() -> None:
    was = base(kind="X", apiVersion="v1", spec={"rules": [{"a": 1}, {"a": 2}]})
    obj = decode(Untyped, was)
    obj["spec"]["rules"] = [{"a": 2}, {"a": 3}]
    assert difference(was, obj) == Difference(merge={"spec": {"rules": [{"a": 2}, {"a": 3}]}})


def test_of_two_items_that_look_alike_the_one_that_stays_keeps_what_is_unknown() -> None:
    was = base(spec={"selector": {}, "template": {"containers": [], "ports": [{"port": 1, "odd": 1}, {"port": 1, "odd": 2}]}})
    obj = decode(Deployment, was)
    obj.spec.template.ports[0].node_port = 5
    ports = patched(was, difference(was, obj))["spec"]["template"]["ports"]
    assert ports == [{"port": 1, "nodePort": 5, "odd": 1}, {"port": 1, "odd": 2}]


def test_main_leaves_the_status_alone_and_status_everything_else() -> None:
    was = base(spec={"image": "x"})
    obj = decode(WebApp, was)
    obj.status.ready_replicas = 2
    assert difference(was, obj) is None
    obj.spec.image = "y"
    assert difference(was, obj) == Difference(merge={"spec": {"image": "y"}})
    assert difference(was, obj, part="status") == Difference(merge={"status": {"readyReplicas": 2}})
    assert difference(was, obj, part="all") == Difference(merge={"spec": {"image": "y"}, "status": {"readyReplicas": 2}})


def test_null_is_set_by_a_json_patch() -> None:
    was = base(spec={"image": "x", "limit": 3, "paused": True}, metadata={"labels": {"a/b~c": "1"}})
    obj = decode(WebApp, was)
    obj.spec.limit = None
    obj.spec.paused = None
    obj.metadata.labels["a/b~c"] = "2"
    found = difference(was, obj)
    assert found is not None
    assert found.at("5") == [
        {"op": "add", "path": "/metadata/labels/a~1b~0c", "value": "2"},
        {"op": "remove", "path": "/spec/paused"},
        {"op": "add", "path": "/spec/limit", "value": None},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "5"},
    ]


def test_the_version_and_the_managers_are_no_difference() -> None:
    obj = decode(WebApp, base(spec={"image": "x"}, metadata={"resourceVersion": "6", "managedFields": [{"manager": "m"}]}))
    assert difference(base(spec={"image": "x"}), obj) is None


def test_adopting_an_answer_leaves_alone_what_was_not_sent() -> None:
    def app(image: str, ready: int, version: str) -> WebApp:
        return decode(WebApp, base(spec={"image": image}, status={"readyReplicas": ready}, metadata={"resourceVersion": version}))

    def after(part: Part) -> tuple[str, int, str | None]:
        obj = adopt(app("mine", 1, "5"), app("theirs", 2, "6"), part=part)
        return obj.spec.image, obj.status.ready_replicas, obj.metadata.resource_version

    assert after("main") == ("theirs", 1, "6")
    assert after("status") == ("mine", 2, "6")
    assert after("all") == ("theirs", 2, "6")


def test_adopting_works_on_untyped_objects() -> None:
    obj = Untyped({"metadata": {"resourceVersion": "5"}, "spec": 1, "status": 1})
    adopt(obj, Untyped({"metadata": {"resourceVersion": "6"}, "status": 2}))
    assert obj.content == {"metadata": {"resourceVersion": "6"}, "status": 1}
    adopt(obj, Untyped({"metadata": {"resourceVersion": "7"}, "spec": 9, "status": 3}), part="status")
    assert obj.content == {"metadata": {"resourceVersion": "7"}, "status": 3}


NAMES = st.sampled_from(["a", "b", "c"])
EMPTY_DIRS = st.fixed_dictionaries({}, optional={"medium": NAMES, "odd": NAMES})
VOLUMES = st.lists(st.fixed_dictionaries({"name": NAMES}, optional={"emptyDir": EMPTY_DIRS, "odd": NAMES}), max_size=3)
PODS = st.fixed_dictionaries(
    {"containers": st.lists(NAMES, max_size=2)},
    optional={"volumes": VOLUMES, "odd": NAMES, "clusterIP": NAMES, "podIPs": st.lists(NAMES, max_size=2)},
)


# A busy machine makes no test wrong.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PODS, PODS)
def test_after_the_patch_the_class_reads_what_it_wanted(was: Any, wanted: Any) -> None:
    data = base(spec={"selector": {}, "template": was})
    obj: Object = decode(Deployment, base(spec={"selector": {}, "template": wanted}))
    found = difference(data, obj)
    result = patched(data, found)
    assert encode(decode(Deployment, json.dumps(result).encode())) == encode(obj)
    assert result["spec"]["template"].get("odd") == was.get("odd")
    assert difference(json.dumps(result).encode(), copy.deepcopy(obj)) is None
