"""Definitions and objects that were made up at random, and what a real kube-apiserver 1.37 was seen to answer to them.

`tests/differential/customs` makes them, compares, and shrinks what differs; what has been found so far is kept in `observed/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.differential.customs.hunt import CRDS, ask, definition_tells, first_difference, object_tells
from tests.differential.servers import EmbeddedServer

FOLDER = Path(__file__).parent / "observed"
DEFINITIONS = json.loads((FOLDER / "made_definitions.json").read_text())
OBJECTS = json.loads((FOLDER / "made_objects.json").read_text())


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    embedded = EmbeddedServer()
    yield embedded
    embedded.close()


def test_a_made_up_definition_is_answered_as_by_the_real_server(server: EmbeddedServer) -> None:
    found = [
        (case["crd"], difference)
        for case in DEFINITIONS
        if (difference := first_difference(case["told"], definition_tells(server, case["crd"]))) is not None
    ]
    assert not found, found[0]


@pytest.mark.parametrize("case", OBJECTS, ids=lambda case: case["crd"]["metadata"]["name"])
def test_an_object_of_a_made_up_definition_is_answered_as_by_the_real_server(server: EmbeddedServer, case: dict[str, Any]) -> None:
    assert ask(server, "POST", CRDS, case["crd"]).status == 201
    for request in case["requests"]:
        told = object_tells(server, request["method"], request["target"], request["text"], request["type"])
        if request["told"] is None:
            assert told["status"] == 201
        else:
            assert first_difference(request["told"], told) is None, request["text"]
