"""Reading is lenient, writing is exact."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setpoint.objects import (
    OMIT,
    DecodeError,
    MicroTime,
    Object,
    ObjectMeta,
    Request,
    Struct,
    Untyped,
    decode,
    decode_head,
    decode_meta,
    encode,
    from_builtins,
    kind,
    to_builtins,
)
from setpoint.objects.times import format_time

from .kinds import Deployment, DeploymentSpec, WebApp, WebAppSpec

APP = WebApp(metadata=ObjectMeta(name="a", namespace="n"), spec=WebAppSpec(image="x"))


def test_api_version_and_kind_come_first() -> None:
    assert encode(APP).startswith(b'{"apiVersion":"apps.example.com/v1","kind":"WebApp","metadata":{')
    assert encode(Deployment()) == b'{"apiVersion":"apps/v1","kind":"Deployment"}'
    assert decode(WebApp, encode(APP)) == APP


def test_status_can_be_left_out_and_stays_on_the_object() -> None:
    assert "status" not in json.loads(encode(APP, status=False))
    assert "status" in to_builtins(APP)
    assert "status" not in json.loads(encode(Untyped({"apiVersion": "v1", "kind": "X", "status": {}}), status=False))


def test_an_object_without_kind_is_refused_by_name() -> None:
    class Undeclared(Object):
        pass

    with pytest.raises(TypeError, match="Undeclared is not a kind of the API: decorate it with @kind"):
        encode(Undeclared())


def test_times_are_whole_seconds_of_utc_and_micro_times_have_six_digits() -> None:
    moment = datetime(2026, 1, 2, 5, 4, 5, 678, tzinfo=timezone(timedelta(hours=2)))
    obj = Deployment(
        metadata=ObjectMeta(creation_timestamp=moment),
        spec=DeploymentSpec(selector=OMIT, template=OMIT, renew_time=MicroTime.of(moment.replace(microsecond=0))),
    )
    content = to_builtins(obj)
    assert content["metadata"]["creationTimestamp"] == "2026-01-02T03:04:05Z"
    assert content["spec"]["renewTime"] == "2026-01-02T03:04:05.000000Z"
    assert MicroTime.parse("2026-01-02T03:04:05Z") == moment.replace(microsecond=0)
    assert obj.metadata.creation_timestamp == moment


def test_the_zero_time_of_go_has_four_digits_for_its_year() -> None:
    zero = MicroTime.parse("0001-01-01T00:00:00Z")
    assert (str(zero), format_time(zero)) == ("0001-01-01T00:00:00.000000Z", "0001-01-01T00:00:00Z")


class Renewed(Struct):
    at: MicroTime


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-05:00"])
def test_a_time_that_utc_has_no_year_for_is_a_decode_error(text: str) -> None:
    with pytest.raises(DecodeError, match="out of range in UTC"):
        decode(Renewed, b'{"at":"%b"}' % text.encode())


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        encode(Deployment(metadata=ObjectMeta(creation_timestamp=datetime(2026, 1, 1))))


def test_text_that_looks_like_a_time_stays_as_it_is() -> None:
    obj = Deployment(metadata=ObjectMeta(annotations={"at": "2026-01-01T00:00:00.5Z"}))
    assert decode(Deployment, encode(obj)) == obj


def test_null_reads_as_absent_also_in_required_lists() -> None:
    deployment = decode(
        Deployment,
        b'{"metadata":{"labels":null},"spec":{"selector":null,"template":{"containers":null,"ports":null}},"status":null}',
    )
    assert deployment.metadata.labels == {}
    assert deployment.spec.template.containers == []
    assert not deployment.status
    app = decode(WebApp, b'{"spec":{"image":"x","replicas":null},"status":{"readyReplicas":null,"conditions":null}}')
    assert (app.spec.replicas, app.status.ready_replicas, app.status.conditions) == (1, 0, [])


def test_a_spec_without_requirements_may_be_missing() -> None:
    class Spec(Struct):
        size: int = 3

    @kind(group="g.example.com", version="v1")
    class Lax(Object):
        spec: Spec

    assert decode(Lax, b'{"metadata":{"name":"a"}}').spec == Spec()


@pytest.mark.parametrize(
    ("data", "path", "says"),
    [
        (
            b'{"metadata":{"name":"a","namespace":"n"},"spec":{"image":1}}',
            ".spec.image",
            "WebApp n/a cannot be read at .spec.image: Expected",
        ),
        (b'{"metadata":{"name":"a","namespace":"n"},"spec":{}}', ".spec", "missing required field `image`"),
        (b'{"metadata":{"name":"a","namespace":"n"},"spec":{"image":null}}', ".spec", "missing required field `image`"),
    ],
)
def test_what_cannot_be_read_names_object_and_path(data: bytes, path: str, says: str) -> None:
    with pytest.raises(DecodeError, match=says) as caught:
        decode(WebApp, data)
    assert (caught.value.key, caught.value.path) == (Request("n", "a"), path)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b'"x"'])
@pytest.mark.parametrize("cls", [WebApp, Untyped])
def test_what_is_no_object_is_a_decode_error_too(data: bytes, cls: type[Object]) -> None:
    with pytest.raises(DecodeError):
        decode(cls, data)
    with pytest.raises(DecodeError):
        decode_head(data)
    with pytest.raises(DecodeError):
        decode_meta(data)


@pytest.mark.parametrize("cls", [WebApp, Untyped])
def test_a_number_that_no_type_holds_is_a_decode_error_too(cls: type[Object]) -> None:
    with pytest.raises(DecodeError, match="out of range"):
        decode(cls, b'{"apiVersion":"v1","kind":"X","metadata":{"name":"a"},"spec":{"image":"x","replicas":1e400}}')


def test_manifests_are_read_as_json_is() -> None:
    assert from_builtins(WebApp, to_builtins(APP)) == APP


def test_the_head_is_the_key_the_versions_and_whether_it_goes() -> None:
    head = decode_head(
        b'{"spec":{"big":[1,2]},"metadata":{"namespace":"n","name":"a","uid":"u","resourceVersion":"7","generation":2,"deletionTimestamp":"2026-01-01T00:00:00Z"}}'
    )
    assert (head.key, head.uid, head.resource_version, head.generation, head.is_terminating) == (Request("n", "a"), "u", "7", 2, True)
    assert not decode_head(b'{"metadata":{"name":"a"}}').is_terminating


def test_meta_is_read_with_nulls_too() -> None:
    owner = {"apiVersion": "v1", "kind": "A", "name": "o", "uid": "u", "controller": True}
    meta = decode_meta(json.dumps({"metadata": {"name": "a", "labels": None, "ownerReferences": [owner]}}).encode())
    assert (meta.labels, meta.finalizers) == ({}, [])
    assert meta.controller is not None
    assert meta.controller.uid == "u"


FIELDS = st.sampled_from(["image", "replicas", "conditions", "name", "labels", "x"])
SCALARS: st.SearchStrategy[object] = st.sampled_from([None, True, 0, 3, 1.5, "", "text", "2026-01-01T00:00:00Z", [], {}])
JSON = SCALARS | st.dictionaries(FIELDS, SCALARS | st.lists(SCALARS, max_size=2), max_size=3)


# A busy machine makes no test wrong.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({}, optional={"metadata": JSON, "spec": JSON, "status": JSON}))
def test_reading_gives_an_object_or_a_decode_error_and_never_anything_else(content: object) -> None:
    try:
        app = decode(WebApp, json.dumps(content).encode())
    except DecodeError:
        return
    assert decode(WebApp, encode(app)) == app


def test_utc_is_what_is_read() -> None:
    time = decode(Deployment, b'{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}').metadata.creation_timestamp
    assert time == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_condition_is_read_whatever_its_status_is() -> None:
    obj = decode(WebApp, b'{"spec":{"image":"x"},"status":{"conditions":[{"type":"Odd","status":"Maybe","reason":""}]}}')
    assert obj.status.conditions[0].status == "Maybe"
