"""The clusters of these tests: `cluster` is the embedded and a real one in turn, `embedded` the embedded one alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from .planes import Embedded, Real

_EMBEDDED, _REAL = "embedded", pytest.param("real", marks=pytest.mark.envtest)


@pytest.fixture
def embedded() -> Iterator[Embedded]:
    """A fresh embedded cluster, in simulated time."""
    with Embedded() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def namespace_numbers() -> Iterator[int]:
    return itertools.count(1)


@pytest.fixture(params=[_EMBEDDED, _REAL])
def cluster(request: pytest.FixtureRequest) -> Iterator[Embedded | Real]:
    """The same on the embedded cluster and on a real kube-apiserver, there in a namespace of its own."""
    if request.param == _EMBEDDED:
        yield request.getfixturevalue("embedded")
        return
    kubeconfig: Path = request.getfixturevalue("control_plane")
    with closing(Real(kubeconfig, f"pains-{next(request.getfixturevalue('namespace_numbers'))}")) as real:
        yield real
