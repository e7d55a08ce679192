"""The embedded server answers recorded sequences as the real one has: one for each difference that was found, and one for each kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from .golden import Golden, broad, found, replay
from .machine import define
from .servers import EmbeddedServer

_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def ours() -> Iterator[EmbeddedServer]:
    """An embedded server that serves the custom kinds."""
    server = EmbeddedServer()
    define(server)
    yield server
    server.close()


@pytest.mark.parametrize("golden", [*found(), *broad()], ids=lambda golden: golden.name)
def test_a_recorded_sequence_is_answered_as_by_the_real_server(golden: Golden, ours: EmbeddedServer) -> None:
    different = list(replay(golden, ours, f"d0000000-{next(_numbers):06d}"))
    assert not different, "\n".join(f"after {each.step}\n    {each}" for each in different[:5])
