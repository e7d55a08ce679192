from __future__ import annotations

from typing import Any

import pytest

from setpoint.cluster.server.schema import metadata_problem, tidy_metadata


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ("x", "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
        ({"labels": {"a": 1}}, "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"),
        ({"labels": "x"}, "json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string"),
        ({"name": 5}, "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"),
        ({"generation": "1"}, "json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64"),
        ({"creationTimestamp": "x"}, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
        ({"labels": {"a": None}, "finalizers": None, "creationTimestamp": None, "unknown": 1}, None),
        (None, None),
    ],
)
def test_metadata_that_cannot_be_read_is_told_as_by_the_real_server(metadata: Any, problem: str | None) -> None:
    assert metadata_problem(metadata) == problem


def test_what_go_leaves_out_when_it_writes_is_left_out() -> None:
    metadata = {
        "name": "x",
        "labels": {"a": None},
        "annotations": {},
        "creationTimestamp": None,
        "generation": 0,
        "uid": "",
        "finalizers": [],
    }
    assert tidy_metadata(metadata) == {"name": "x", "labels": {"a": ""}}
