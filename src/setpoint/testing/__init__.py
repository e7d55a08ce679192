"""Clusters for tests.

`Cluster` is a control plane with plain calls, in simulated time; `Server` is one behind HTTPS, in real time, for kubectl and the like.
"""

from typing import TYPE_CHECKING

from setpoint.testing.cluster import Cluster, NotSettled

if TYPE_CHECKING:
    from setpoint.testing.server import Server

__all__ = ["Cluster", "NotSettled", "Server"]


def __getattr__(name: str) -> object:
    if name == "Server":  # which brings HTTP and TLS, that simulations do without
        from setpoint.testing.server import Server

        return Server
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
