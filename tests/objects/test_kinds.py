"""Declaring kinds, knowing them, and the small things on objects: conditions, indexes, keys."""

from datetime import UTC, datetime, timedelta

import pytest

from setpoint.api.names import GroupVersionKind, GroupVersionResource
from setpoint.objects import (
    Index,
    Object,
    ObjectMeta,
    Request,
    Resource,
    Scheme,
    SchemeConflict,
    Untyped,
    decode,
    encode,
    get_condition,
    kind,
    kind_of,
    set_condition,
)

from .kinds import Deployment, WebApp, WebAppSpec, WebAppStatus

NOW = datetime(2026, 1, 1, 0, 0, 0, 123, tzinfo=UTC)


def app() -> WebApp:
    return WebApp(metadata=ObjectMeta(name="a", namespace="n", generation=4), spec=WebAppSpec(image="x"))


def test_a_declaration_is_read_back_from_exactly_that_class() -> None:
    info = kind_of(WebApp)
    assert info.group_version_kind == GroupVersionKind("apps.example.com", "v1", "WebApp")
    assert info.group_version_resource == GroupVersionResource("apps.example.com", "v1", "webapps")
    assert (info.api_version, info.namespaced, info.has_status) == ("apps.example.com/v1", True, True)

    class Derived(WebApp):
        pass

    with pytest.raises(TypeError, match="Derived is not a kind"):
        kind_of(Derived)


@pytest.mark.parametrize(
    ("name", "plural"),
    [("WebApp", "webapps"), ("NetworkPolicy", "networkpolicies"), ("Ingress", "ingresses"), ("Gateway", "gateways"), ("Box", "boxes")],
)
def test_plurals_are_english(name: str, plural: str) -> None:
    assert kind_of(kind(group="g.example.com", version="v1", name=name)(type("K", (Object,), {}))).plural == plural


def test_a_scheme_finds_a_class_by_every_name() -> None:
    scheme = Scheme(WebApp, Deployment)
    scheme.add(WebApp)
    assert list(scheme) == [WebApp, Deployment]
    assert scheme.find("apps/v1", "Deployment") is Deployment
    assert scheme.find("apps.example.com/v1", "WebApp") is WebApp
    assert scheme.find("v1", "Pod") is None
    with pytest.raises(LookupError, match="not in this scheme"):
        Scheme().info(WebApp)


def test_two_classes_for_one_kind_are_refused() -> None:
    @kind(group="apps.example.com", version="v1", name="WebApp")
    class Other(Resource[WebAppSpec, WebAppStatus]):
        pass

    with pytest.raises(SchemeConflict, match=r"Other and .*WebApp both claim webapps of apps\.example\.com/v1"):
        Scheme(WebApp, Other)


def test_a_request_is_a_key() -> None:
    assert [str(key) for key in sorted([Request("b", "a"), Request("", "z"), Request("a", "b")])] == ["z", "a/b", "b/a"]
    assert Request.parse("a/b") == Request("a", "b")
    assert Request.parse("b") == Request("", "b")


def test_an_object_without_name_or_uid_says_so() -> None:
    assert app().key == Request("n", "a")
    with pytest.raises(ValueError, match="the server names it on create"):
        _ = Deployment(metadata=ObjectMeta(generate_name="a-")).key
    with pytest.raises(ValueError, match="has no uid"):
        _ = app().uid


def test_the_time_of_a_condition_moves_only_with_its_status() -> None:
    obj = app()
    assert set_condition(obj, "Other", "Unknown", reason="Start", now=NOW)
    assert set_condition(obj, "Ready", False, reason="Wait", now=NOW)
    assert not set_condition(obj, "Ready", False, reason="Wait", now=NOW + timedelta(hours=1))
    assert set_condition(obj, "Ready", False, reason="Wait", message="longer", now=NOW + timedelta(hours=1))
    ready = get_condition(obj, "Ready")
    assert ready is not None
    assert (ready.status, ready.message, ready.observed_generation) == ("False", "longer", 4)
    assert ready.last_transition_time == NOW.replace(microsecond=0)
    assert set_condition(obj, "Ready", True, reason="Up", now=NOW + timedelta(hours=2))
    assert [(condition.type, condition.status) for condition in obj.status.conditions] == [("Other", "Unknown"), ("Ready", "True")]
    moved = get_condition(obj, "Ready")
    assert moved is not None
    assert moved.last_transition_time == NOW.replace(microsecond=0) + timedelta(hours=2)


def test_an_index_gives_each_value_once() -> None:
    index = Index(WebApp, lambda app: [app.spec.image, "", app.spec.image])
    assert index.values_of(app()) == ["x"]
    assert index("x") == index("x")
    assert index("x") != Index(WebApp, lambda app: [])("x")
    with pytest.raises(TypeError, match="instead of a list"):
        Index(WebApp, lambda app: app.spec.image).values_of(app())


def test_an_untyped_object_loses_nothing() -> None:
    data = b'{"apiVersion":"v1","kind":"X","metadata":{"name":"a","new":null},"n":1.0,"big":12345678901234567890,"empty":{}}'
    obj = decode(Untyped, data)
    assert encode(obj) == data
    assert (obj.kind, obj.api_version, obj.name, obj["n"], obj.get("no"), "empty" in obj) == ("X", "v1", "a", 1.0, None, True)
    obj["metadata"]["labels"] = {"a": "b"}
    assert obj.metadata.labels == {"a": "b"}
    obj.metadata = ObjectMeta(name="c")
    assert obj["metadata"] == {"name": "c"}


def test_the_metadata_of_an_untyped_object_is_a_view() -> None:
    obj = Untyped({"apiVersion": "v1", "kind": "X"}, metadata=ObjectMeta(name="a", labels={"a": "b"}))
    assert obj["metadata"] == {"name": "a", "labels": {"a": "b"}}
    with pytest.raises(AttributeError, match=r'write to obj\["metadata"\]'):
        obj.metadata.name = "b"
    with pytest.raises(AttributeError, match=r'write to obj\["metadata"\]'):
        obj.metadata.labels["c"] = "d"
    with pytest.raises(ValueError, match="does not say its kind"):
        encode(Untyped({"apiVersion": "v1"}))
