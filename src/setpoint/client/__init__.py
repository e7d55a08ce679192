"""How state is read and written.

A `Transport` carries an operation to a server: `HttpTransport` over the network, as a `Config` says, which comes from a kubeconfig or from
the pod; `InProcessTransport` to a server in the same program. A `Connection` makes answers or typed errors of what comes back. A `Client`
puts typed verbs on top, with siblings on bytes (`get_raw`, `apply_raw`, ...) for those who keep bytes; `preparing` makes of an object what
is sent. `errors` holds every error that a verb can raise.

`connect` puts all of that together for programs that are no controllers; `SyncClient` has the same verbs, blocking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setpoint.client import errors, verbs
from setpoint.client.client import Client
from setpoint.client.connection import Connection
from setpoint.client.discovery import Discovery
from setpoint.client.events import RequestDone, RequestRepeated, RequestSent
from setpoint.client.in_process import InProcessTransport
from setpoint.client.manifest import Apply
from setpoint.client.preparing import BaseLookup
from setpoint.client.raw import RawVerbs
from setpoint.client.sync import SyncClient

if TYPE_CHECKING:
    from setpoint.client.config import Config, ConfigError, ExecPlugin, has_default_config, load_config
    from setpoint.client.connecting import Connecting, connect
    from setpoint.client.http import HttpTransport
    from setpoint.client.in_cluster import in_cluster_config, in_pod

_LOADED_WHEN_ASKED_FOR = {
    "Config": "setpoint.client.config",
    "ConfigError": "setpoint.client.config",
    "Connecting": "setpoint.client.connecting",
    "ExecPlugin": "setpoint.client.config",
    "HttpTransport": "setpoint.client.http",
    "connect": "setpoint.client.connecting",
    "has_default_config": "setpoint.client.config",
    "in_cluster_config": "setpoint.client.in_cluster",
    "in_pod": "setpoint.client.in_cluster",
    "load_config": "setpoint.client.config",
}
"""An HTTP client and a YAML parser take as long to load as all the rest; who talks to a server in the same process needs neither."""


def __getattr__(name: str) -> Any:
    if name not in _LOADED_WHEN_ASKED_FOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LOADED_WHEN_ASKED_FOR[name]), name)


__all__ = [
    "Apply",
    "BaseLookup",
    "Client",
    "Config",
    "ConfigError",
    "Connecting",
    "Connection",
    "Discovery",
    "ExecPlugin",
    "HttpTransport",
    "InProcessTransport",
    "RawVerbs",
    "RequestDone",
    "RequestRepeated",
    "RequestSent",
    "SyncClient",
    "connect",
    "errors",
    "has_default_config",
    "in_cluster_config",
    "in_pod",
    "load_config",
    "verbs",
]
