"""Objects: what state looks like, on the wire and in Python."""

from .codec import DecodeError, decode, decode_head, decode_meta, encode, from_builtins, to_builtins
from .head import Head, Meta
from .kind_info import Column, KindInfo, Scale, kind_of
from .metadata import ListMeta, ManagedFieldsEntry, Object, ObjectMeta, OwnerReference
from .naming import api_name, python_name
from .quantity import IntOrString, Quantity
from .request import Request
from .resource import Condition, Resource, kind
from .schema_field import Field, Rule
from .scheme import Scheme, SchemeConflict
from .struct import OMIT, UNSET, Struct, UnsetType, absent, field, is_absent
from .times import MicroTime, format_time, whole_seconds
from .untyped import Untyped

__all__ = [
    "OMIT",
    "UNSET",
    "Column",
    "Condition",
    "DecodeError",
    "Field",
    "Head",
    "IntOrString",
    "KindInfo",
    "ListMeta",
    "ManagedFieldsEntry",
    "Meta",
    "MicroTime",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Quantity",
    "Request",
    "Resource",
    "Rule",
    "Scale",
    "Scheme",
    "SchemeConflict",
    "Struct",
    "UnsetType",
    "Untyped",
    "absent",
    "api_name",
    "decode",
    "decode_head",
    "decode_meta",
    "encode",
    "field",
    "format_time",
    "from_builtins",
    "is_absent",
    "kind",
    "kind_of",
    "python_name",
    "to_builtins",
    "whole_seconds",
]
