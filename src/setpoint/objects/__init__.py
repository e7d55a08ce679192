"""Objects: what state looks like, on the wire and in Python."""

from .kind_info import Column, KindInfo, Scale, kind_of
from .metadata import ListMeta, ManagedFieldsEntry, Object, ObjectMeta, OwnerReference
from .naming import api_name, python_name
from .request import Request
from .resource import Condition, Resource, kind
from .schema_field import Field, Rule
from .struct import OMIT, UNSET, Struct, UnsetType, absent, field, is_absent

__all__ = [
    "OMIT",
    "UNSET",
    "Column",
    "Condition",
    "Field",
    "KindInfo",
    "ListMeta",
    "ManagedFieldsEntry",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Request",
    "Resource",
    "Rule",
    "Scale",
    "Struct",
    "UnsetType",
    "absent",
    "api_name",
    "field",
    "is_absent",
    "kind",
    "kind_of",
    "python_name",
]
