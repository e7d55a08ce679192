"""What is said between a client and an API server.

A client says an `Operation`; a `Transport` carries it; what comes of it is an `Answer`, a `Stream`, `NotSent` or `Unknown`. A failed answer
carries a `Status`, which stands for an `ApiError`. Paths, selectors, patches and watch frames are the rest of the language. Nothing here
reads or writes anything, and nothing knows about kinds.
"""

from setpoint.api.duplex import Connected, Connects, Duplex
from setpoint.api.names import GroupVersionKind, GroupVersionResource
from setpoint.api.operation import (
    ADMIN,
    Answer,
    Identity,
    NotSent,
    Operation,
    Outcome,
    ServedStream,
    Stream,
    StreamBroken,
    Transport,
    Unknown,
    Verb,
)
from setpoint.api.patch import merge_patch
from setpoint.api.selectors import LabelSelector, SelectorError, parse_fields
from setpoint.api.status import ApiError, Status, StatusCause, StatusDetails

__all__ = [
    "ADMIN",
    "Answer",
    "ApiError",
    "Connected",
    "Connects",
    "Duplex",
    "GroupVersionKind",
    "GroupVersionResource",
    "Identity",
    "LabelSelector",
    "NotSent",
    "Operation",
    "Outcome",
    "SelectorError",
    "ServedStream",
    "Status",
    "StatusCause",
    "StatusDetails",
    "Stream",
    "StreamBroken",
    "Transport",
    "Unknown",
    "Verb",
    "merge_patch",
    "parse_fields",
]
