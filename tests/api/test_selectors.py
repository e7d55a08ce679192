"""Selectors accept what Kubernetes accepts and match what it matches."""

import re

import pytest

from setpoint.api import LabelSelector, SelectorError, parse_fields

LABELS = {"app": "web", "tier": "front", "count": "3", "example.com/team": "a"}


@pytest.mark.parametrize(
    ("selector", "matches"),
    [
        ("", True),
        ("app", True),
        ("!app", False),
        ("!missing", True),
        ("app=web", True),
        ("app == web", True),
        ("app!=web", False),
        ("missing!=web", True),
        ("app in (web,api)", True),
        ("app in ( web , api ),tier=front", True),
        ("app notin (web)", False),
        ("missing notin (web)", True),
        ("count>2", True),
        ("count<3", False),
        ("missing>1", False),
        ("example.com/team=a,app", True),
        ("app=", False),
        ("app in (web), tier notin (back)", True),
    ],
)
def test_label_selectors_match(selector, matches):
    assert LabelSelector.parse(selector).matches(LABELS) is matches


def test_a_mapping_means_equality():
    assert LabelSelector.parse({"app": "web"}).matches(LABELS)
    assert str(LabelSelector.parse({"b": "2", "a": "1"})) == "a=1,b=2"


@pytest.mark.parametrize(
    ("selector", "says"),
    [
        ("a=b=c", "found '=', expected: ',' or 'end of string'"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (b!)", "unable to parse requirement: found '!', expected: ',' or ')'"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a>x", "values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"),
        ("-a=1", "unable to parse requirement: <nil>: Invalid value"),
        ("a=-b-", "unable to parse requirement: values[0][a]: Invalid value"),
        ("x" * 64, "unable to parse requirement"),
    ],
)
def test_nonsense_is_refused_in_the_words_of_the_server(selector, says):
    with pytest.raises(SelectorError, match=re.escape(says)):
        LabelSelector.parse(selector)


def test_words_that_are_operators_elsewhere_may_be_keys_and_values():
    assert LabelSelector.parse("in=notin,notin in (in,)").matches({"in": "notin", "notin": ""})


def test_field_selectors():
    (a, b) = parse_fields(r"metadata.name=x\,y,status.phase!=Running")
    assert (a.path, a.value, a.equal) == ("metadata.name", "x,y", True)
    assert (b.path, b.value, b.equal) == ("status.phase", "Running", False)
    with pytest.raises(SelectorError, match="can't understand"):
        parse_fields("nonsense")
