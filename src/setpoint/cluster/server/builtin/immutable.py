"""Fields that may not change once they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from setpoint.cluster.server.schema.causes import FieldError
from setpoint.cluster.server.schema.gotext import go_value

from .equality import same

Json = Mapping[str, Any]

IMMUTABLE = "field is immutable"


def changed(at: str, shown: str) -> FieldError:
    """The refusal of a change of what stands at the path ``at``; ``shown`` is the new value as Go prints it."""
    return FieldError("FieldValueInvalid", f"Invalid value: {shown}: {IMMUTABLE}", at)


def unchanged(
    new: Json, old: Json, fields: Iterable[str], at: str = "spec", shown: Mapping[str, Callable[[Any], str]] | None = None
) -> Iterator[FieldError]:
    """These fields of what stands at the path ``at`` say what they said. ``shown`` prints those that Go prints in a way of their own."""
    for name in fields:
        if not same(new.get(name), old.get(name)):
            write = (shown or {}).get(name, go_value)
            yield changed(f"{at}.{name}" if at else name, write(new.get(name)))
