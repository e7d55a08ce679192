"""`Struct`, the base of everything on the wire: it states what it holds, and nothing else.

Kubernetes tells three things apart that most JSON libraries do not: a field that is not there, one that is there with a zero value
(``replicas: 0``), and one that is there and empty (``emptyDir: {}``). With server-side apply the difference decides who owns the field.
Therefore a default here is never what decides whether a field is sent, except for four values that mean "not stated":

=====================================  ==========================  =====================================
in the class                           sent                        read, when the wire has none
=====================================  ==========================  =====================================
``x: T`` (required)                    always; not if ``OMIT``     an error
``x: T | None = None``                 unless ``None``             ``None``
``x: list[T] = []``, ``dict`` as well  unless empty                empty
``x: T = absent(T)``, T a struct       once assigned               read-only, falsy, reads as empty
``x: int = 1`` (any other value)       always; not if ``OMIT``     ``1``
``x: T | None | UnsetType = UNSET``    unless ``UNSET``; null too  ``UNSET``, and ``None`` for null
=====================================  ==========================  =====================================
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, StructMeta, UnsetType, field
from typing_extensions import dataclass_transform

from .absent import absent, is_absent
from .class_body import annotations_in, is_class_variable, names_on_the_wire, pin_type_arguments, stated
from .naming import api_name

__all__ = ["OMIT", "UNSET", "SetpointMeta", "Struct", "UnsetType", "absent", "field", "is_absent"]

OMIT: Any = UNSET
"""States nothing for a field that the class requires, or whose default would be sent: for a partial apply."""


class SetpointMeta(StructMeta):
    """Makes a msgspec struct out of a class body, by the table in this module's docstring."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **config: Any) -> Any:
        # `kw_only` is not inherited by msgspec, so it is set for each class.
        config.setdefault("kw_only", True)
        annotations = annotations_in(namespace)
        pin_type_arguments(namespace, annotations)
        fields = [attribute for attribute, hint in annotations.items() if not is_class_variable(hint)]
        for attribute in fields:
            if attribute in namespace:
                namespace[attribute] = stated(namespace[attribute])
        if names := names_on_the_wire(annotations, fields, namespace):
            config.setdefault("rename", lambda attribute: names.get(attribute) or api_name(attribute))
        cls = super().__new__(mcls, name, bases, namespace, **config)
        for attribute in fields:
            default: Any = namespace.get(attribute)
            if is_absent(default):
                type(default).__absent_from__[attribute] = None
        return cls


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Struct(msgspec.Struct, metaclass=SetpointMeta, rename=api_name, omit_defaults=True, repr_omit_defaults=True):
    """Base of everything on the wire: keyword-only, snake_case here, the API's own spelling there; see the module for what is sent."""
