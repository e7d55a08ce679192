"""Where objects are kept: current values, and the history of how they came to be.

There is one revision for everything in a server. Each write makes the next one and adds one `Change` to the history, which is only ever
appended to, and shortened at its old end by compaction. From the history watches are replayed, and lists are read as they were at an older
revision. Values are bytes; next to them lies a small `Head` with what selectors look at, so that a list decodes nothing.

`Storage` (in `interface`) is the narrow door. `MemoryStorage` keeps everything in memory and nowhere else. `SqliteStorage` keeps it in
memory too, and writes it behind the requests to the `database` of a data folder: it reads as fast, and no answer or event leaves the server
before what it tells is on the disk. `snapshot` puts all that a storage holds into one file, and back. What they are about is in `records`.
"""

from setpoint.cluster.server.storage.interface import Storage
from setpoint.cluster.server.storage.memory import MemoryStorage
from setpoint.cluster.server.storage.records import Change, Compacted, Contents, DataFault, Head, Moved, NotDurable, Page, Record
from setpoint.cluster.server.storage.snapshot import load_snapshot, save_snapshot
from setpoint.cluster.server.storage.sqlite import SqliteStorage, data_folder

__all__ = [
    "Change",
    "Compacted",
    "Contents",
    "DataFault",
    "Head",
    "MemoryStorage",
    "Moved",
    "NotDurable",
    "Page",
    "Record",
    "SqliteStorage",
    "Storage",
    "data_folder",
    "load_snapshot",
    "save_snapshot",
]
