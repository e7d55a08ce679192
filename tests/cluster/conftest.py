"""A fresh cluster for each test, and kinds of our own to own and be owned."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from setpoint.testing import Cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster
