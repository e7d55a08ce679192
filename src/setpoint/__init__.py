"""Setpoint: level-based controllers on the Kubernetes API.

Declare a kind (`@kind` on a `Resource`), declare a `Controller` of it, and write its reconciler: it gets a `Context` and a `Request`, which
is a namespace and a name and nothing else; it reads what is, compares it with what is wanted, and acts on the difference.

`setpoint.k8s` holds the built-in kinds, `setpoint.testing` a cluster for tests, `setpoint.predicates` the usual predicates.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.api.status import (
        AlreadyExists,
        ApiError,
        Conflict,
        Expired,
        Forbidden,
        Invalid,
        NotFound,
        OutcomeUnknown,
        TooManyRequests,
        Unreachable,
    )
    from setpoint.client import Client, SyncClient, connect
    from setpoint.controller import (
        Backoff,
        Bearer,
        Bucket,
        Context,
        Controller,
        Cron,
        Every,
        Feed,
        MaxOf,
        Owns,
        Predicate,
        PruneRefused,
        RateLimiter,
        Reader,
        Result,
        Signature,
        SyncContext,
        TerminalError,
        mappers,
        predicates,
    )
    from setpoint.manager import App, Manager
    from setpoint.objects import (
        OMIT,
        UNSET,
        Column,
        Condition,
        DecodeError,
        Duration,
        Field,
        Index,
        IndexKey,
        Object,
        ObjectMeta,
        OwnerReference,
        Quantity,
        Request,
        Resource,
        Rule,
        Scale,
        Scheme,
        Struct,
        UnsetType,
        Untyped,
        absent,
        crd,
        field,
        kind,
    )

__version__ = "0.1.0"

_ROOMS = {
    "setpoint.api.status": (
        *("AlreadyExists", "ApiError", "Conflict", "Expired", "Forbidden", "Invalid", "NotFound", "OutcomeUnknown", "TooManyRequests"),
        "Unreachable",
    ),
    "setpoint.client": ("Client", "SyncClient", "connect"),
    "setpoint.controller": (
        *("Backoff", "Bucket", "MaxOf", "RateLimiter"),
        *("Bearer", "Context", "Controller", "Cron", "Every", "Feed", "Owns", "Predicate", "PruneRefused", "Reader", "Result"),
        *("Signature", "SyncContext", "TerminalError", "mappers", "predicates"),
    ),
    "setpoint.manager": ("App", "Manager"),
    "setpoint.objects": (
        *("OMIT", "UNSET", "Column", "Condition", "DecodeError", "Duration", "Field", "Index", "IndexKey", "Object", "ObjectMeta"),
        "OwnerReference",
        *("Quantity", "Request", "Resource", "Rule", "Scale", "Scheme", "Struct", "UnsetType", "Untyped", "absent", "crd", "field", "kind"),
    ),
}
# Names are imported when they are first used, so that a program pays for what it uses: declaring a kind needs no HTTP client.
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    room = _HOME.get(name)
    if room is None:
        raise AttributeError(f"module 'setpoint' has no attribute {name!r}")
    value = getattr(import_module(room), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])


__all__ = [
    "OMIT",
    "UNSET",
    "AlreadyExists",
    "ApiError",
    "App",
    "Backoff",
    "Bearer",
    "Bucket",
    "Client",
    "Column",
    "Condition",
    "Conflict",
    "Context",
    "Controller",
    "Cron",
    "DecodeError",
    "Duration",
    "Every",
    "Expired",
    "Feed",
    "Field",
    "Forbidden",
    "Index",
    "IndexKey",
    "Invalid",
    "Manager",
    "MaxOf",
    "NotFound",
    "Object",
    "ObjectMeta",
    "OutcomeUnknown",
    "OwnerReference",
    "Owns",
    "Predicate",
    "PruneRefused",
    "Quantity",
    "RateLimiter",
    "Reader",
    "Request",
    "Resource",
    "Result",
    "Rule",
    "Scale",
    "Scheme",
    "Signature",
    "Struct",
    "SyncClient",
    "SyncContext",
    "TerminalError",
    "TooManyRequests",
    "Unreachable",
    "UnsetType",
    "Untyped",
    "absent",
    "connect",
    "crd",
    "field",
    "kind",
    "mappers",
    "predicates",
]
