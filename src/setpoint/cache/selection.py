"""Which objects of a kind an informer holds: those of a namespace, with certain labels, with certain fields."""

from __future__ import annotations

import msgspec

from setpoint.api import LabelSelector, parse_fields
from setpoint.api.selectors import FieldRequirement
from setpoint.objects import Request
from setpoint.objects.codec import decode_meta
from setpoint.objects.selectable import field_text


class Selection(msgspec.Struct, frozen=True):
    """All three must hold; an empty one holds for every object."""

    namespace: str = ""
    labels: LabelSelector = LabelSelector()
    fields: tuple[FieldRequirement, ...] = ()

    @classmethod
    def parse(cls, *, labels: str = "", fields: str = "", namespace: str = "") -> Selection:
        """From the string forms that the API takes. Raises `SelectorError`."""
        return cls(namespace, LabelSelector.parse(labels), parse_fields(fields))

    @property
    def is_filtered(self) -> bool:
        """Whether an object may exist in the namespace and not be selected."""
        return bool(self.labels) or bool(self.fields)

    def options(self) -> dict[str, str]:
        """The query parameters that ask the server for it."""
        options = {}
        if self.labels:
            options["labelSelector"] = str(self.labels)
        if self.fields:
            options["fieldSelector"] = self.field_selector
        return options

    @property
    def field_selector(self) -> str:
        """The fields, as the API takes them."""
        return ",".join(f"{f.path}{'=' if f.equal else '!='}{_escaped(f.value)}" for f in self.fields)

    def selects(self, key: Request, data: bytes) -> bool:
        """Whether it selects this object, as the server would say."""
        if self.namespace and key.namespace != self.namespace:
            return False
        if self.labels and not self.labels.matches(decode_meta(data).labels):
            return False
        if not self.fields:
            return True
        content = msgspec.json.decode(data)
        return all((field_text(content, field.path) == field.value) == field.equal for field in self.fields)

    def covers(self, *, namespace: str | None, labels: LabelSelector, name: str = "") -> bool:
        """Whether everything that a read in that namespace (None: in all) with those labels may find is selected by this.

        `name` is that of the one object that is read. What fields hold of an object is not known before it is read, but for those two.
        """
        if self.namespace and namespace != self.namespace:
            return False
        known = {"metadata.name": name, "metadata.namespace": namespace}
        for field in self.fields:
            value = known.get(field.path)
            if not value or (value == field.value) != field.equal:
                return False
        return all(requirement in labels.requirements for requirement in self.labels.requirements)

    def __str__(self) -> str:
        parts = [f"namespace {self.namespace}" if self.namespace else "", *(f"{k}={v}" for k, v in self.options().items())]
        return ", ".join(part for part in parts if part)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
