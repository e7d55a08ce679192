"""The embedded API server.

`ApiServer(world).handle(operation, identity)` is all of it. Inside: `options` and `bodies` read what is asked and sent, `registry` has the
verbs, `write` and `deletion` decide what becomes of an object and `reading` which ones are asked for, `watch` tells who watches, `views`
show objects as the client wants them. `kinds` says what is served, and what is special about it.

The rooms, each with a story of its own: `http` is the thin face put before the server, `about` what it says of itself on paths that are no
resources. `builtin` has the kinds that are served from the start, `crd` those that definitions bring. `schema` prunes, completes and judges
what is sent, `patches` change what is there, `structured` keeps who owns which field. `storage` keeps everything with its history. `tables`
and `protobuf` are other forms of the same objects.
"""

from setpoint.cluster.server.events import Served
from setpoint.cluster.server.server import ApiServer
from setpoint.cluster.server.storage import MemoryStorage, Storage

__all__ = ["ApiServer", "MemoryStorage", "Served", "Storage"]
