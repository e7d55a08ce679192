"""The embedded API server.

`ApiServer(world).handle(operation, identity)` is all of it; HTTP is a thin face put before it. Inside: `options` read what is asked,
`registry` has the verbs, `write` and `deletion` decide what becomes of an object, `storage` keeps it with the history of everything,
`watch` tells who watches, `kinds` says what is served, and `custom` follows the definitions of custom resources.
"""

from setpoint.cluster.server.events import Served
from setpoint.cluster.server.server import ApiServer
from setpoint.cluster.server.storage import MemoryStorage, Storage

__all__ = ["ApiServer", "MemoryStorage", "Served", "Storage"]
