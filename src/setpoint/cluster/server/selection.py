"""Which objects a list or a watch is about: a namespace, labels and fields, decided by what storage knows, and seldom by decoding."""

from __future__ import annotations

from dataclasses import dataclass

from setpoint.api import LabelSelector
from setpoint.api.selectors import FieldRequirement
from setpoint.cluster.server.encoding import decode
from setpoint.cluster.server.storage import Record
from setpoint.objects.selectable import field_text

EVERYTHING = LabelSelector()


@dataclass(frozen=True, slots=True)
class Selection:
    """`prefix` is the namespace with its slash, or empty."""

    prefix: str = ""
    labels: LabelSelector = EVERYTHING
    fields: tuple[FieldRequirement, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether every object belongs to it."""
        return not (self.prefix or self.labels or self.fields)

    def matches(self, record: Record) -> bool:
        """Whether the object, as it is in this record, belongs to the selection."""
        if self.prefix and not record.key.startswith(self.prefix):
            return False
        if self.labels.requirements and not self.labels.matches(record.head.labels):
            return False
        return not self.fields or all((_field(record, wanted.path) == wanted.value) is wanted.equal for wanted in self.fields)


def _field(record: Record, path: str) -> str:
    if path == "metadata.name":
        return record.key.rpartition("/")[2]
    if path == "metadata.namespace":
        return record.key.rpartition("/")[0]
    found = record.head.fields.get(path)
    # What was stored before its definition called the field selectable does not have it in its head.
    return field_text(decode(record.value), path) if found is None else found
