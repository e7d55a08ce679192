"""Selectors accept what Kubernetes accepts and match what it matches."""

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


@pytest.mark.parametrize("selector", ["a=b=c", "=x", "a in b", "a in (b", "a,", "a>x", "-a=1", "a=-b-", "x" * 64])
def test_nonsense_is_refused(selector):
    with pytest.raises(SelectorError, match="unable to parse requirement"):
        LabelSelector.parse(selector)


def test_field_selectors():
    (a, b) = parse_fields(r"metadata.name=x\,y,status.phase!=Running")
    assert (a.path, a.value, a.equal) == ("metadata.name", "x,y", True)
    assert (b.path, b.value, b.equal) == ("status.phase", "Running", False)
    with pytest.raises(SelectorError, match="can't understand"):
        parse_fields("nonsense")
