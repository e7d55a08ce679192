"""What the server's refusals mean to these controllers."""

from __future__ import annotations

from setpoint.client.errors import ApiError


def namespace_is_terminating(error: ApiError) -> bool:
    """Whether an object was refused because its namespace is being deleted: nothing is to be done any more there."""
    return any(cause.reason == "NamespaceTerminating" for cause in error.causes)
