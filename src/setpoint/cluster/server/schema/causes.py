"""The words in which the API server refuses a value: one constructor for each sort of field error.

Kubernetes prints a refused value as Go would, so that clients that show `details.causes` (kubectl does) look the same on every server.
Each function returns one `StatusCause`; `field` is a path such as `spec.items[0].name`.
"""

from __future__ import annotations

from collections.abc import Iterable

from setpoint.api.status import StatusCause
from setpoint.cluster.server.schema.gotext import go_value, quote

FieldError = StatusCause
"""What validation returns: a reason (`FieldValueInvalid`, ...), a message without the field, and the field's path."""


def invalid(field: str, value: object, detail: str) -> FieldError:
    """The value is of the right type, but breaks a rule."""
    return FieldError("FieldValueInvalid", f"Invalid value: {go_value(value)}: {detail}", field)


def type_invalid(field: str, value: object, detail: str) -> FieldError:
    """The value is of another type or format than the schema says."""
    return FieldError("FieldValueTypeInvalid", f"Invalid value: {go_value(value)}: {detail}", field)


def required(field: str, detail: str = "") -> FieldError:
    """A value is missing."""
    return FieldError("FieldValueRequired", f"Required value: {detail}" if detail else "Required value", field)


def forbidden(field: str, detail: str) -> FieldError:
    """The value would be accepted under other conditions."""
    return FieldError("FieldValueForbidden", f"Forbidden: {detail}", field)


def duplicate(field: str, value: object) -> FieldError:
    """The value must be unique and is not."""
    return FieldError("FieldValueDuplicate", f"Duplicate value: {go_value(value)}", field)


def not_supported(field: str, value: object, supported: Iterable[object]) -> FieldError:
    """The value is none of those that the field knows."""
    names = ", ".join(quote(v if isinstance(v, str) else go_value(v)) for v in supported)
    detail = f": supported values: {names}" if names else ""
    return FieldError("FieldValueNotSupported", f"Unsupported value: {go_value(value)}{detail}", field)


def too_long(field: str, limit: int) -> FieldError:
    """The string is longer than `limit`; the server says bytes even where it counts characters."""
    return FieldError("FieldValueTooLong", f"Too long: may not be more than {limit} {'byte' if limit == 1 else 'bytes'}", field)


def too_many(field: str, actual: int, limit: int) -> FieldError:
    """The list or map has more than `limit` entries."""
    return FieldError("FieldValueTooMany", f"Too many: {actual}: must have at most {limit} {'item' if limit == 1 else 'items'}", field)
