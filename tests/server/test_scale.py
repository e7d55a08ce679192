"""Scales: which replicas are refused, and how a Scale is shown. The messages are those that a real server was seen to give."""

import pytest
from tests.server.talk import WIDGETS, Refused, Talk, talk, widget

from setpoint.cluster.server.kinds import replicas_errors

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({}, None),
        ({"spec": None}, None),
        ({"spec": {}}, None),
        ({"spec": {"replicas": 0}}, None),
        ({"spec": 3}, "Invalid value: 0: .spec.replicas accessor error: 3 is of the type int64, expected map[string]interface{}"),
        (
            {"spec": {"replicas": "three"}},
            "Invalid value: 0: .spec.replicas accessor error: three is of the type string, expected int64",
        ),
        ({"spec": {"replicas": 1.5}}, "Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64"),
        ({"spec": {"replicas": True}}, "Invalid value: 0: .spec.replicas accessor error: true is of the type bool, expected int64"),
        ({"spec": {"replicas": -1}}, "Invalid value: -1: should be a non-negative integer"),
        ({"spec": {"replicas": 99999999999}}, "Invalid value: 99999999999: should be less than or equal to 2147483647"),
    ],
)
def test_replicas_are_an_int32(obj: dict[str, object], message: str | None) -> None:
    errors = replicas_errors(obj, ("spec", "replicas"))
    assert [(error.field, error.message) for error in errors] == ([] if message is None else [(".spec.replicas", message)])


def test_replicas_that_are_no_number_are_refused_twice() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        with pytest.raises(Refused) as refused:
            await t.create(WIDGETS, widget("w", {"replicas": "three"}))
        assert [cause["field"] for cause in refused.value.status["details"]["causes"]] == ["spec.replicas", ".spec.replicas"]

    talk(main)


def test_a_scale_is_a_row_of_what_is_wanted_and_what_is_there() -> None:
    async def main(t: Talk) -> None:
        await t.establish()
        await t.create(WIDGETS, widget("w", {"replicas": 3}))
        shown = await t.do("get", WIDGETS, "default/w", sub="scale", accept=TABLE)
        assert [column["name"] for column in shown["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
        assert shown["rows"][0]["cells"] == ["w", 3, 0, "0s"]
        changed = await t.merge(WIDGETS, "default/w", {"spec": {"replicas": 4}}, sub="scale", accept=TABLE)
        assert changed["rows"][0]["cells"] == ["w", 4, 0, "0s"]

    talk(main)
