"""`/version`: the API is that of Kubernetes 1.37; the server is not Kubernetes' own, and says what it is for."""

from __future__ import annotations

from setpoint.api import Answer
from setpoint.cluster.server.encoding import encode

PURPOSE = "setpoint: an embedded API server for development, tests and small single-node use"

VERSION = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "gitVersion": "v1.37.2+setpoint",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": PURPOSE,
    "platform": "python",
}
"""Clients parse `gitVersion` as a semantic version; build metadata after the plus sign does not count when they compare."""


def version() -> Answer:
    """The answer of `/version`."""
    return Answer(status=200, body=encode(VERSION))
