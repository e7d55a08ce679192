"""Continue tokens: what kube-apiserver 1.37 said of the same ones."""

import base64

import pytest

from setpoint.api import ApiError
from setpoint.cluster.server.continuing import read_token, write_token

V = '"v":"meta.k8s.io/v1"'


def token(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode("latin-1")).decode().rstrip("=")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("!!", "illegal base64 data at input byte 0"),
        ("zzzzz", "illegal base64 data at input byte 4"),
        ("ab=", "illegal base64 data at input byte 2"),
        ("ab+/", "illegal base64 data at input byte 2"),
        ("YQ==", "illegal base64 data at input byte 2"),
        ("a\nb", "invalid character 'i' looking for beginning of value"),
        ("zzz", "invalid character 'Ï' looking for beginning of value"),
        (token("{} x"), "invalid character 'x' after top-level value"),
        (token("[1]"), "json: cannot unmarshal array into Go value of type storage.continueToken"),
        (token("null"), "server does not recognize this encoded version "),
        (token('{"v":"v2","rv":5,"start":"a"}'), "server does not recognize this encoded version v2"),
        (token('{"v":1}'), "json: cannot unmarshal number into Go struct field continueToken.v of type string"),
        (token(f'{{{V},"rv":"5"}}'), "json: cannot unmarshal string into Go struct field continueToken.rv of type int64"),
        (token(f'{{{V},"rv":1.5}}'), "json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64"),
        (token(f'{{{V},"rv":true}}'), "json: cannot unmarshal bool into Go struct field continueToken.rv of type int64"),
        (token(f'{{{V},"start":"a"}}'), "incorrect encoded start resourceVersion (version meta.k8s.io/v1)"),
        (token(f'{{{V},"rv":5}}'), "encoded start key empty (version meta.k8s.io/v1)"),
        *((token(f'{{{V},"rv":5,"start":"{start}"}}'), start) for start in ("../a", "a/..", "a/../b", "./a", ".", "a//b", "a/")),
    ],
)
def test_what_is_no_token_is_refused(given: str, problem: str) -> None:
    with pytest.raises(ApiError) as refused:
        read_token(given)
    assert (refused.value.code, refused.value.message) == (400, f"invalid continue token: continue key is not valid: {problem}")


def test_names_of_its_fields_are_read_in_any_case_and_a_slash_may_lead() -> None:
    assert read_token(token('{"V":"meta.k8s.io/v1","RV":5,"START":"a"}')) == ("a", 5)
    assert read_token(token(f'{{{V},"rv":-1,"start":"/b/c","more":1}}')) == ("b/c", -1)


def test_what_is_written_is_read() -> None:
    assert read_token(write_token(7, "default/a\0")) == ("default/a\0", 7)
