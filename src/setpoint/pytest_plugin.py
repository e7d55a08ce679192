"""The pytest plugin `setpoint`. Nothing is used unless a test asks for it, and nothing heavy is imported until then.

Fixtures: `setpoint_cluster`, a fresh `setpoint.testing.Cluster` for each test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from setpoint.testing import Cluster


@pytest.fixture
def setpoint_cluster() -> Iterator[Cluster]:
    """A fresh embedded cluster in simulated time, with plain calls; no event-loop plugin is needed."""
    from setpoint.testing import Cluster

    with Cluster() as cluster:
        yield cluster
