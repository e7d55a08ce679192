"""How state is read and written.

A `Transport` carries an operation to a server: `HttpTransport` over the network, as a `Config` from a kubeconfig says, `InProcessTransport`
to a server in the same program. A `Connection` makes answers or typed errors of what comes back. A `Client` puts typed verbs on top, with
siblings on bytes (`get_raw`, `apply_raw`, ...) for those who keep bytes. `errors` holds every error that a verb can raise.
"""

from setpoint.client import errors, verbs
from setpoint.client.client import BaseLookup, Client
from setpoint.client.connection import Connection
from setpoint.client.discovery import Discovery
from setpoint.client.events import RequestDone, RequestSent
from setpoint.client.in_process import InProcessTransport
from setpoint.client.manifest import Apply
from setpoint.client.raw import RawVerbs

__all__ = [
    "Apply",
    "BaseLookup",
    "Client",
    "Connection",
    "Discovery",
    "InProcessTransport",
    "RawVerbs",
    "RequestDone",
    "RequestSent",
    "errors",
    "verbs",
]
