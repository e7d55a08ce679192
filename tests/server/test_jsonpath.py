from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.cluster.server.tables.jsonpath import JsonPathError, compile_path

OBJECT: dict[str, Any] = {
    "metadata": {"labels": {"app.kubernetes.io/name": "web"}},
    "l": [{"n": 1, "s": "a", "ok": True}, {"n": 2, "s": "b", "q": None}, {"n": 3, "s": "a)"}],
    "a": [1, 2, 3],
    "m": {"x": {"z": 1}, "y": {"z": 2}},
    "null": None,
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a", [[1, 2, 3]]),
        ("{.a}", [[1, 2, 3]]),
        ("$.a[0]", [1]),
        (".a[-1]", [3]),
        (".a[0:2]", [1, 2]),
        (".a[1:]", [2, 3]),
        (".a[-2:]", [2, 3]),
        (".a[::2]", [1, 3]),
        (".a[0,2]", [1, 3]),
        (".a[*]", [1, 2, 3]),
        (".a[1:1]", []),
        (".m.*.z", [1, 2]),
        ("..z", [1, 2]),
        (".m['x','y'].z", [1, 2]),
        ("['a'][1]", [2]),
        (".metadata.labels.app\\.kubernetes\\.io/name", ["web"]),
        (".metadata.labels['app\\.kubernetes\\.io/name']", ["web"]),
        ('.l[?(@.s=="b")].n', [2]),
        (".l[?(@.s=='a)')].n", [3]),
        (".l[?(@.n>1)].n", [2, 3]),
        (".l[?(@.n!=2)].n", [1, 3]),
        (".l[?(@.ok==true)].n", [1]),
        (".l[?(@.q)].n", [2]),
        (".l[0,1].s", ["a", "b"]),
        (".null", [None]),
        (".null.x", []),
        (".missing.deeper[0]", []),
    ],
)
def test_a_path_leads_where_kubernetes_says(path: str, found: list[Any]) -> None:
    assert compile_path(path).find(OBJECT) == found


@pytest.mark.parametrize(
    "path",
    [
        ".a[",
        ".a[x]",
        ".l[?(@.n",
        ".l[?(@.n=1)]",
        "....a",
        '.l[?(@.s=="b)]',
        "%",
        ".a[::0]",
        ".l[?(@.n)",
        ".a[-]",
        ".a[0:-]",
        f".a[{2**63}]",
        f".a[{'9' * 5000}]",
    ],
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(JsonPathError):
        compile_path(path)


@pytest.mark.parametrize("path", [".a[3]", ".a[2:1]", ".m[0]", ".m[?(@.z)]", '.l[?(@.n=="x")].s', ".a range"])
def test_a_path_that_does_not_fit_the_value_fails_or_gives_the_default(path: str) -> None:
    with pytest.raises(JsonPathError):
        compile_path(path).find(OBJECT)
    assert compile_path(path).first(OBJECT, "default") == "default"


@given(st.text(".[]?()@'\"ab*:,0-1\\ ={}", max_size=12))
def test_any_text_is_either_a_path_or_refused(path: str) -> None:
    try:
        compile_path(path).first(OBJECT)
    except JsonPathError:
        return
