"""Replay tokens: what goes in comes out, what is broken is found out, and a person can read one."""

from __future__ import annotations

import shlex
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setpoint
from setpoint.levelcheck.plan import Decision, Plan, Site, Where
from setpoint.levelcheck.report import token
from setpoint.levelcheck.report.token import BadToken, decode, encode, read

texts = st.text(max_size=20)
sites = st.builds(Site, st.sampled_from(get_args(Where)), texts, texts, st.integers(1, 99))
decisions = st.builds(
    Decision,
    fault=st.sampled_from(["F1", "F22"]),
    site=sites,
    how=texts,
    seconds=st.floats(-1e6, 1e6),
    times=st.integers(1, 9),
    resource=texts,
    revision=st.integers(0, 10**9),
    object=texts,
)
plans = st.builds(Plan, st.lists(decisions, max_size=3).map(tuple), texts, st.integers(0, 2**31))

CRASH = Decision("F1", Site("write", "webapp default/shop", "apply deployments.apps default/shop"), "after", seconds=5.0)


@given(plans)
def test_a_plan_comes_back_as_it_was(plan: Plan) -> None:
    assert decode(encode(plan)) == plan


@given(plans)
def test_a_token_is_one_word_of_a_shell(plan: Plan) -> None:
    text = encode(plan)
    assert text.isascii()
    assert text.isprintable()
    assert shlex.split(f"setpoint check webapp.py --replay {text}")[-1] == text
    assert not set("$`\\\"'*?[]{}()<>|&;!#~ ") & set(text)


@given(plans, st.data())
def test_what_is_cut_off_is_found_out(plan: Plan, data: st.DataObject) -> None:
    text = encode(plan)
    with pytest.raises(BadToken):
        decode(text[: data.draw(st.integers(0, len(text) - 1))])


def test_a_token_can_be_read_by_people() -> None:
    text = encode(Plan((CRASH,)))
    assert "F1:after:write:webapp+default/shop:apply+deployments.apps+default/shop:1:seconds=5.0" in text
    assert setpoint.__version__ in text


def test_a_token_survives_the_end_of_a_line() -> None:
    text = encode(Plan((CRASH,)))
    assert decode(f"  {text[:30]}\n   {text[30:]}\n") == Plan((CRASH,))


def test_a_changed_letter_is_found_out() -> None:
    with pytest.raises(BadToken, match="cut off or was changed"):
        decode(encode(Plan((CRASH,))).replace("shop:1", "shop:2"))


@pytest.mark.parametrize("text", ["", "hello", "lc1", "F1:after", "webapp.py"])
def test_what_is_no_token_is_named(text: str) -> None:
    with pytest.raises(BadToken, match="is no replay token: one begins with lc1"):
        decode(text)


def test_another_form_names_a_newer_setpoint() -> None:
    with pytest.raises(BadToken, match=r"has the form lc2.*newer Setpoint"):
        decode(encode(Plan((CRASH,))).replace("lc1,", "lc2,"))


def test_another_version_is_read_and_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token, "__version__", "0.0.9")
    text = encode(Plan((CRASH,)))
    monkeypatch.undo()
    found = read(text)
    assert found.plan == Plan((CRASH,))
    assert found.remarks == (f"the token was made by Setpoint 0.0.9, and this is {setpoint.__version__}: its places may be gone",)


def test_another_hash_seed_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    text = encode(Plan((CRASH,)))
    assert not read(text).remarks
    monkeypatch.setenv("PYTHONHASHSEED", "8")
    assert read(text).remarks == ("the token was made with PYTHONHASHSEED=7, and here it is 8",)


def test_a_forged_token_is_refused_with_what_is_wrong() -> None:
    body = f"lc1,{setpoint.__version__},random,0,,F1:after:moon:::1"
    with pytest.raises(BadToken, match="there is no place called moon"):
        decode(f"{body},{token._check_sum(body)}")


def test_every_field_of_a_decision_is_carried() -> None:
    """A field that is added to `Decision` has to be added to tokens, through `further` or by itself."""
    assert {field.name for field in msgspec.structs.fields(Decision)} == {
        "fault", "site", "how", "seconds", "times", "resource", "revision", "object",
    }  # fmt: skip
