from __future__ import annotations

import json
from pathlib import Path

import pytest

from setpoint.cluster.server.schema.pattern import PatternError, compile_pattern

OBSERVED = json.loads((Path(__file__).parent.parent / "observed" / "patterns.json").read_text())


@pytest.mark.parametrize(("pattern", "problem"), OBSERVED)
def test_a_pattern_is_refused_as_by_the_real_server(pattern: str, problem: str | None) -> None:
    if problem is None:
        compile_pattern(pattern)
    else:
        with pytest.raises(PatternError) as raised:
            compile_pattern(pattern)
        assert str(raised.value) == problem


@pytest.mark.parametrize("pattern", [r"\p{Greek}", r"(?U)a+"])
def test_what_re2_knows_and_python_does_not_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(PatternError, match="not supported by the embedded server"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"^a$", ["a"], ["a\n", "b"]),
        (r"(?m)^a$", ["a\nb"], ["ab"]),
        (r"a\z", ["ba"], ["a\n"]),
        (r"^a(?i)b$", ["ab", "aB"], ["AB"]),
        (r"^(?:a(?i)b)c$", ["aBc"], ["aBC"]),
        (r"^\d+$", ["12"], ["\u0661"]),
        (r"^\w$", ["a", "_"], ["ä"]),
        (r"^\s$", [" ", "\t"], ["\v", "\u00a0"]),
        (r"^\S+$", ["ä", "a\v"], ["a b"]),
        (r"^[^\s]+$", ["ab"], ["a b"]),
        (r"^[\D]$", ["a", "ä"], ["1"]),
        (r"^\pL+$", ["aäж"], ["a1"]),
        (r"^[\p{Lu}_]+$", ["A_Ж"], ["a"]),
        (r"^\PN$", ["a"], ["1"]),
        (r"^[[:alpha:]]+$", ["ab"], ["a1", "ä"]),
        (r"^[[:^alpha:]]+$", ["12"], ["a"]),
        (r"^\Qa.b\E$", ["a.b"], ["axb"]),
        (r"^a{,3}$", ["a{,3}"], ["aa"]),
        (r"^[a&&b]+$", ["&", "ab"], ["c"]),
        (r"^[]a]$", ["]", "a"], ["b"]),
        (r"^(?P<x>a)(?P<x>b)$", ["ab"], ["a"]),
        (r"^(?s).$", ["\n"], ["ab"]),
        (r"^.$", ["a"], ["\n"]),
        (r"^\x{41}\x42\103$", ["ABC"], ["abc"]),
        (r"^a+?$", ["aa"], [""]),
        (r"\bfoo\b", ["a foo"], ["food"]),
    ],
)
def test_a_pattern_matches_what_re2_matches(pattern: str, matching: list[str], other: list[str]) -> None:
    compiled = compile_pattern(pattern)
    assert [text for text in matching if not compiled.search(text)] == []
    assert [text for text in other if compiled.search(text)] == []
