"""Values and texts that are unlikely, and what becomes of a sensible value when a little of it is changed."""

from __future__ import annotations

import json
from random import Random
from typing import Any

STRINGS = [
    "",
    " ",
    "a",
    "A",
    "-",
    ".",
    "..",
    "/",
    "%",
    "a/b",
    "*",
    "\x00",
    "a\x00b",
    "\n",
    "\r\n",
    "\t",
    "ü",
    "日本",
    "\U0001f600",
    "\u202e",
    "\ufeff",
    "true",
    "null",
    "~",
    "0",
    "-1",
    "1e400",
    "0x10",
    "1Gi",
    "-1Gi",
    "1e1000000Gi",
    "999999999999999999999Gi",
    "100m",
    "50%",
    "150%",
    "NaN",
    "2020-01-01T00:00:00Z",
    "2020-13-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "99999-01-01T00:00:00Z",
    "a" * 64,
    "a" * 254,
    "b" * 5000,
    "a=b",
    "a in (b)",
    "!a",
    "k8s.io/x",
    "example.com/a",
    "http://",
    "127.0.0.1",
    "::1",
    "300.1.1.1",
    "1.2.3.4/33",
    "TCP",
    "Always",
    "v1",
    "{}",
    "[]",
    '{"a":1}',
    "$patch",
    "replace",
    "delete",
    "YWJj",
    "%s",
    "${x}",
    "'; --",
    "\\",
    '"',
    "\ud83d",
    "default",
    "kube-system",
    "0.0.0.0",
]
NUMBERS = [
    0,
    1,
    -1,
    2,
    80,
    65535,
    65536,
    2**31 - 1,
    2**31,
    -(2**31) - 1,
    2**32,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    2**64,
    10**30,
    10**400,
    0.5,
    -0.0,
    1e308,
    1e-320,
    1.0,
    3.7,
]
KEYS = [
    "metadata",
    "name",
    "namespace",
    "labels",
    "annotations",
    "spec",
    "status",
    "apiVersion",
    "kind",
    "uid",
    "resourceVersion",
    "generation",
    "finalizers",
    "ownerReferences",
    "managedFields",
    "creationTimestamp",
    "deletionTimestamp",
    "generateName",
    "data",
    "binaryData",
    "immutable",
    "replicas",
    "selector",
    "template",
    "containers",
    "ports",
    "$patch",
    "$setElementOrder/containers",
    "$retainKeys",
    "items",
    "$deleteFromPrimitiveList/finalizers",
    "fieldsV1",
    "x",
    "",
    "a.b",
    "a/b",
    "~0",
    "~1",
    "\x00",
]


class Raw(str):
    """JSON as it is to be written."""


def anything(random: Random, depth: int = 0) -> Any:
    """Any JSON value."""
    choice = random.random()
    if choice < 0.35:
        return random.choice(STRINGS)
    if choice < 0.55:
        return random.choice(NUMBERS)
    if choice < 0.7:
        return random.choice([None, True, False, [], {}, [[]], [None], {"": None}])
    if depth > 4:
        return None
    if choice < 0.85:
        return [anything(random, depth + 1) for _ in range(random.randrange(4))]
    if choice < 0.99:
        return {random.choice(KEYS): anything(random, depth + 1) for _ in range(random.randrange(4))}
    return Raw(
        random.choice(
            ["NaN", "Infinity", "-", "01", "1.", "1e", "tru", "'a'", '"\\ud800"', '"\\x"', '"\\u12"', "{,}", "[1,]", '"a\nb"', "1E+9999"]
        )
    )


def changed(random: Random, value: Any) -> Any:
    """The value with one place in it changed: what is there is left out, replaced, wrapped, repeated or added to."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        key = random.choice(list(value))
        what = random.random()
        if what < 0.7:
            return {**value, key: changed(random, value[key])}
        if what < 0.8:
            return {name: item for name, item in value.items() if name != key}
        if what < 0.9:
            return {**value, random.choice(KEYS): anything(random)}
        return {(random.choice(KEYS) if name == key else name): item for name, item in value.items()}
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        if random.random() < 0.7:
            return [*value[:at], changed(random, value[at]), *value[at + 1 :]]
        return [*value, value[at], anything(random)]
    return anything(random)


def text(random: Random, value: Any) -> bytes:
    """The value as JSON, which may be repeated keys, broken off, or no UTF-8."""
    body = _written(random, value, repeats=random.random() < 0.05).encode("utf-8", "surrogatepass" if random.random() < 0.3 else "replace")
    what = random.random()
    if what < 0.9:
        return body
    if what < 0.93:
        return body[: random.randrange(len(body) + 1)]
    at = random.randrange(len(body) + 1)
    odd = random.choice([b"\xff", b"\x00", b"\xed\xa0\x80", b"}", b"{", b'"', b",", b"\xef\xbb\xbf", b"\\u0000", b" " * 100])
    return body[:at] + odd + body[at:]


def _written(random: Random, value: Any, *, repeats: bool) -> str:
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        pairs = [f"{json.dumps(key)}:{_written(random, item, repeats=repeats)}" for key, item in value.items()]
        if repeats and pairs and random.random() < 0.5:
            pairs.append(random.choice(pairs))
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_written(random, item, repeats=repeats) for item in value) + "]"
    return json.dumps(value, ensure_ascii=random.random() < 0.5)


def deep(random: Random) -> bytes:
    """What is nested very deeply, or very large."""
    depth = random.choice([50, 500, 5_000, 100_000])
    return random.choice(
        [
            b"[" * depth,
            b'{"a":' * depth + b"1" + b"}" * depth,
            b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"data":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}",
            b'{"metadata":{"labels":' + b"[" * depth + b"]" * depth + b"}}",
            b'{"a":' + b"9" * depth + b"}",
            b'{"a":"' + b"\\u0041" * depth + b'"}',
            b"&a [" + b"*a," * 10 + b"]",
            b"a: &a [x]\n" + b"".join(b"%c: &%c [%b]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(9)),
            b"- " * depth,
            b"{" * depth,
        ]
    )
