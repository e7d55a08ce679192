"""Tables, against the cells that a real kube-apiserver 1.37 was seen to print."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.server.talk import Talk, talk

from setpoint.api import GroupVersionResource
from setpoint.cluster.server.builtin import kinds
from setpoint.cluster.server.crd.definitions import CustomKind, PrinterColumn
from setpoint.cluster.server.tables.cells import builtin_columns
from setpoint.cluster.server.tables.durations import human_duration, since
from setpoint.cluster.server.tables.tables import GENERIC, custom_columns, partial_metadata_list, table

FOLDER = Path(__file__).parent / "observed"
CUSTOM = json.loads((FOLDER / "printer_columns.json").read_text())
BUILTIN = json.loads((FOLDER / "builtin_cells.json").read_text())
NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


def kind(*columns: PrinterColumn) -> CustomKind:
    return CustomKind("ex.dev", "v1", "Foo", "FooList", "foos", "foo", True, True, True, {}, columns=columns)


@pytest.mark.parametrize(("path", "type_", "cell"), CUSTOM["cells"], ids=[f"{path}:{type_}" for path, type_, _ in CUSTOM["cells"]])
def test_a_printer_column_shows_what_the_real_server_shows(path: str, type_: str, cell: Any) -> None:
    obj = {"metadata": {"name": "a"}, "spec": CUSTOM["spec"]}
    columns = custom_columns(kind(PrinterColumn("C", type_, path)))
    name, shown = columns.cells(obj, datetime.fromisoformat(CUSTOM["now"]))
    assert name == "a"
    assert shown == cell
    assert type(shown) is type(cell)


@pytest.mark.parametrize("case", BUILTIN, ids=lambda case: f"{case['plural']}-{case['object']['metadata']['name']}")
def test_a_built_in_kind_shows_what_the_real_server_shows(case: dict[str, Any]) -> None:
    columns = builtin_columns(case["group"], case["plural"])
    assert columns is not None
    assert columns.cells(case["object"], datetime.fromisoformat(case["now"])) == case["cells"]
    assert columns.conditions(case["object"]) == case.get("conditions", [])
    assert len(columns.headings) + (case["plural"] == "ipaddresses") == len(case["cells"])


def test_every_built_in_kind_has_the_columns_of_the_real_server() -> None:
    """Of every kind that is listed there are cells, and as many of them as headings, even where the object is all but empty."""
    for kind in kinds():
        if "list" not in kind.verbs:
            continue
        columns = builtin_columns(kind.group, kind.plural)
        assert columns is not None, kind
        assert columns.headings[0].name == ("Last Seen" if kind.plural == "events" else "Name")
        bare = {"metadata": {"name": "a"}, "spec": {"scope": "", "group": "", "versions": [], "names": {"kind": ""}}}
        assert len(columns.cells(bare, NOW)) == len(columns.headings) + (kind.kind == "IPAddress"), kind


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-2, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (121, "2m1s"), (599, "9m59s"), (600, "10m"), (10799, "179m"),
        (10800, "3h"), (10860, "3h1m"), (28799, "7h59m"), (28800, "8h"), (172799, "47h"), (172800, "2d"), (176400, "2d1h"),
        (691199, "7d23h"), (691200, "8d"), (63071999, "729d"), (63072000, "2y"), (63158400, "2y1d"), (252288000, "8y"),
    ],
)  # fmt: skip
def test_the_longer_a_span_the_coarser_it_is_shown(seconds: int, shown: str) -> None:
    assert human_duration(timedelta(seconds=seconds)) == shown


def test_no_time_is_unknown_and_no_real_time_invalid() -> None:
    assert since(None, NOW) == "<unknown>"
    assert since("yesterday", NOW) == "<invalid>"
    assert since("2026-01-01T14:00:00+02:00", NOW) == "0s"


OBJECT = {
    "apiVersion": "ex.dev/v1",
    "kind": "Foo",
    "metadata": {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"},
    "spec": {"n": 1},
}


def test_a_kind_without_columns_shows_its_age() -> None:
    for columns in (custom_columns(kind()), GENERIC):
        assert [heading.name for heading in columns.headings] == ["Name", "Age"]
        assert columns.cells(OBJECT, NOW) == ["a", "5m"]


def test_columns_from_one_that_cannot_be_read_on_are_left_out() -> None:
    columns = custom_columns(
        kind(PrinterColumn("N", "integer", ".spec.n"), PrinterColumn("X", "string", ".a["), PrinterColumn("Y", "string", ".a"))
    )
    assert [heading.name for heading in columns.headings] == ["Name", "N"]


def test_rows_carry_as_much_of_the_object_as_was_asked_for() -> None:
    listed = {"resourceVersion": "7", "continue": "", "remainingItemCount": 3}
    whole = table(GENERIC, [OBJECT], listed, "", NOW, version="v1beta1")
    assert (whole["kind"], whole["apiVersion"], whole["metadata"]) == (
        "Table",
        "meta.k8s.io/v1beta1",
        {"resourceVersion": "7", "remainingItemCount": 3},
    )
    described = "The name of the object, unique in its namespace."
    heading = {"name": "Name", "type": "string", "format": "name", "description": described, "priority": 0}
    assert whole["columnDefinitions"][0] == heading
    assert whole["rows"] == [
        {
            "cells": ["a", "5m"],
            "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1beta1", "metadata": OBJECT["metadata"]},
        }
    ]
    assert table(GENERIC, [OBJECT], listed, "Object", NOW)["rows"][0]["object"] == OBJECT
    assert table(GENERIC, [OBJECT], listed, "None", NOW)["rows"][0]["object"] is None
    assert table(GENERIC, [OBJECT], listed, "None", NOW, with_definitions=False)["columnDefinitions"] is None


def test_a_list_is_reduced_to_metadata() -> None:
    assert partial_metadata_list([OBJECT], {"resourceVersion": "7"}) == {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"resourceVersion": "7"},
        "items": [{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": OBJECT["metadata"]}],
    }


def test_the_older_form_of_an_autoscaler_shows_all_its_metrics() -> None:
    """autoscaling/v1 has a field for the processor alone; the table tells of the others as well, in their order."""
    memory = {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    body = {"metadata": {"name": "web"}, "spec": {"maxReplicas": 5, "scaleTargetRef": target, "metrics": [memory, cpu]}}

    async def main(t: Talk) -> None:
        newer, older = (GroupVersionResource("autoscaling", version, "horizontalpodautoscalers") for version in ("v2", "v1"))
        await t.do("create", newer, "default/", {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", **body})
        for where in ("default/", "default/web"):
            shown = await t.do(
                "get" if where.endswith("web") else "list", older, where, accept="application/json;as=Table;v=v1;g=meta.k8s.io"
            )
            assert shown["rows"][0]["cells"][1:5] == ["Deployment/web", "memory: <unknown>/100Mi, cpu: <unknown>/80%", "1", 5]

    talk(main)
