"""The embedded API server.

`ApiServer(world).handle(operation, identity)` is all of it; HTTP is a thin face put before it. Inside: `options` read what is asked,
`registry` has the verbs, `write` and `deletion` decide what becomes of an object and `reading` which ones are asked for, `storage` keeps
them with the history of everything, `watch` tells who watches, `views` show objects as the client wants them. `kinds` says what is served:
`builtins` from the start, and `custom` from definitions as they come and go. `schema`, `structured` and `builtin` are rooms of their own.
"""

from setpoint.cluster.server.events import Served
from setpoint.cluster.server.server import ApiServer
from setpoint.cluster.server.storage import MemoryStorage, Storage

__all__ = ["ApiServer", "MemoryStorage", "Served", "Storage"]
