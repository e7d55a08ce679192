"""Errors of the client: the API's own, two more that only a client knows, and what to do about each.

All are `ApiError`s and none needs handling in a reconciler: raising is backoff. The text of an error says what was asked, of which object,
what the server answered, and what to do about it.
"""

from __future__ import annotations

from setpoint.api import Answer, ApiError, Operation, Status
from setpoint.api.status import (
    AlreadyExists,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    Invalid,
    MethodNotSupported,
    NotAcceptable,
    NotFound,
    OutcomeUnknown,
    RequestEntityTooLarge,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unauthorized,
    Unreachable,
    UnsupportedMediaType,
    error_in,
)


class NotServed(NotFound):
    """404 for a whole kind: the server has no such kind, which says nothing about whether an object exists."""


class NotLeading(ApiError):
    """A write that was held back: this process may not write now. Nothing was sent."""


class OwnerRefused(ValueError):
    """An owner that Kubernetes would not accept, or that the object must not have."""


def answered(answer: Answer, operation: Operation) -> ApiError:
    """The error that a failed answer stands for, with a remedy where one can be named."""
    error = error_in(answer, operation)
    if _is_of_the_kind(error):
        error = NotServed(error.status, operation)
    error.remedy = remedy(error, operation) or error.remedy
    return error


def unreachable(reason: str, operation: Operation) -> ApiError:
    """The request was not sent, or was a read that got no answer: nothing happened. The transport's reason names the remedy."""
    error = Unreachable(Status(message=reason), operation)
    error.remedy = ""
    return error


def outcome_unknown(reason: str, operation: Operation) -> ApiError:
    """A write was sent and got no answer."""
    return OutcomeUnknown(Status(message=reason), operation)


def unreadable(error: Exception, operation: Operation) -> ApiError:
    """The server answered yes with a document that is not what was asked for: a page of a proxy, say, or one that was cut short."""
    reason = f"the answer cannot be read: {error}; does a proxy or a login page stand before the server?"
    return outcome_unknown(reason, operation) if operation.is_write else unreachable(reason, operation)


def not_leading(reason: str, operation: Operation) -> ApiError:
    """A write that the fence held back."""
    return NotLeading(Status(message=f"not sent: {reason}"), operation)


def _is_of_the_kind(error: ApiError) -> bool:
    """An unknown path is answered by a page that is no Status; an unknown subresource by one that names no object."""
    if not isinstance(error, NotFound) or error.operation is None or error.operation.resource is None:
        return False
    details = error.status.details
    return details is None or not (details.name or details.kind)


def remedy(error: ApiError, operation: Operation) -> str:
    """What to do about an error, or nothing where the server's sentence says it all."""
    resource = operation.resource
    if isinstance(error, NotServed) and resource is not None:
        if operation.subresource:
            return f"does {resource.group_resource} have the subresource {operation.subresource!r}?"
        where = f"{resource.resource} in {resource.api_version}"
        return f"the server does not serve {where}: is its CustomResourceDefinition applied? See `setpoint crd` and `kubectl api-resources`"
    if isinstance(error, NotFound) and error.status.details is not None and error.status.details.kind == "namespaces":
        return "create the namespace first"
    if isinstance(error, Forbidden) and resource is not None and _is_by_rbac(error):
        what = f"{resource.resource}/{operation.subresource}" if operation.subresource else resource.resource
        where = f"in namespace {operation.namespace!r}" if operation.namespace else "in the whole cluster"
        return f"allow the verb {operation.verb!r} on resource {what!r} of API group {resource.group!r} {where}"
    if isinstance(error, Invalid):
        if "Only one reference can have Controller set to true" in error.message:
            return "another owner controls it already: let one controller own it, or apply it without owner="
        unsaid = [f"{cause.field}: {cause.message}" for cause in error.causes if cause.field not in error.message]
        return "; ".join(unsaid)
    if isinstance(error, BadRequest) and "HTTP request to an HTTPS server" in error.message:
        return "should the server in the kubeconfig begin with https://?"
    if isinstance(error, Conflict) and operation.content_type.startswith("application/apply-patch"):
        return "another field manager owns these fields: stop stating them, or apply with force=True"
    return ""


def _is_by_rbac(error: ApiError) -> bool:
    """Admission refuses by 403 as well, and no role helps against that."""
    return " cannot " in error.message


__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "InternalError",
    "Invalid",
    "MethodNotSupported",
    "NotAcceptable",
    "NotFound",
    "NotLeading",
    "NotServed",
    "OutcomeUnknown",
    "OwnerRefused",
    "RequestEntityTooLarge",
    "ServiceUnavailable",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "Unreachable",
    "UnsupportedMediaType",
]
