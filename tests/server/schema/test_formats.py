from __future__ import annotations

import json
from pathlib import Path

import pytest

from setpoint.cluster.server.schema.formats import has_format, known_format

OBSERVED = json.loads((Path(__file__).parent.parent / "observed" / "formats.json").read_text())


@pytest.mark.parametrize(("text", "refused"), OBSERVED["refused"])
def test_a_string_has_the_formats_that_the_real_server_says(text: str, refused: list[str]) -> None:
    assert [name for name in OBSERVED["formats"] if not has_format(text, name)] == refused


def test_a_format_counts_only_for_the_type_that_it_is_of() -> None:
    assert known_format(("string",), "date-time") == "date-time"
    assert known_format(("integer",), "int32") == "int32"
    assert known_format(("number",), "double") == "double"
    assert known_format((), "ipv4") == "ipv4"
    assert known_format(("string",), "int32") == ""
    assert known_format(("integer",), "date") == ""
    assert known_format(("integer", "string"), "ipv4") == ""
    assert known_format(("string",), "quantity") == ""
