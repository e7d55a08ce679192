"""No pattern takes longer than the text is long."""

import sys

import pytest

from setpoint.cluster.server.schema.pattern import SHORT, PatternError, _sure, compile_pattern


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(a*)*$", "^a*a*a*a*a*a*a*$", "(x+x+)+y", "^([a-z]+)*b$", "^(a?){50}a{50}$"])
def test_a_pattern_with_many_ways_to_match_takes_no_time(pattern):
    compiled = compile_pattern(pattern)
    for text in ("a" * 40 + "!", "x" * 40, "a" * 100_000 + "!"):
        assert not compiled.search(text)


def test_a_long_text_takes_no_time():
    assert not compile_pattern("^a*a*b$").search("a" * 200_000)


@pytest.mark.parametrize(
    "pattern", ["^[a-z]([-a-z0-9]*[a-z0-9])?$", "^(a|b)+$", "\\d+", "^\\pL*$", "[[:alpha:]]{3,}", "^$", "a.c", "(?i)^ABC$"]
)
def test_both_engines_agree(pattern):
    compiled = compile_pattern(pattern)
    for text in ("", "a", "abc", "a-b-", "ab", "12", "ü", "a\nc", "A", "x" * 10, "abc\n", "٣"):
        assert compiled.search(text) == (compiled._quick.search(text) is not None), text


def test_text_that_is_no_unicode_is_searched_all_the_same():
    assert compile_pattern("^(a+)+").search("a\ud800")
    assert compile_pattern("^(.+)+$").search("x" * SHORT + "\ud800")


def test_a_pattern_that_would_take_too_much_memory_is_refused():
    with pytest.raises(PatternError):
        compile_pattern("((a{100}){100}){100}")


def test_without_re2_patterns_still_match(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    _sure.cache_clear()
    compile_pattern.cache_clear()
    try:
        assert compile_pattern("^[a-z]([-a-z0-9]*[a-z0-9])?$").search("a-b")
        assert not compile_pattern("^[a-z]([-a-z0-9]*[a-z0-9])?$").search("a-")
        assert compile_pattern("b$").search("a" * SHORT + "b")
    finally:
        _sure.cache_clear()
        compile_pattern.cache_clear()
