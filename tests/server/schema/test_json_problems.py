"""What is said of a body that is no JSON: as kube-apiserver 1.37 said it of the same bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.cluster.server.schema import MalformedBody, decode_json
from setpoint.cluster.server.schema.json_problems import END, json_problem

SAID = [
    (b'{"a":}', "invalid character '}' looking for beginning of value"),
    (b"[1,]", "invalid character ']' looking for beginning of value"),
    (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    (b"[1 2]", "invalid character '2' after array element"),
    (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
    (b'{"a":01}', "invalid character '1' after object key:value pair"),
    (b'{"a":-}', "invalid character '}' in numeric literal"),
    (b'{"a":-x}', "invalid character 'x' in numeric literal"),
    (b'{"a":1.}', "invalid character '}' after decimal point in numeric literal"),
    (b'{"a":1.x}', "invalid character 'x' after decimal point in numeric literal"),
    (b'{"a":1e}', "invalid character '}' in exponent of numeric literal"),
    (b'{"a":1e+x}', "invalid character 'x' in exponent of numeric literal"),
    (b'{"a":1ex}', "invalid character 'x' in exponent of numeric literal"),
    (b'{"a":nul}', "invalid character '}' in literal null (expecting 'l')"),
    (b'{"a":truE}', "invalid character 'E' in literal true (expecting 'e')"),
    (b'{"a":falx}', "invalid character 'x' in literal false (expecting 's')"),
    (b'{"a":NaN}', "invalid character 'N' looking for beginning of value"),
    (b'{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"),
    (b'{"a":"\n"}', "invalid character '\\n' in string literal"),
    (b'{"a":"\x7f"x}', "invalid character 'x' after object key:value pair"),
    (b'{"a" 1}', "invalid character '1' after object key"),
    (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
    (b'{"a":1}}', "invalid character '}' after top-level value"),
    (b'{"a":[}', "invalid character '}' looking for beginning of value"),
    (b'{"a":[{]}', "invalid character ']' looking for beginning of object key string"),
    (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
    (b'{"a":\xa0}', "invalid character '\\u00a0' looking for beginning of value"),
    (b'{"a":\x85}', "invalid character '\\u0085' looking for beginning of value"),
    (b'{"a":\xad1}', "invalid character '\\u00ad' looking for beginning of value"),
    (b"{,}", "invalid character ',' looking for beginning of object key string"),
    (b'{"a":+1}', "invalid character '+' looking for beginning of value"),
    (b'{"a":.5}', "invalid character '.' looking for beginning of value"),
    (b'{"a":Infinity}', "invalid character 'I' looking for beginning of value"),
    (b'{"a":-Infinity}', "invalid character 'I' in numeric literal"),
    (b"[[[1}]]", "invalid character '}' after array element"),
    (b'{"a":"\\"}', "unexpected end of JSON input"),
    (b'{"a":"\xe9\x01"}', "invalid character '\\x01' in string literal"),
    (b'{"a":\\}', "invalid character '\\\\' looking for beginning of value"),
    (b'{"a":1}"', "invalid character '\"' after top-level value"),
    (b'{"a":/*x*/1}', "invalid character '/' looking for beginning of value"),
]


@pytest.mark.parametrize(("body", "problem"), SAID)
def test_the_first_character_that_does_not_fit_is_named(body: bytes, problem: str) -> None:
    with pytest.raises(MalformedBody) as refused:
        decode_json(body)
    assert str(refused.value) == problem


@given(st.text(alphabet='{}[]",:\\ \tu01e.-+truefalsn\x01é', max_size=30))
def test_it_finds_nothing_but_the_end_where_there_is_nothing_and_something_wherever_json_is_refused(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda name: json.loads(""))
    except json.JSONDecodeError:
        assert json_problem(text.encode()).startswith(("invalid character", END))
    else:
        assert json_problem(text.encode()) == END


def test_depth_is_no_problem() -> None:
    assert json_problem(b"[" * 100_000 + b"x") == "invalid character 'x' looking for beginning of value"
