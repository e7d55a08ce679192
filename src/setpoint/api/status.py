"""The API's `Status` objects and the errors that they stand for.

One hierarchy serves both sides: the server raises `not_found(...)`, the answer carries its `Status`, and the client raises the same class
again, now knowing which operation was answered so. Reasons and messages are those of kube-apiserver, because clients branch on them.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from setpoint.api.names import GroupVersionResource
from setpoint.api.operation import Answer, Operation


class StatusCause(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason among several, such as one invalid field."""

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(msgspec.Struct, omit_defaults=True, rename="camel"):
    """What the error is about. `kind` is the plural resource, but the Kind where the object is invalid."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: list[StatusCause] = []
    retry_after_seconds: int = 0


class Status(msgspec.Struct, omit_defaults=True, rename="camel"):
    """`kind: Status`, as every error (and a finished delete) is answered."""

    status: str = "Failure"
    message: str = ""
    reason: str = ""
    details: StatusDetails | None = None
    code: int = 0
    metadata: dict[str, str | int] = {}

    def encode(self) -> bytes:
        """The wire form, field order as the real server has it."""
        body: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata, "status": self.status}
        if self.message:
            body["message"] = self.message
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        if self.code:
            body["code"] = self.code
        return msgspec.json.encode(body)

    def answer(self, warnings: tuple[str, ...] = ()) -> Answer:
        """The answer that carries this status."""
        headers = {}
        if self.details is not None and self.details.retry_after_seconds:
            headers["retry-after"] = str(self.details.retry_after_seconds)
        return Answer(status=self.code, body=self.encode(), headers=headers, warnings=warnings)


class ApiError(Exception):
    """The server answered no, or no answer came.

    `status` is what the server said. `operation` is what was asked, where it is known. The text says both, and what to do about it where
    that can be said.
    """

    remedy: str = ""
    """What to do about it; whoever raises the error may know more than its class does."""

    def __init__(self, status: Status, operation: Operation | None = None) -> None:
        super().__init__(status, operation)
        self.status = status
        self.operation = operation

    @property
    def reason(self) -> str:
        """The machine-readable reason, such as `NotFound`."""
        return self.status.reason

    @property
    def code(self) -> int:
        """The HTTP status code; 0 where no answer came."""
        return self.status.code

    @property
    def message(self) -> str:
        """The server's sentence."""
        return self.status.message or f"the server answered {self.status.code}"

    @property
    def causes(self) -> Sequence[StatusCause]:
        """The single causes, such as each invalid field."""
        return self.status.details.causes if self.status.details else ()

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server asks to wait, if it does."""
        seconds = self.status.details.retry_after_seconds if self.status.details else 0
        return float(seconds) if seconds else None

    def __str__(self) -> str:
        text = f"{self.operation}: {self.message}" if self.operation is not None else self.message
        return f"{text} ({self.remedy})" if self.remedy else text


class BadRequest(ApiError):
    """400: the request itself makes no sense to the server."""


class Unauthorized(ApiError):
    """401: the server does not know who asks."""

    remedy = "check the credentials in the kubeconfig: they may have expired"


class Forbidden(ApiError):
    """403: the server knows who asks and refuses."""


class NotFound(ApiError):
    """404: no such object, or no such kind."""


class MethodNotSupported(ApiError):
    """405: the kind does not have this verb."""


class NotAcceptable(ApiError):
    """406: no form of the answer that the client accepts."""


class AlreadyExists(ApiError):
    """409 on create: an object of that name is there."""


class Conflict(ApiError):
    """409: the object has changed since it was read, a precondition failed, or another field manager owns a field."""


class Expired(ApiError):
    """410: the resourceVersion or continue token is older than what the server remembers."""


class RequestEntityTooLarge(ApiError):
    """413: the body is larger than the server takes."""


class UnsupportedMediaType(ApiError):
    """415: the server does not read this content type."""


class Invalid(ApiError):
    """422: the object breaks its schema; `causes` names each field."""


class TooManyRequests(ApiError):
    """429: the server is overloaded; `retry_after` says how long to wait."""


class InternalError(ApiError):
    """500: the server failed."""


class ServiceUnavailable(ApiError):
    """503: the server is not there yet, or no longer."""


class Timeout(ApiError):
    """504: the server could not do it in time."""


class Unreachable(ApiError):
    """The request was never sent: nothing happened."""

    remedy = "is the API server running, and is the address in the kubeconfig right?"


class OutcomeUnknown(ApiError):
    """The request was sent and no answer came: it may have happened. Raising it is enough: the next run reads what is."""


_BY_REASON: dict[str, type[ApiError]] = {
    "BadRequest": BadRequest,
    "Unauthorized": Unauthorized,
    "Forbidden": Forbidden,
    "NotFound": NotFound,
    "MethodNotAllowed": MethodNotSupported,
    "NotAcceptable": NotAcceptable,
    "AlreadyExists": AlreadyExists,
    "Conflict": Conflict,
    "Expired": Expired,
    "Gone": Expired,
    "RequestEntityTooLarge": RequestEntityTooLarge,
    "UnsupportedMediaType": UnsupportedMediaType,
    "Invalid": Invalid,
    "TooManyRequests": TooManyRequests,
    "InternalError": InternalError,
    "ServerTimeout": Timeout,
    "Timeout": Timeout,
    "ServiceUnavailable": ServiceUnavailable,
}
_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    405: MethodNotSupported,
    406: NotAcceptable,
    409: Conflict,
    410: Expired,
    413: RequestEntityTooLarge,
    415: UnsupportedMediaType,
    422: Invalid,
    429: TooManyRequests,
    500: InternalError,
    503: ServiceUnavailable,
    504: Timeout,
}


def error_of(status: Status, operation: Operation | None = None) -> ApiError:
    """The error that a failed status stands for: by reason first, by code where the reason is unknown, as Kubernetes clients do."""
    return _BY_REASON.get(status.reason, _BY_CODE.get(status.code, ApiError))(status, operation)


def error_in(answer: Answer, operation: Operation | None = None) -> ApiError:
    """The error that a failed answer stands for; a body that is no `Status` (a proxy's page, say) becomes its message."""
    try:
        status = msgspec.json.decode(answer.body, type=Status, strict=False)
    except msgspec.DecodeError:
        status = Status(message=answer.body[:500].decode(errors="replace").strip())
    status.code = status.code or answer.status
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit() and len(after) < 10:  # a number of seconds that could be meant
        details = status.details or StatusDetails()
        details.retry_after_seconds = details.retry_after_seconds or int(after)
        status.details = details
    return error_of(status, operation)


def failure(code: int, reason: str, message: str, details: StatusDetails | None = None) -> ApiError:
    """An error made from its parts."""
    return error_of(Status(code=code, reason=reason, message=message, details=details))


def _about(resource: GroupVersionResource, name: str) -> StatusDetails:
    return StatusDetails(name=name, group=resource.group, kind=resource.resource)


def not_found(resource: GroupVersionResource, name: str) -> ApiError:
    """404 as the real server says it: `widgets.example.com "w1" not found`."""
    return failure(404, "NotFound", f'{resource.group_resource} "{name}" not found', _about(resource, name))


def already_exists(resource: GroupVersionResource, name: str, *, terminating: bool = False) -> ApiError:
    """409 on create."""
    prefix = "object is being deleted: " if terminating else ""
    return failure(409, "AlreadyExists", f'{prefix}{resource.group_resource} "{name}" already exists', _about(resource, name))


def conflict(resource: GroupVersionResource, name: str, why: str) -> ApiError:
    """409 on a write."""
    return failure(409, "Conflict", f'Operation cannot be fulfilled on {resource.group_resource} "{name}": {why}', _about(resource, name))


def modified(resource: GroupVersionResource, name: str) -> ApiError:
    """409 because the object's resourceVersion has moved on."""
    return conflict(resource, name, "the object has been modified; please apply your changes to the latest version and try again")


def bad_request(message: str) -> ApiError:
    """400."""
    return failure(400, "BadRequest", message)


def forbidden(resource: GroupVersionResource, name: str, why: str, causes: Sequence[StatusCause] = ()) -> ApiError:
    """403: `pods "x" is forbidden: why`."""
    details = _about(resource, name)
    details.causes = list(causes)
    subject = f'{resource.group_resource} "{name}"' if name else resource.group_resource
    return failure(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def invalid(group: str, kind: str, name: str, causes: Sequence[StatusCause]) -> ApiError:
    """422 with every field that is wrong; `causes` carry the error text without the field in front."""
    texts = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    text = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    qualified = f"{kind}.{group}" if group else kind
    details = StatusDetails(name=name, group=group, kind=kind, causes=list(causes))
    return failure(422, "Invalid", f'{qualified} "{name}" is invalid: {text}', details)


def expired(message: str) -> ApiError:
    """410."""
    return failure(410, "Expired", message)


def not_supported_here(what: str) -> ApiError:
    """501 for what the embedded server does not do yet: it says so instead of accepting in silence."""
    return failure(501, "NotImplemented", f"{what} is not supported by the embedded server yet")
