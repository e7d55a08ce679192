"""What the client tells the observer: each request as it leaves, and what came of it."""

from __future__ import annotations

from setpoint.api import Answer, Duplex, NotSent, Operation, Outcome, Unknown
from setpoint.world import Event


class RequestSent(Event, frozen=True, kw_only=True):
    """A request is handed to the transport, after it had to wait `waited` seconds for its turn, since there are only so many in flight.

    Each try of a repeated request is one of its own.
    """

    operation: Operation
    waited: float = 0.0


class RequestRepeated(Event, frozen=True, kw_only=True):
    """A request is about to be sent again, since its last try was answered with `code`, or not at all (`<error>`)."""

    operation: Operation
    code: str


class RequestDone(Event, frozen=True, kw_only=True):
    """What came of a request, `seconds` after it was handed over.

    `code` is the HTTP status as text, or `<error>` where no answer came: the label that Go clients give `rest_client_requests_total`.
    """

    operation: Operation
    outcome: Outcome | Duplex
    seconds: float
    code: str


def code_of(outcome: Outcome | Duplex) -> str:
    """The `code` label of an outcome."""
    if isinstance(outcome, Answer):
        return str(outcome.status)
    return "<error>" if isinstance(outcome, NotSent | Unknown) else "200"
