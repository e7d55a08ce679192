"""Statuses, patches and frames."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.api import Answer, GroupVersionResource, Operation, StatusCause, merge_patch
from setpoint.api import status as s
from setpoint.api.watch import decode_frame, encode_frame

WIDGETS = GroupVersionResource("example.com", "v1", "widgets")


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c"], ["c"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patch_as_rfc_7386_has_it(target, patch, result):
    assert merge_patch(target, patch) == result


@given(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]), st.dictionaries(st.text(), st.integers()))
def test_frames_survive_the_wire(kind, obj):
    body = msgspec.json.encode(obj)
    frame = decode_frame(encode_frame(kind, body))
    assert (frame.type, frame.object) == (kind, body)
    assert decode_frame(b'{"object":%b,"type":"%b"}' % (body, kind.encode())).object == body
    assert decode_frame(encode_frame(kind, body) + b"\n").object == body


def test_what_is_no_frame_is_an_error():
    with pytest.raises(msgspec.DecodeError):
        decode_frame(b"<html>bad gateway</html>")


def test_an_error_says_what_was_asked_and_what_was_answered():
    asked = Operation(verb="get", resource=WIDGETS, namespace="default", name="w1")
    error = s.error_in(s.not_found(WIDGETS, "w1").status.answer(), asked)
    assert isinstance(error, s.NotFound)
    assert str(error) == 'get widgets.example.com default/w1: widgets.example.com "w1" not found'
    assert error.status.details is not None
    assert error.status.details.kind == "widgets"


def test_invalid_names_every_field():
    causes = [
        StatusCause("FieldValueRequired", "Required value", "spec.image"),
        StatusCause("FieldValueInvalid", "Invalid value: -1: too small", "spec.n"),
    ]
    error = s.error_in(s.invalid("example.com", "Widget", "w1", causes).status.answer())
    assert isinstance(error, s.Invalid)
    assert error.message == 'Widget.example.com "w1" is invalid: [spec.image: Required value, spec.n: Invalid value: -1: too small]'
    assert [cause.field for cause in error.causes] == ["spec.image", "spec.n"]


def test_retry_after_is_read_from_body_or_header():
    assert s.error_in(Answer(status=429, body=b"slow down", headers={"retry-after": "7"})).retry_after == 7
    gone = s.error_in(Answer(status=410, body=b'{"kind":"Status","reason":"Gone","code":410,"message":"old"}'))
    assert isinstance(gone, s.Expired)


def test_a_page_that_is_no_status_becomes_the_message():
    error = s.error_in(Answer(status=503, body=b"<html>no healthy upstream</html>", content_type="text/html"))
    assert isinstance(error, s.ServiceUnavailable)
    assert "no healthy upstream" in str(error)
