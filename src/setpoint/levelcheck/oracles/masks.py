"""`Masks`: fields that are not compared, each for a reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

_BRACKETS = re.compile(r'\["?([^"\]]*)"?\]')
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NAMING = ("name", "type", "key", "uid", "ip", "port", "containerPort")


class Mask(msgspec.Struct, frozen=True, order=True):
    """A field of a resource that is not compared, or of `outside`; all below it is not, either."""

    resource: str
    field: str
    reason: str


class Masks(msgspec.Struct, frozen=True):
    """What is not compared."""

    fields: tuple[Mask, ...] = ()

    def of(self, resource: str) -> tuple[str, ...]:
        """The masked fields of a resource."""
        return tuple(mask.field for mask in self.fields if mask.resource == resource) if self.fields else ()

    def cover(self, resource: str, field: str) -> bool:
        """Whether a field, or one above it, is masked."""
        return any(covers(mask, field) for mask in self.of(resource))

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each."""
        return tuple(f"{mask.resource} {mask.field} is not compared: {mask.reason}" for mask in self.fields)


NO_MASKS = Masks()


def covers(beginning: str, field: str) -> bool:
    """Whether a path is `field` or one above it. `.data["tls.crt"]` may be written `.data.tls.crt`, too; empty is all."""
    above, below = _plain(beginning), _plain(field)
    return not above or below == above or below.startswith(f"{above}.")


def at(path: str, key: str) -> str:
    """The path of a map's entry."""
    return f"{path}.{key}" if _PLAIN.fullmatch(key) else f'{path}["{key}"]'


def items(path: str, listed: Sequence[Any]) -> dict[str, Any]:
    """A list's items by their paths: by what names them where something does (`.conditions[Ready]`), else by place."""
    for naming in _NAMING:
        if all(isinstance(item, dict) and isinstance(item.get(naming), (str, int)) for item in listed):
            found = {f"{path}[{item[naming]}]": item for item in listed}
            if len(found) == len(listed):
                return found
    return {f"{path}[{place}]": item for place, item in enumerate(listed)}


def blanked(value: Any, masked: Sequence[str], path: str = "") -> Any:
    """The value without what is masked."""
    if isinstance(value, dict):
        return {key: blanked(each, masked, here) for key, each in value.items() if not _hit(here := at(path, key), masked)}
    if isinstance(value, list):
        return [blanked(each, masked, here) for here, each in items(path, value).items() if not _hit(here, masked)]
    return value


def _hit(path: str, masked: Sequence[str]) -> bool:
    return any(covers(mask, path) for mask in masked)


def _plain(path: str) -> str:
    return _BRACKETS.sub(r".\1", path).rstrip(".")
