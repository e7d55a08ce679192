"""`Owns`: an owned kind of which not everything is to be held: `Controller(WebApp, owns=[Service, Owns(Secret, labels="app=web")])`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from setpoint.api import LabelSelector, SelectorError, parse_fields
from setpoint.objects import Object, kind_of

Labels: TypeAlias = str | Mapping[str, str] | None


class Owns:
    """A kind whose objects trigger the one that controls them, and which of its objects: the server is asked for no others.

    With `metadata_only` nothing but their metadata is asked for and held. Reads of the kind go to the server then.

    Raises `ValueError` for what is no selector.
    """

    __slots__ = ("fields", "kind", "labels", "metadata_only")

    def __init__(self, kind: type[Object], /, *, labels: Labels = None, fields: str = "", metadata_only: bool = False) -> None:
        kind_of(kind)
        self.kind: type[Object] = kind
        self.labels: LabelSelector = label_selector(labels, f"Owns({kind.__name__})")
        self.fields: str = field_selector(fields, f"Owns({kind.__name__})")
        self.metadata_only: bool = metadata_only


def owned_kinds(owns: Iterable[type[Object] | Owns], who: str) -> tuple[Owns, ...]:
    """What `owns=` names, each as an `Owns`. Raises `TypeError`, naming who gave it, for a kind that stands outside a list."""
    if isinstance(owns, type | Owns):
        kind = owns if isinstance(owns, type) else owns.kind
        raise TypeError(f"{who}: owns takes a list of kinds: owns=[{kind.__name__}]")
    return tuple(owned if isinstance(owned, Owns) else Owns(owned) for owned in owns)


def label_selector(labels: Labels, who: str) -> LabelSelector:
    """The selector. Raises `ValueError`, naming who gave it."""
    try:
        return LabelSelector.parse(labels)
    except SelectorError as error:
        raise ValueError(f"{who}: labels={labels!r} is no label selector: {error}") from error


def field_selector(fields: str, who: str) -> str:
    """The selector, as it came. Raises `ValueError`, naming who gave it."""
    try:
        parse_fields(fields)
    except (SelectorError, TypeError) as error:
        raise ValueError(f"{who}: fields={fields!r} is no field selector such as spec.nodeName=worker-1: {error}") from error
    return fields
