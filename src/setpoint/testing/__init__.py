"""Clusters for tests: `Cluster` is a control plane with plain calls, in simulated time."""

from setpoint.testing.cluster import Cluster, NotSettled

__all__ = ["Cluster", "NotSettled"]
