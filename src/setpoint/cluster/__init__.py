"""The embedded control plane: an API server, and the controllers that a cluster needs to feel alive.

`server/` answers; `controllers/` are ordinary Setpoint controllers (garbage collection, emptying of namespaces, simulated workloads) that
talk to it like anybody else. This is the one door: start a `ControlPlane`, ask it for a transport.

Everything is in memory, unless it is given a storage: `data_folder` opens one that keeps it in a folder.

It is for development, tests and small single-node use. Beyond that, the same controllers run on a real cluster, unchanged.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.cluster.control_plane import ControlPlane
from setpoint.cluster.server.storage import DataFault, MemoryStorage, data_folder, load_snapshot, save_snapshot

__all__ = ["ControlPlane", "DataFault", "MemoryStorage", "data_folder", "load_snapshot", "save_snapshot"]


def __getattr__(name: str) -> object:
    # Imported when first asked for: the server alone, which lies below this package, needs neither controllers nor clients.
    if name == "ControlPlane":
        from setpoint.cluster.control_plane import ControlPlane

        return ControlPlane
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
