"""The entries of `metadata.managedFields`: who owns what since when, read from and written to their wire form."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec

from setpoint.cluster.server.remembering import remembering

from .fieldset import FieldSet

__all__ = ["Entries", "Entry", "Manager", "decode", "encode", "encode_all"]

Operation = Literal["Apply", "Update"]


class Manager(NamedTuple):
    """Who owns fields. One applier is the same in all versions, so its ``api_version`` is left empty here; an updater has one entry
    each."""

    name: str
    operation: Operation
    api_version: str
    subresource: str

    @classmethod
    def of(cls, name: str, operation: Operation, api_version: str, subresource: str) -> "Manager":
        return cls(name or "unknown", operation, "" if operation == "Apply" else api_version, subresource)

    @property
    def identity(self) -> str:
        """The text by which managers are sorted."""
        parts = {"manager": self.name, "operation": self.operation, "apiVersion": self.api_version, "subresource": self.subresource}
        return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False, separators=(",", ":"))

    def __str__(self) -> str:
        text = _quoted(self.name)
        if self.subresource:
            text += f" with subresource {_quoted(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One manager's part. ``wire`` is its fieldsV1 if they were read as they would be written, so that nobody writes them anew."""

    api_version: str
    fields: FieldSet
    time: str | None
    wire: dict[str, Any] | None = None

    def owning(self, fields: FieldSet) -> "Entry":
        return self if fields is self.fields else replace(self, fields=fields, wire=None)


Entries = dict[Manager, Entry]


def decode(managed: Any) -> Entries:
    """Raises ValueError if the list is not what managedFields may be."""
    entries: Entries = {}
    if not isinstance(managed, list):
        raise ValueError("managedFields must be a list")
    for position, entry in enumerate(managed):
        if not isinstance(entry, Mapping):
            raise ValueError(f"managed fields entry {position} is not an object")
        operation = entry.get("operation")
        if operation not in ("Apply", "Update"):
            raise ValueError("operation must be `Apply` or `Update`")
        api_version = entry.get("apiVersion")
        if not api_version or not isinstance(api_version, str):
            raise ValueError("apiVersion must not be empty")
        fields_type = entry.get("fieldsType")
        if fields_type != "FieldsV1":
            raise ValueError(
                f"invalid fieldsType {_quoted(str(fields_type))} in managed fields entry {position}"
                if fields_type
                else f"missing fieldsType in managed fields entry {position}"
            )
        wire = entry.get("fieldsV1") or {}
        if not isinstance(wire, dict):
            raise ValueError(f"fieldsV1 of managed fields entry {position} is not an object")
        # An entry without manager keeps its empty name: only requests without one are put down to "unknown".
        manager = Manager(
            entry.get("manager") or "", operation, "" if operation == "Apply" else api_version, entry.get("subresource") or ""
        )
        fields, plain = _fields(_written(wire))
        entries[manager] = Entry(api_version, fields, _time(entry.get("time")), wire if plain else None)
    return entries


_written = msgspec.json.Encoder().encode


@remembering(1024)
def _fields(wire: bytes) -> tuple[FieldSet, bool]:
    """What fieldsV1 say, and whether that is how it is written: clients may say it otherwise.

    Many objects, and one object many times, have the same owners of the same fields.
    """
    said = msgspec.json.decode(wire)
    fields = FieldSet.from_wire(said)
    return fields, bool(fields.to_wire() == said)


def encode(entries: Entries) -> list[dict[str, Any]]:
    """The wire form, in the order of the real server."""
    return encode_all(entries.items())


def encode_all(entries: Iterable[tuple[Manager, Entry]]) -> list[dict[str, Any]]:
    """The same for entries of which several may be one manager's."""

    def order(item: tuple[Manager, Entry]) -> tuple[str, ...]:
        manager, entry = item
        return (manager.operation, entry.time or "", manager.name, entry.api_version, manager.subresource)

    encoded = []
    for manager, entry in sorted(entries, key=order):
        wire: dict[str, Any] = {"manager": manager.name} if manager.name else {}
        wire["operation"] = manager.operation
        wire["apiVersion"] = entry.api_version
        if entry.time is not None:
            wire["time"] = entry.time
        wire["fieldsType"] = "FieldsV1"
        wire["fieldsV1"] = entry.fields.to_wire() if entry.wire is None else entry.wire
        if manager.subresource:
            wire["subresource"] = manager.subresource
        encoded.append(wire)
    return encoded


def _time(text: Any) -> str | None:
    """A time as metav1.Time writes it: UTC, whole seconds. Raises ValueError if it is not one."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise ValueError("a time is a string")
    if len(text) == 20 and text[10] == "T" and text[19] == "Z":
        return text
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
