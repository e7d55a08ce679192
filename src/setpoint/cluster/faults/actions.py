"""What can happen to a request that a rule hits."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from setpoint.api import Answer, Operation
from setpoint.api.status import StatusDetails, conflict, expired, failure

CODES = {
    409: "Conflict",
    410: "Expired",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""The errors that a server may answer without a mistake of the client's, with their reasons."""
_MESSAGES = {
    429: "the server has received too many requests and has asked us to try again later",
    500: "Internal error occurred: etcdserver: request timed out",
    503: "the server is currently unable to handle the request",
    504: "Timeout: request did not complete within requested timeout - context deadline exceeded",
}


class Refuse(msgspec.Struct, frozen=True):
    """An error instead of an answer. `retry_after` are the whole seconds that the client is asked to wait.

    Nothing happens, unless `landed`: then what was asked is done first. A watch that is refused 410 begins, and ends with an event that
    says so, as the real server has it. Raises `ValueError` for a code that is not in `CODES`.
    """

    code: int
    retry_after: int = 0
    landed: bool = False

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"a request may be refused with {', '.join(map(str, CODES))}, and not with {self.code}")
        if self.retry_after < 0:
            raise ValueError("retry_after is a number of seconds from 0 on")

    def answer(self, operation: Operation) -> Answer:
        """The answer to this operation."""
        resource = operation.resource
        if self.code == 409 and resource is not None:
            why = "the object has been modified; please apply your changes to the latest version and try again"
            error = conflict(resource, operation.name, why)
        elif self.code == 410:
            error = expired(f"The resourceVersion for the provided {'list' if operation.verb == 'list' else 'watch'} is too old.")
        else:
            message = _MESSAGES.get(self.code, "the request could not be completed")
            error = failure(self.code, CODES[self.code], message, StatusDetails(retry_after_seconds=self.retry_after))
        return error.status.answer()


class Drop(msgspec.Struct, frozen=True):
    """The connection ends without an answer, and the client cannot know what has happened: all of it, unless `before`."""

    before: bool = False


class Delay(msgspec.Struct, frozen=True):
    """The request takes so many seconds longer: before the server sees it, or with `landed`, after it is done. Raises `ValueError`."""

    seconds: float
    landed: bool = False

    def __post_init__(self) -> None:
        _check_seconds(self.seconds)


class Late(msgspec.Struct, frozen=True):
    """Each event of a watch comes so many seconds late, in order. Raises `ValueError`."""

    seconds: float

    def __post_init__(self) -> None:
        _check_seconds(self.seconds)


class Cut(msgspec.Struct, frozen=True):
    """A watch breaks off, after so many events or so many seconds, whichever comes first; else at once. With `cleanly`, the server ends it.

    Raises `ValueError`.
    """

    events: int | None = None
    seconds: float | None = None
    cleanly: bool = False

    def __post_init__(self) -> None:
        if self.seconds is not None:
            _check_seconds(self.seconds)
        if self.events is not None and self.events < 0:
            raise ValueError("events is a number from 0 on")


class Stale(msgspec.Struct, frozen=True):
    """A list or get shows how things were so many revisions ago, as far back as the history goes.

    Only who asks for any state that there is (`resourceVersion=0`) is shown such a one, unless `always`: no sound server does that, but a
    server behind a cache may. Raises `ValueError`.
    """

    behind: int = 1
    always: bool = False

    def __post_init__(self) -> None:
        if self.behind < 1:
            raise ValueError("behind is a number of revisions from 1 on")


Action: TypeAlias = Refuse | Drop | Delay | Late | Cut | Stale


def _check_seconds(seconds: float) -> None:
    if not 0 <= seconds < float("inf"):
        raise ValueError("seconds is a number from 0 on")
