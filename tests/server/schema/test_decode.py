from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from setpoint.cluster.server.schema import MalformedBody, decode_json, decode_yaml


def test_keys_written_twice_count_with_their_last_value_and_are_named_once() -> None:
    body = b'{"kind":"A","kind":"B","spec":{"a":1,"a":2,"a":3,"l":[{"x":1},{"x":1,"x":2}]}}'
    assert decode_json(body) == ({"kind": "B", "spec": {"a": 3, "l": [{"x": 1}, {"x": 2}]}}, ["kind", "spec.a", "spec.l[1].x"])


def test_numbers_are_those_of_the_real_server() -> None:
    body = b"[1, 1.0, 1e3, 1.5, 9223372036854775807, 9223372036854775808, -0.0, 1e30]"
    value, _ = decode_json(body)
    assert value == [1, 1, 1000, 1.5, 2**63 - 1, float(2**63), 0, 1e30]
    assert [type(number) for number in value] == [int, int, int, float, int, float, int, float]


def test_what_is_not_utf8_becomes_replacement_characters() -> None:
    assert decode_json(b'{"a":"\xff"}') == ({"a": "\ufffd"}, [])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b"[1", "unexpected end of JSON input"),
        (b'{"a":}', "invalid character '}' looking for beginning of value"),
        (b'{"a":1}x', "invalid character 'x' after top-level value"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b"{a:1}", "invalid character 'a' looking for beginning of object key string"),
        (b"{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b'{"a":"\\q"}', "invalid character 'q' in string escape code"),
        (b'{"a":"b\n"}', "invalid character '\\n' in string literal"),
        (b'{"a":NaN}', "invalid character 'N' looking for beginning of value"),
        (b'{"a":01}', "invalid character '1' after object key:value pair"),
        (b'{"a":[1,]}', "invalid character ']' looking for beginning of value"),
        (b'{"a":1e400}', "json: cannot unmarshal number 1e400 into Go value of type float64"),
    ],
)
def test_malformed_json_is_refused_in_the_words_of_the_real_server(body: bytes, problem: str) -> None:
    with pytest.raises(MalformedBody) as raised:
        decode_json(body)
    assert str(raised.value) == problem


def test_yaml_scalars_are_read_as_go_reads_them() -> None:
    body = b"""
a: 1_000
b: +1
c: .5
d: 1.
e: 08
f: 0o17
g: 1:30
h: ~
i: Null
j: 2020-01-01T00:00:00Z
k: !!str 5
l: !!int "5"
m: !!float 5
o: 0777
p: 0x1F
q: off
r: N
s: 0b11
t: 2020-01-01
u: "yes"
5: 6
1.50: 1
on: 2
n: !!binary aGk=
"""
    assert decode_yaml(body) == (
        {
            "a": 1000, "b": 1, "c": 0.5, "d": 1, "e": 8, "f": 15, "g": "1:30", "h": None, "i": None, "j": "2020-01-01T00:00:00Z",
            "k": "5", "l": 5, "m": 5, "o": 511, "p": 31, "q": False, "r": False, "s": 3, "t": "2020-01-01", "u": "yes",
            "5": 6, "1.5": 1, "true": 2, "false": "hi",
        },
        [],
    )  # fmt: skip


def test_yaml_names_its_duplicate_keys_follows_anchors_and_merges() -> None:
    body = b"base: &base {a: 1, b: 2}\nspec:\n  <<: *base\n  b: 3\n  c: 4\n  c: 5\nagain: *base\n---\nsecond: document\n"
    assert decode_yaml(body) == ({"base": {"a": 1, "b": 2}, "spec": {"b": 3, "c": 5, "a": 1}, "again": {"a": 1, "b": 2}}, ["spec.c"])


def test_an_empty_yaml_body_is_null() -> None:
    assert decode_yaml(b"# nothing\n") == (None, [])


@pytest.mark.parametrize("body", [b"a: [\n", b"a: b: c\n", b"\tx: 1", b"a: 1\n b: 2\n", b"a: !!int x", b"{a: .inf}", b"&a [*a]"])
def test_malformed_yaml_is_refused(body: bytes) -> None:
    with pytest.raises(MalformedBody, match=r"^error converting YAML to JSON: "):
        decode_yaml(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_json_and_yaml_give_back_what_was_written(value: Any) -> None:
    assert decode_json(json.dumps(value).encode()) == (value, [])


@given(
    st.recursive(
        st.text("abc01-:#", max_size=4), lambda inner: st.lists(inner) | st.dictionaries(st.text("abc", min_size=1), inner), max_leaves=8
    )
)
def test_yaml_strings_stay_strings(value: Any) -> None:
    assert decode_yaml(yaml.safe_dump(value, default_style='"').encode()) == (value, [])


def test_half_of_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert decode_json(rb'{"a": "\ud800x\ud83d\ude00", "\udc00": ["\ud800"]}') == ({"a": "\ufffdx\U0001f600", "\ufffd": ["\ufffd"]}, [])
    assert decode_yaml(rb'a: "\ud800x"') == ({"a": "\ufffdx"}, [])


def test_a_few_lines_of_aliases_cannot_mean_billions_of_values() -> None:
    lines = [b"a: &a [x,x,x,x,x,x,x,x,x]"]
    for at in range(9):
        lines.append(b"%c: &%c [%s]" % (98 + at, 98 + at, b",".join([b"*%c" % (97 + at)] * 9)))
    with pytest.raises(MalformedBody, match="excessive aliasing"):
        decode_yaml(b"\n".join(lines))
    assert decode_yaml(b"a: &a [1, 2]\nb: *a\nc: [*a, *a]")[0] == {"a": [1, 2], "b": [1, 2], "c": [[1, 2], [1, 2]]}
