"""Objects: what state looks like, on the wire and in Python.

Everything on the wire derives from `Struct`, which states what it holds and nothing else: zero, empty and "not there" are three
things, and server-side apply tells them apart. `Resource` and `@kind` declare a kind of the API from two Structs; the declaration is
all there is, since a `Scheme` (one for each manager or client) says which kinds are known.

Objects are read from bytes and written to bytes by `decode` and `encode`. Reading is lenient, writing exact. Where only the key, the
version or the labels matter, `decode_head` and `decode_meta` read just those. A kind without a class is an `Untyped`: its JSON, as
a mapping.

What is written is a `difference`: between what a class reads from the server's bytes and what the object holds now. So a class that
knows half of the fields never loses the other half.

From the same classes come the schema (`schema_of`) and the CustomResourceDefinition (`crd`) that the API server judges by.
"""

from .codec import DecodeError, decode, decode_head, decode_meta, encode, from_builtins, to_builtins
from .conditions import HasConditions, get_condition, set_condition
from .crd import crd, version_priority
from .difference import Difference, Part, adopt, difference
from .duration import Duration
from .head import Head, Meta
from .indexes import Index, IndexKey
from .kind_info import Column, KindInfo, Scale, kind_of
from .metadata import ListMeta, ManagedFieldsEntry, Object, ObjectMeta, OwnerReference
from .naming import api_name, python_name
from .quantity import IntOrString, Quantity
from .request import Request
from .resource import Condition, Resource, kind
from .schema import SchemaError, schema_of
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
    "Difference",
    "Duration",
    "Field",
    "HasConditions",
    "Head",
    "Index",
    "IndexKey",
    "IntOrString",
    "KindInfo",
    "ListMeta",
    "ManagedFieldsEntry",
    "Meta",
    "MicroTime",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Part",
    "Quantity",
    "Request",
    "Resource",
    "Rule",
    "Scale",
    "SchemaError",
    "Scheme",
    "SchemeConflict",
    "Struct",
    "UnsetType",
    "Untyped",
    "absent",
    "adopt",
    "api_name",
    "crd",
    "decode",
    "decode_head",
    "decode_meta",
    "difference",
    "encode",
    "field",
    "format_time",
    "from_builtins",
    "get_condition",
    "is_absent",
    "kind",
    "kind_of",
    "python_name",
    "schema_of",
    "set_condition",
    "to_builtins",
    "version_priority",
    "whole_seconds",
]
