"""Durations compare by how long they are."""

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setpoint.objects import Duration, SchemaError, Struct, decode, encode, schema_of

LENGTHS = [
    ("0", 0),
    ("0s", 0),
    ("1h30m", 5400),
    ("90m", 5400),
    ("1.5s", Fraction(3, 2)),
    (".5s", Fraction(1, 2)),
    ("2.m", 120),
    ("250ms", Fraction(1, 4)),
    ("1us", Fraction(1, 10**6)),
    ("1µs", Fraction(1, 10**6)),
    ("1ns", Fraction(1, 10**9)),
    ("-1m", -60),
    ("+1m", 60),
]


@pytest.mark.parametrize(("text", "seconds"), LENGTHS)
def test_each_form_is_so_long(text: str, seconds: Fraction) -> None:
    assert Duration(text).nanoseconds == seconds * 10**9


@pytest.mark.parametrize("text", ["", "1", "1 s", "s", "1d", "1h 30m", "1.2.3s", "PT1H", "1S", "٣s"])
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        Duration(text)


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(hours=1, minutes=30), "1h30m0s"),
        (timedelta(minutes=2), "2m0s"),
        (timedelta(hours=100), "100h0m0s"),
        (timedelta(milliseconds=250), "250ms"),
        (timedelta(microseconds=-1500), "-1500us"),
        (timedelta(), "0s"),
        (1.5, "1.5s"),
        (61, "1m1s"),
    ],
)
def test_it_is_made_of_seconds_and_written_with_units(length: timedelta | float, text: str) -> None:
    assert str.__str__(Duration(length)) == text


@given(st.timedeltas(min_value=timedelta(days=-10_000), max_value=timedelta(days=10_000)))
def test_a_timedelta_comes_back(length: timedelta) -> None:
    assert Duration(length).to_timedelta() == length
    assert Duration(length) == length


DURATIONS = st.builds(
    lambda number, unit: Duration(f"{number}{unit}"), st.integers(-9999, 9999), st.sampled_from(["ns", "us", "µs", "ms", "s", "m", "h"])
)


@given(DURATIONS, DURATIONS)
def test_order_and_equality_are_those_of_the_lengths(one: Duration, other: Duration) -> None:
    a, b = one.nanoseconds, other.nanoseconds
    assert (one < other, one <= other, one == other, one > other, one >= other, one != other) == (
        a < b,
        a <= b,
        a == b,
        a > b,
        a >= b,
        a != b,
    )
    assert one != other or hash(one) == hash(other)


def test_a_duration_compares_with_text_and_timedeltas() -> None:
    assert Duration("60s") == "1m"
    assert Duration("1h") > timedelta(minutes=59)
    assert Duration("1h") != "an hour"


class Wait(Struct):
    at_least: Duration


def test_it_is_read_and_written_as_it_was_given() -> None:
    wait = decode(Wait, b'{"atLeast":"90m"}')
    assert wait.at_least == timedelta(hours=1.5)
    assert encode(wait) == b'{"atLeast":"90m"}'


def test_its_schema_is_text_of_that_form() -> None:
    schema = schema_of(Wait)["properties"]["atLeast"]
    assert schema["type"] == "string"
    assert schema["pattern"]


class Plain(Struct):
    wait: timedelta


def test_a_plain_timedelta_is_refused_and_the_duration_named() -> None:
    with pytest.raises(SchemaError, match=r"Plain\.wait.*Duration"):
        schema_of(Plain)
